/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/sampled_process.h"

#include "bpf/shared/frames.h"
#include "process/process_set.h"

#include <string.h>

static int add_kernel_thread(const struct locator *locator, const struct sample_event *event,
			     uint32_t *ret_process)
{
	struct builder *builder = locator->window->builder;
	struct profile_process process = { 0 };
	char name[TASK_COMM_LEN + 1] = { 0 };

	memcpy(name, event->process_comm, TASK_COMM_LEN);
	name[strcspn(name, "/")] = '\0';
	int r = builder_add_string(builder, name, &process.name);
	return r < 0 ? r : builder_add_process(builder, &process, ret_process);
}

/* A stack without user frames does not look its process up, but another sample or an event may have
 * added it. Events do not say when it started. */
static struct process *process_of(const struct locator *locator, const struct sample_event *event)
{
	struct process *process = locator->process;

	if (!process)
		process = process_table_find(locator->processes, event->pid);
	if (process && process->start_ns != 0 && event->start_ns != 0 &&
	    process->start_ns != event->start_ns)
		return NULL;
	return process;
}

static const char *name_in(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* `path` is "" where the program is not known. */
static int add_process(const struct locator *locator, const struct sample_event *event,
		       const char *path, uint32_t *ret_process)
{
	struct builder *builder = locator->window->builder;
	struct profile_process row = { .start_ns = event->start_ns, .pid = event->pid };

	int r = builder_add_string(builder, path[0] == '/' ? path : "", &row.path);
	if (r == 0)
		r = builder_add_string(builder, name_in(path), &row.name);
	return r < 0 ? r : builder_add_process(builder, &row, ret_process);
}

_Static_assert(PROFILE_NR_TYPES <= PROCESS_NR_WINDOWS, "each type has its windows");

/* Finds the window's row for a process, or adds it; asks for the program once per window. */
static int find_process(const struct locator *locator, const struct sample_event *event,
			struct process *process, uint32_t *ret_process)
{
	const struct window *window = locator->window;
	enum profile_type type = builder_peek(window->builder)->type;
	struct process_number *known = &process->numbers[type];

	if (known->window_ns != window->start_ns) {
		const char *path = process_table_get_program(locator->processes, process);

		int r = add_process(locator, event, path, &known->number);
		if (r < 0)
			return r;
		known->window_ns = window->start_ns;
	}
	*ret_process = known->number;
	return 0;
}

static int add_comms(struct builder *builder, const struct sample_event *event,
		     struct profile_sample *sample)
{
	char comm[TASK_COMM_LEN + 1] = { 0 };

	memcpy(comm, event->process_comm, TASK_COMM_LEN);
	int r = builder_add_string(builder, comm, &sample->process_comm);
	if (r < 0)
		return r;
	memcpy(comm, event->thread_comm, TASK_COMM_LEN);
	return builder_add_string(builder, comm, &sample->thread_comm);
}

static int add(const struct locator *locator, const struct sample_event *event,
	       uint32_t *ret_process)
{
	struct window *window = locator->window;
	int r;

	if (event->unwind_result == UNWIND_KERNEL_THREAD)
		return add_kernel_thread(locator, event, ret_process);
	struct process *process = process_of(locator, event);
	if (process)
		r = find_process(locator, event, process, ret_process);
	else
		r = add_process(locator, event, "", ret_process);
	if (r < 0)
		return r;
	builder_see_process(window->builder, *ret_process, event->time_ns + window->suspended_ns);
	return 0;
}

int sampled_process_add(const struct locator *locator, const struct sample_event *event,
			struct profile_sample *sample)
{
	int r = add(locator, event, &sample->process);

	return r < 0 ? r : add_comms(locator->window->builder, event, sample);
}
