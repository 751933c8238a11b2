/* SPDX-License-Identifier: Apache-2.0 */
/* A dump of a process for people and for scripts: the stacks of its threads at one time. */
#ifndef DUMP_DUMP_H
#define DUMP_DUMP_H

#include "base/err.h"
#include "base/strbuf.h"
#include "dump/thread_list.h"
#include "profile/profile.h"

#include <stddef.h>
#include <stdint.h>

struct dump {
	uint32_t pid;
	const char *command_line; /* borrowed; arguments with blanks between them */
	const struct thread_list *threads; /* borrowed */
	const struct profile *profile; /* borrowed; has a sample of each thread that stopped */
	uint64_t stopped_ns; /* how long the process was stopped; 0: it is a thread of the kernel */
};

/* Appends text in the form that jstack and py-spy dump have: innermost frames first. Threads that
 * are at the same place are shown together. Errors: -ENOMEM, -ENOSPC, kept in `out` as well. */
int dump_append_text(const struct dump *dump, struct strbuf *out) must_check;

/* Appends a JSON object, which docs/usage.md describes. Errors: as above. */
int dump_append_json(const struct dump *dump, struct strbuf *out) must_check;

/* For both of them: the sample of a thread, or NULL. */
const struct profile_sample *dump_find_sample(const struct dump *dump, uint32_t tid);

/* Returns the functions of the kernel that a thread is in, each with a newline, innermost first;
 * "" if it is running or nothing is known. */
const char *dump_kernel_stack(const struct thread_info *thread);

#endif
