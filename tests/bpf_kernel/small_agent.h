/* SPDX-License-Identifier: Apache-2.0 */
/* The part of the agent that unwinds stacks, and nothing else: samples and the side band's
 * events are merged in the order of time, and bring the process table, the binder and the
 * unwinder to work. */
#ifndef TESTS_BPF_KERNEL_SMALL_AGENT_H
#define TESTS_BPF_KERNEL_SMALL_AGENT_H

#include "capture/sample_source.h"
#include "capture/sideband/sideband.h"
#include "pipeline/binder.h"
#include "process/process_table.h"
#include "unwind/unwind_tables.h"

#include <stdbool.h>
#include <stdint.h>

/* Handles a sample of `process`. Returns whether that was enough. */
typedef bool (*small_agent_handler)(const struct sample_event *event, struct process *process,
				    void *data);

struct small_agent {
	struct sample_source *source;
	struct sideband *sideband;
	struct process_table *processes;
	struct unwind_tables *tables;
	struct binder binder;
	int proc_fd;
	small_agent_handler handle; /* of the present run */
	/* Takes the copies of code objects; NULL: nobody does. */
	void (*take_copy)(const struct code_copy *copy, void *data);
	void *data;
	bool is_enough;
};

/* Samples a process and its children. Every failure is an assertion's. */
void small_agent_start(struct small_agent *agent, uint32_t pid);
void small_agent_stop(struct small_agent *agent);

/* Samples until the handler has enough; false when that takes too long. */
bool small_agent_run(struct small_agent *agent, small_agent_handler handle, void *data);

/* The process that has the pid, looked up as one that is sampled. */
struct process *small_agent_process(struct small_agent *agent, uint32_t pid);

#endif
