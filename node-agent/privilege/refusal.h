/* SPDX-License-Identifier: Apache-2.0 */
/* Explains why the kernel does not let us sample, and what the user can do about it. The kernel
 * reports "not permitted" alike for a lack of capabilities, a sysctl, a seccomp filter and a
 * security module. The most likely one is named, by what the process can find out about itself. */
#ifndef PRIVILEGE_REFUSAL_H
#define PRIVILEGE_REFUSAL_H

#include "base/strbuf.h"

#include <stdbool.h>
#include <stdint.h>

struct refusal {
	int error; /* negative errno of the system call */
	uint64_t capabilities; /* in force */
	int paranoid; /* kernel.perf_event_paranoid; -1: unknown */
	bool is_filtered; /* by seccomp */
};

/* Reads the situation from `proc_dir` ("/proc") and this thread's capabilities. */
struct refusal refusal_of(const char *proc_dir, int error);

struct refusal_words {
	const char *cause; /* NULL: the error alone says it */
	const char *remedy;
};

/* Explain failures of perf_event_open(2) and of bpf(2). */
struct refusal_words refusal_explain_perf(const struct refusal *refusal);
struct refusal_words refusal_explain_bpf(const struct refusal *refusal);

/* Appends one line about this process: the error of perf_event_open(2), its cause, and what to
 * do. */
void refusal_append_perf(int error, struct strbuf *message);

/* Replaces `message` if the BPF programs could not be loaded for lack of permission or of BPF: says
 * so, why, and what to do. */
void refusal_explain_load(int error, struct strbuf *message);

#endif
