/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles as folded text: a line a distinct stack, root first, and its count.
 *
 *	nginx;main;ngx_worker_process_cycle;epoll_wait;do_syscall_64_[k] 42
 *
 * The first frame is the name of the process; kernel frames end in _[k]. Lines are sorted. */
#ifndef PROFILE_FOLDED_H
#define PROFILE_FOLDED_H

#include "base/err.h"
#include "base/strbuf.h"
#include "profile/profile.h"

/* Errors: -ENOSPC, -ENOMEM, kept in `out` as well. */
int folded_encode(const struct profile *profile, struct strbuf *out) must_check;

#endif
