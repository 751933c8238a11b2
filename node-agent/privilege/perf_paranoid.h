/* SPDX-License-Identifier: Apache-2.0 */
/* kernel.perf_event_paranoid. Debian's and Ubuntu's kernels know 3 and 4, with which CAP_PERFMON does not suffice to
 * sample; with 2, the default of other kernels, it does. Writing the file needs no capability: it belongs to the
 * host's user 0. */
#ifndef PRIVILEGE_PERF_PARANOID_H
#define PRIVILEGE_PERF_PARANOID_H

#include "base/err.h"
#include "base/strbuf.h"

#define PERF_PARANOID_ALLOWED 2 /* what upstream kernels know; Debian and Ubuntu add 3 and 4 */

/* Writes PERF_PARANOID_ALLOWED where the file has a higher number; a lower one stays. On failure `reterr_msg` says
 * what to do. Errors: -EBADMSG when there is no such number in it, -EINVAL when it is no regular file, -EIO when it
 * has another one after the writing, what open(2), read(2) and write(2) say. */
int perf_paranoid_allow(const char *path, int *ret_before, struct strbuf *reterr_msg) must_check;

#endif
