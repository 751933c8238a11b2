/* SPDX-License-Identifier: Apache-2.0 */
/* Time in interrupts, from what the source tells to the profiles. */
#include "pipeline/pipeline.h"

#include "base/clock.h"
#include "base/log.h"
#include "bpf/shared/irq.h"
#include "capture/sample_source_ops.h"
#include "idle_capture.h"
#include "rows_worker_main.h"
#include "symbol_worker_main.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "unit.h"

#define MAX_TIMES 4
#define MAX_ROWS 8

struct row {
	char root[64], thread[TASK_COMM_LEN + 1], process[TASK_COMM_LEN + 1];
	uint32_t nr_frames, cpu, pid;
	uint64_t count;
};

struct fixture {
	int proc_fd;
	struct pod_index *pods;
	struct cgroup_fs *fs;
	struct idle_capture capture;
	struct sample_source_ops ops; /* of the source */
	struct pipeline *pipeline;
	/* By the symbolizer thread; read when it has ended. */
	struct row irq[MAX_ROWS], cpu[MAX_ROWS];
	size_t nr_irq, nr_cpu;
};

/* What the source tells next. */
static struct irq_time times[MAX_TIMES];
static size_t nr_times;

static void take_times(struct sample_source *source, irq_time_fn handle, void *data)
{
	(void)source;
	for (size_t i = 0; i < nr_times; i++)
		handle(&times[i], data);
	nr_times = 0;
}

static void copy(char *text, size_t size, const char *from)
{
	snprintf(text, size, "%s", from);
}

static void take_profile(struct profile *profile, void *data)
{
	struct fixture *fixture = data;
	bool is_of_cpu = profile->type == PROFILE_CPU;

	assert_true(is_of_cpu || profile->type == PROFILE_IRQ);
	for (size_t i = 0; i < profile->nr_samples; i++) {
		const struct profile_sample *sample = &profile->samples[i];
		const struct profile_stack *stack = &profile->stacks[sample->stack];
		struct row *row = is_of_cpu ? &fixture->cpu[fixture->nr_cpu++]
					    : &fixture->irq[fixture->nr_irq++];
		uint32_t root = profile->stack_locations[stack->first + stack->nr - 1];

		assert_true(fixture->nr_cpu < MAX_ROWS && fixture->nr_irq < MAX_ROWS);
		*row = (struct row){ .nr_frames = stack->nr,
				     .cpu = sample->cpu,
				     .pid = sample->pid,
				     .count = sample->count };
		copy(row->root, sizeof(row->root), profile_location_name(profile, root));
		copy(row->thread, sizeof(row->thread),
		     profile_string(profile, sample->thread_comm));
		copy(row->process, sizeof(row->process),
		     profile_string(profile, sample->process_comm));
	}
}

static int set_up(void **state)
{
	struct fixture *fixture = test_calloc(1, sizeof(*fixture));

	*state = fixture;
	fixture->proc_fd = -EBADF;
	nr_times = 0;
	if (cgroup_fs_open(NULL, &fixture->fs) < 0) {
		print_message("SKIP: no cgroup hierarchy is mounted\n");
		return 0;
	}
	assert_int_equal(pod_index_new(1, &fixture->pods), 0);
	log_set_level(LOG_LEVEL_ERROR);
	fixture->proc_fd = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	idle_capture_start(&fixture->capture);
	fixture->ops = *fixture->capture.source->ops;
	fixture->ops.take_irq_times = take_times;
	fixture->capture.source->ops = &fixture->ops;
	const struct pipeline_opts opts = {
		.proc_fd = fixture->proc_fd,
		.symbol_memory_max = (size_t)64 << 20,
		.demangle = DEMANGLE_SHORT,
		.debug_dir = "/nonexistent",
		.max_processes = 8,
		.tables = fixture->capture.tables,
		.source = fixture->capture.source,
		.selection = fixture->capture.selection,
		.period_ns = 10 * NSEC_PER_MSEC,
		.cpu = true,
		.interrupts = true,
		.identity = { .cgroup_fs = fixture->fs,
			      .pods = fixture->pods,
			      .node_name = "node-1",
			      .host_name = "host-1" },
		.sink = take_profile,
		.sink_data = fixture,
	};
	return pipeline_start(&opts, &fixture->pipeline);
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	if (fixture->pipeline)
		pipeline_give_up(fixture->pipeline, 0);
	pipeline_free(fixture->pipeline);
	if (fixture->fs)
		idle_capture_stop(&fixture->capture);
	pod_index_free(fixture->pods);
	cgroup_fs_close(fixture->fs);
	cleanup_closep(&fixture->proc_fd);
	test_free(fixture);
	return 0;
}

static void start(struct fixture *fixture)
{
	pipeline_start_interrupts(fixture->pipeline, clock_mono_ns());
}

static void tell(const struct irq_time *time)
{
	times[nr_times++] = *time;
}

