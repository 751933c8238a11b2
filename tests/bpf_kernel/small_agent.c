/* SPDX-License-Identifier: Apache-2.0 */
#include "small_agent.h"

#include "base/clock.h"
#include "process/process_set.h"
#include "tested_backend.h"

#include <fcntl.h>
#include <unistd.h>

#include "unit.h"

#define FREQUENCY_HZ 500
#define POLL_NS (50 * NSEC_PER_MSEC)
#define PATIENCE_NS (60 * NSEC_PER_SEC)
#define RING_BYTES ((size_t)256 << 10)
#define MAX_PROCESSES 4096
#define MAX_BYTES ((size_t)256 << 20)

static void apply_events(struct small_agent *agent, uint64_t until_ns)
{
	const struct proc_event *event;

	if (sideband_collected_until_ns(agent->sideband) < until_ns)
		sideband_collect(agent->sideband);
	while ((event = sideband_peek(agent->sideband)) && event->time_ns <= until_ns) {
		process_table_handle(agent->processes, event);
		binder_see_event(&agent->binder, event);
		sample_source_follow_process(agent->source, event);
		sideband_pop(agent->sideband);
	}
}

static void catch_up(uint64_t time_ns, void *data)
{
	apply_events(data, time_ns);
}

static void meet_process(const struct sample_event *event, uint64_t ip, void *data)
{
	struct small_agent *agent = data;
	struct process *process = process_table_get(agent->processes, event->pid, event->start_ns,
						    event->time_ns);

	assert_non_null(process);
	(void)process_find_mapping(agent->processes, process, ip, event->time_ns);
	binder_bind(&agent->binder, process, event->time_ns);
}

void small_agent_start(struct small_agent *agent, uint32_t pid)
{
	_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(4096);
	struct capture_opts opts = {
		.frequency_hz = FREQUENCY_HZ,
		.poll_interval_ns = POLL_NS,
		.pids = &pid,
		.nr_pids = 1,
		.follow_forks = true,
		.unwind_memory_max = MAX_BYTES,
	};
	struct cpu_set_bits restarted;

	*agent = (struct small_agent){ .proc_fd = open("/proc", O_RDONLY | O_CLOEXEC) };
	assert_true(agent->proc_fd >= 0);
	assert_int_equal(tested_backend_open(opts, &message, &agent->source), 0);
	assert_int_equal(sideband_open(RING_BYTES, &agent->sideband), 0);
	assert_int_equal(process_table_new(agent->proc_fd, MAX_PROCESSES, &agent->processes), 0);
	const struct unwind_tables_opts unwind_tables_opts = {
		.memory = sample_source_unwind_memory(agent->source),
		.max_bytes = MAX_BYTES,
	};
	assert_int_equal(unwind_tables_start(&unwind_tables_opts, &agent->tables), 0);
	binder_init(&agent->binder, agent->proc_fd, agent->processes, agent->tables);
	assert_int_equal(sample_source_follow_cpus(agent->source, &restarted), 0);
}

void small_agent_stop(struct small_agent *agent)
{
	process_table_free(agent->processes);
	binder_done(&agent->binder);
	unwind_tables_stop(agent->tables);
	sideband_close(agent->sideband);
	sample_source_close(agent->source);
	close(agent->proc_fd);
}

static void take_copy(const struct code_copy *copy, void *data)
{
	const struct small_agent *agent = data;

	if (agent->take_copy)
		agent->take_copy(copy, agent->data);
}

static void on_sample(const struct sample_event *event, void *data)
{
	struct small_agent *agent = data;

	struct process *process = process_table_get(agent->processes, event->pid, event->start_ns,
						    event->time_ns);
	assert_non_null(process);
	binder_see_sample(&agent->binder, event);
	if (!agent->is_enough)
		agent->is_enough = agent->handle(event, process, agent->data);
}

bool small_agent_run(struct small_agent *agent, small_agent_handler handle, void *data)
{
	const struct sample_consumer consumer = {
		.catch_up = catch_up,
		.meet_process = meet_process,
		.handle = on_sample,
		.take_copy = take_copy,
		.data = agent,
	};
	uint64_t deadline_ns = clock_mono_ns() + PATIENCE_NS;

	agent->handle = handle;
	agent->data = data;
	agent->is_enough = false;
	while (!agent->is_enough && clock_mono_ns() < deadline_ns) {
		uint64_t now_ns = clock_mono_ns();

		sample_source_wait(agent->source, now_ns + POLL_NS);
		now_ns = clock_mono_ns();
		sample_source_poll(agent->source, &consumer);
		apply_events(agent, now_ns);
		binder_flush(&agent->binder, now_ns);
	}
	return agent->is_enough;
}

struct process *small_agent_process(struct small_agent *agent, uint32_t pid)
{
	struct process *process = process_table_get(agent->processes, pid, 0, clock_mono_ns());

	assert_non_null(process);
	assert_non_null(process->mappings);
	return process;
}
