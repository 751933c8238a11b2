/* SPDX-License-Identifier: Apache-2.0 */
/* Why the kernel does not let us sample, and what the user can do about it. The kernel says "not permitted" to a lack of
 * capabilities, a sysctl, a seccomp filter and a security module alike; the likeliest of them is named, from what the
 * process can know of itself. */
#ifndef PRIVILEGE_REFUSAL_H
#define PRIVILEGE_REFUSAL_H

#include "base/strbuf.h"

#include <stdbool.h>
#include <stdint.h>

struct refusal {
	int error; /* negative errno of the system call */
	uint64_t capabilities; /* in force */
	int paranoid; /* kernel.perf_event_paranoid; -1: not known */
	bool is_filtered; /* by seccomp */
};

/* What is found below `proc_dir` ("/proc"), and of this thread's capabilities. */
struct refusal refusal_of(const char *proc_dir, int error);

struct refusal_words {
	const char *cause; /* NULL: the error says it all */
	const char *remedy;
};

struct refusal_words refusal_explain_perf(const struct refusal *refusal);
struct refusal_words refusal_explain_bpf(const struct refusal *refusal);

/* In one line, for this process: what perf_event_open(2) said, why, and what to do. */
void refusal_append_perf(int error, struct strbuf *message);

/* In place of what `message` says, where it was for lack of permission, or of BPF, that the programs could not be loaded. */
void refusal_explain_load(int error, struct strbuf *message);

#endif