static void sample(struct fixture *fixture, uint32_t cpu, uint32_t vector, uint64_t leaf)
{
	const struct sample_event event = {
		.kind = RECORD_INTERRUPT,
		.time_ns = clock_mono_ns(),
		.cpu = cpu,
		.sequence = vector,
		.nr_kernel = 2,
		.frames = { leaf, 0x2001 },
	};

	pipeline_add_interrupt(fixture->pipeline, &event);
}

static void finish(struct fixture *fixture)
{
	pipeline_close(fixture->pipeline);
	assert_true(pipeline_wait(fixture->pipeline, UINT64_MAX));
}

static uint64_t count_of(const struct row *rows, size_t nr, const char *root, uint32_t nr_frames)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < nr; i++)
		if (strcmp(rows[i].root, root) == 0 && rows[i].nr_frames == nr_frames)
			sum += rows[i].count;
	return sum;
}

static void stacks_of_a_cpu_and_kind_share_the_time_that_was_counted(void **state)
{
	struct fixture *fixture = *state;

	if (!fixture->fs)
		skip();
	start(fixture);
	sample(fixture, 0, SOFTIRQ_NET_RX, 0x1000);
	sample(fixture, 0, SOFTIRQ_NET_RX, 0x1100);
	sample(fixture, 0, SOFTIRQ_RCU, 0x1200);
	tell(&(struct irq_time){ .is_soft = true, .vector = SOFTIRQ_NET_RX, .ns = 1001 });
	tell(&(struct irq_time){ .is_soft = true, .cpu = 1, .vector = SOFTIRQ_NET_RX, .ns = 30 });
	finish(fixture);

	assert_int_equal(fixture->nr_irq, 3);
	assert_int_equal(count_of(fixture->irq, 3, "[softirq NET_RX]", 3), 1001);
	assert_int_equal(count_of(fixture->irq, 3, "[softirq NET_RX]", 1), 30);
	for (size_t i = 0; i < fixture->nr_irq; i++)
		assert_true(fixture->irq[i].count == 500 || fixture->irq[i].count == 501 ||
			    fixture->irq[i].count == 30);
}

static void cpu_time_in_interrupts_is_theirs(void **state)
{
	struct fixture *fixture = *state;

	if (!fixture->fs)
		skip();
	start(fixture);
	sample(fixture, 3, SOFTIRQ_TASKLET, 0x1000);
	sample(fixture, 3, UINT32_MAX, 0x1000);
	finish(fixture);

	assert_int_equal(fixture->nr_irq, 0);
	assert_int_equal(fixture->nr_cpu, 2);
	assert_string_equal(fixture->cpu[0].process, "[interrupts]");
	assert_string_equal(fixture->cpu[0].thread, "softirq TASKLET");
	assert_string_equal(fixture->cpu[0].root, "[softirq TASKLET]");
	assert_int_equal(fixture->cpu[0].cpu, 3);
	assert_int_equal(fixture->cpu[0].pid, 0);
	assert_string_equal(fixture->cpu[1].root, "[softirq unknown]");
}

static void hard_interrupts_are_named_by_their_device(void **state)
{
	struct fixture *fixture = *state;

	if (!fixture->fs)
		skip();
	start(fixture);
	tell(&(struct irq_time){ .handler = 0x1000, .ns = 5, .name = "eth0-rx-12-of-many" });
	tell(&(struct irq_time){ .ns = 7, .name = "local timer" });
	tell(&(struct irq_time){ .ns = 9 });
	finish(fixture);

	assert_int_equal(fixture->nr_irq, 3);
	assert_int_equal(count_of(fixture->irq, 3, "[hardirq eth0-rx-12-of-many]", 2), 5);
	assert_int_equal(count_of(fixture->irq, 3, "[hardirq local timer]", 1), 7);
	assert_int_equal(count_of(fixture->irq, 3, "[hardirq other]", 1), 9);
	assert_string_equal(fixture->irq[0].thread, "hardirq eth0-rx");
}

static void time_before_the_start_is_forgotten(void **state)
{
	struct fixture *fixture = *state;

	if (!fixture->fs)
		skip();
	tell(&(struct irq_time){ .is_soft = true, .vector = SOFTIRQ_HI, .ns = 1000 });
	start(fixture);
	tell(&(struct irq_time){ .is_soft = true, .vector = SOFTIRQ_HI, .ns = 20 });
	finish(fixture);

	assert_int_equal(fixture->nr_irq, 1);
	assert_int_equal(fixture->irq[0].count, 20);
}

int main(int argc, char **argv)
{
#define TEST(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(stacks_of_a_cpu_and_kind_share_the_time_that_was_counted),
		TEST(cpu_time_in_interrupts_is_theirs),
		TEST(hard_interrupts_are_named_by_their_device),
		TEST(time_before_the_start_is_forgotten),
	};

	if (is_rows_worker(argc, argv))
		return rows_worker_main();
	if (is_symbol_worker(argc, argv))
		return symbol_worker_main();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
