/* SPDX-License-Identifier: Apache-2.0 */
/* Lowers kernel.perf_event_paranoid. The kernels of Debian and Ubuntu know the values 3 and 4, with
 * which CAP_PERFMON does not suffice to sample; with 2, the default of other kernels, it does.
 * Writing the file needs no capability, since it belongs to user 0 of the host. */
#ifndef PRIVILEGE_PERF_PARANOID_H
#define PRIVILEGE_PERF_PARANOID_H

#include "base/err.h"
#include "base/strbuf.h"

#define PERF_PARANOID_ALLOWED 2 /* the highest value of upstream kernels */

/* Writes PERF_PARANOID_ALLOWED if the file has a higher number; a lower one stays. On failure
 * `reterr_msg` says what to do. Errors: -EBADMSG when the file does not have such a number, -EINVAL
 * when it is not a regular file, -EIO when it has another number after the write, and those of
 * open(2), read(2) and write(2). */
int perf_paranoid_allow(const char *path, int *ret_before, struct strbuf *reterr_msg) must_check;

#endif
