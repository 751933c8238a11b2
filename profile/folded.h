/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles as folded text: a line per distinct stack, root first, and its count.
 *
 *	nginx;main;ngx_worker_process_cycle;ngx_event_process_[i];epoll_wait;do_syscall_64_[k] 42
 *
 * The first frame is the name of the process, except in a grouped profile (view.h). Lines are
 * sorted. What a frame ends in says what its code is; flamegraph.pl gives the first three colours
 * of their own:
 *
 *	_[k]	kernel
 *	_[i]	inlined into the frame before it, whatever the language
 *	_[j]	from a JIT compiler
 *	_[g]	Go
 *	_[r]	Rust
 *		C, C++ and what is not known
 *
 * Names are printable (base/printable.h), and ";" in them is ":". */
#ifndef PROFILE_FOLDED_H
#define PROFILE_FOLDED_H

#include "base/err.h"
#include "base/strbuf.h"
#include "profile/flame_tree.h"
#include "profile/profile.h"

#include <stdbool.h>

/* Appends the name of a frame or process, with the mark of its kind. */
void folded_append_frame(struct strbuf *out, const char *name, enum flame_kind kind,
			 bool is_inlined);

/* Errors: -ENOSPC, -ENOMEM, kept in `out` as well. */
int folded_encode(const struct profile *profile, struct strbuf *out) must_check;

#endif
