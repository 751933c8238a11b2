/* SPDX-License-Identifier: Apache-2.0 */
/* The stacks of all threads of a process at one time. The process is met twice: first to learn its
 * code, whose unwind tables and runtimes are then read while it goes on, then for the stacks. Each
 * time its threads are stopped until all of them have (thread_sampler.h). */
#ifndef AGENT_THREAD_DUMP_H
#define AGENT_THREAD_DUMP_H

#include "agent/agent.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "dump/thread_list.h"

#include <stdint.h>

/* Threads that have not stopped after this time are left out. */
#define THREAD_DUMP_STOP_NS (UINT64_C(1) * 1000000000)

struct thread_dump {
	struct thread_list threads; /* owned; as they were before they were stopped */
	uint64_t stopped_ns; /* how long the process was stopped for its stacks */
};

/* Dumps a process. The agent was not started. The stacks are then in the profiles that the agent
 * makes: a sample for each thread that has stopped. On failure `reterr_msg` says what to do.
 * Errors: those of thread_sampler_begin(). */
int thread_dump_take(struct agent *agent, int proc_fd, uint32_t pid, struct strbuf *reterr_msg,
		     struct thread_dump *ret_dump) must_check;
void thread_dump_done(struct thread_dump *dump);

#endif
