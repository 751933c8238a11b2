/* SPDX-License-Identifier: Apache-2.0 */
/* Error handling: functions return 0 (or a count) on success and a negative errno on failure. The
 * same code means the same thing everywhere:
 *
 *	-EBADMSG	malformed input
 *	-ENOSPC		a budget of our own is used up
 *	-ESRCH		the process is gone
 *	-ENOENT		not found
 *	-EOPNOTSUPP	the kernel or the host lacks it
 *	-EAGAIN		not now, try later
 *	-ENOMEM		no memory
 *
 * Output parameters are named ret_…, come last and are untouched on failure. */
#ifndef BASE_ERR_H
#define BASE_ERR_H

#include <errno.h>

#define must_check __attribute__((warn_unused_result))
#define printf_like(fmt, first_arg) __attribute__((format(printf, fmt, first_arg)))

/* Number of elements of an array. */
#define array_len(array) (sizeof(array) / sizeof((array)[0]))

#endif
