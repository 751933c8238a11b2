/* SPDX-License-Identifier: Apache-2.0 */
/* What GPUs did, from the recorder to a timeline. Of 20 seconds, five without a reading. */
#include "base/clock.h"
#include "record_fixture.h"
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#define MESSAGE_BYTES 4096
#define NR_SECONDS 20
#define STEP_S 5
#define GAP_STEP 2 /* nothing was read in it */
#define CGROUP 4711
#define CGROUP_NAME "4711"
#define GIBIBYTE (UINT64_C(1) << 30)

static struct record record;
static struct store_timeline timeline;

/* The second GPU is lost in the last second of each step. */
static void add_gpus(struct recorder *recorder, unsigned int i)
{
	struct gpu_second *second = calloc(1, sizeof(*second));

	assert_non_null(second);
	second->reading = calloc(1, sizeof(*second->reading));
	assert_non_null(second->reading);
	second->second = RECORD_START + i;
	second->reading->nr_devices = 2;
	struct gpu_device *devices = second->reading->devices;
	devices[0].has = devices[1].has = GPU_HAS_UTILIZATION | GPU_HAS_MEMORY;
	devices[0].utilization = i % STEP_S * 10;
	devices[1].utilization = 100;
	devices[0].memory_used = devices[1].memory_used = GIBIBYTE;
	devices[0].memory_total = devices[1].memory_total = 16 * GIBIBYTE;
	if (i % STEP_S == STEP_S - 1)
		devices[1].has = 0;
	if (i < STEP_S) { /* the process ends then */
		second->nr_uses = 1;
		second->uses[0] = (struct gpu_use){ CGROUP, 150, 3 * GIBIBYTE };
	}
	recorder_add_gpus(recorder, second);
	gpu_second_free(second);
}

static void write_to(const struct record *to, bool has_gpus)
{
	_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(MESSAGE_BYTES);
	struct recorder *recorder = NULL;

	struct recorder_opts opts = record_opts(to);
	assert_int_equal(recorder_new(&opts, &message, &recorder), 0);
	for (unsigned int i = 0; i < NR_SECONDS; i++) {
		struct vitals vitals = { 0 };

		vitals_set(&vitals, VITAL_USER, NSEC_PER_SEC);
		recorder_add_vitals(recorder, RECORD_START + i, &vitals);
		if (has_gpus && i / STEP_S != GAP_STEP)
			add_gpus(recorder, i);
		record_add(recorder, RECORD_START + i, 1, 1);
	}
	recorder_close(recorder);
}

static int write_record(void **state)
{
	(void)state;
	record_make(&record);
	write_to(&record, true);
	return 0;
}

static int remove_record(void **state)
{
	(void)state;
	record_remove(&record);
	return 0;
}

static void read_steps(enum timeline_what what, const char *by)
{
	_cleanup_(strbuf_done) struct strbuf warnings = strbuf_with_max(MESSAGE_BYTES);
	_cleanup_(store_reader_done) struct store_reader reader = { 0 };
	_cleanup_(selector_done) struct selector selector = { 0 };
	const char *const dir = record.dir;
	const struct store_timeline_query query = {
		.range = { RECORD_START, RECORD_START + NR_SECONDS },
		.step_s = STEP_S,
		.what = what,
		.by = by,
		.selector = &selector,
	};

	assert_int_equal(store_reader_open(&dir, 1, &warnings, &reader), 0);
	assert_int_equal(store_timeline_read(&reader, &query, &warnings, &timeline), 0);
	assert_int_equal(timeline.nr_steps, NR_SECONDS / STEP_S);
}

/* Of a line, which is unknown in the gap. */
static void expect(size_t index, const char *name, const uint64_t values[NR_SECONDS / STEP_S])
{
	const struct timeline_line *line = &timeline.lines[index];

	assert_true(index < timeline.nr_lines);
	assert_string_equal(line->name, name);
	for (size_t step = 0; step < NR_SECONDS / STEP_S; step++) {
		assert_int_equal(line->is_known[step], step != GAP_STEP);
		assert_int_equal(line->values[step], values[step]);
		assert_int_equal(timeline.nr_seconds[step], STEP_S);
	}
}

static void each_gpu_has_the_mean_of_the_seconds_that_are_known(void **state)
{
	(void)state;
	read_steps(TIMELINE_GPUS, NULL);
	assert_int_equal(timeline.nr_lines, 2);
	expect(0, "0", (const uint64_t[]){ 20, 20, 0, 20 });
	expect(1, "1", (const uint64_t[]){ 100, 100, 0, 100 });
	store_timeline_done(&timeline);
}

static void memory_is_used_and_total(void **state)
{
	const uint64_t used[] = { GIBIBYTE, GIBIBYTE, 0, GIBIBYTE };
	const uint64_t total[] = { 16 * GIBIBYTE, 16 * GIBIBYTE, 0, 16 * GIBIBYTE };
	(void)state;

	read_steps(TIMELINE_GPU_MEMORY, NULL);
	assert_int_equal(timeline.nr_lines, 4);
	expect(0, "0 total", total);
	expect(1, "0 used", used);
	expect(2, "1 total", total);
	expect(3, "1 used", used);
	store_timeline_done(&timeline);
}

/* Where GPUs were read and the cgroup had none, it used 0 percent. */
static void a_cgroup_has_what_its_processes_use(void **state)
{
	(void)state;
	read_steps(TIMELINE_GPU_USE, "cgroup");
	assert_int_equal(timeline.nr_lines, 1);
	expect(0, CGROUP_NAME, (const uint64_t[]){ 150, 0, 0, 0 });
	store_timeline_done(&timeline);
	read_steps(TIMELINE_GPU_USE_MEMORY, "cgroup");
	expect(0, CGROUP_NAME, (const uint64_t[]){ 3 * GIBIBYTE, 0, 0, 0 });
	store_timeline_done(&timeline);
}

static void a_record_without_gpus_has_no_line(void **state)
{
	struct record other;
	(void)state;

	record_make(&other);
	write_to(&other, false);
	record_timeline(&other, TIMELINE_GPUS, NULL, &timeline);
	assert_int_equal(timeline.nr_lines, 0);
	store_timeline_done(&timeline);
	record_remove(&other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_gpu_has_the_mean_of_the_seconds_that_are_known),
		cmocka_unit_test(memory_is_used_and_total),
		cmocka_unit_test(a_cgroup_has_what_its_processes_use),
		cmocka_unit_test(a_record_without_gpus_has_no_line),
	};

	return cmocka_run_group_tests(tests, write_record, remove_record);
}
