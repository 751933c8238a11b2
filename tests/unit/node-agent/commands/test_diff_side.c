/* SPDX-License-Identifier: Apache-2.0 */
#include "commands/diff_side.h"

#include "commands/commands.h"
#include "record_fixture.h"
#include "unit.h"

#include "base/clock.h"

#include <string.h>

#define BUSY_SECONDS 10
#define IDLE_SECONDS 20
#define TEXT_BYTES 65536

/* A record of seconds with samples, and of seconds of which only the node's numbers are known. */
struct scene {
	struct record record;
	struct store_reader reader;
	struct strbuf messages;
	struct options options;
	struct diff_side side;
};

static void write_record(const struct record *record)
{
	_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(TEXT_BYTES);
	const struct recorder_opts opts = record_opts(record);
	struct recorder *recorder;
	struct vitals vitals = { 0 };

	vitals_set(&vitals, VITAL_IDLE, NSEC_PER_SEC);
	assert_int_equal(recorder_new(&opts, &message, &recorder), 0);
	record_add(recorder, RECORD_START, BUSY_SECONDS, 3);
	for (uint64_t second = RECORD_START + BUSY_SECONDS;
	     second < RECORD_START + BUSY_SECONDS + IDLE_SECONDS; second++) {
		recorder_add_vitals(recorder, second, &vitals);
		recorder_tick(recorder, second + 1);
	}
	recorder_close(recorder);
}

static int set_up(void **state)
{
	_cleanup_(strbuf_done) struct strbuf warnings = strbuf_with_max(TEXT_BYTES);
	struct scene *scene = test_calloc(1, sizeof(*scene));
	const char *const dir = scene->record.dir;

	record_make(&scene->record);
	write_record(&scene->record);
	assert_int_equal(store_reader_open(&dir, 1, &warnings, &scene->reader), 0);
	scene->messages = strbuf_with_max(TEXT_BYTES);
	scene->side = (struct diff_side){ .role = "before",
					  .word = "",
					  .selectors = &scene->options.selectors };
	*state = scene;
	return 0;
}

static int tear_down(void **state)
{
	struct scene *scene = *state;

	diff_side_done(&scene->side);
	strbuf_done(&scene->messages);
	store_reader_done(&scene->reader);
	record_remove(&scene->record);
	test_free(scene);
	return 0;
}

static int read_side(struct scene *scene, uint64_t first_s, uint64_t end_s)
{
	scene->side.range = (struct time_range){ first_s, end_s };
	return diff_side_read(&scene->side, &scene->options, &scene->reader, true,
			      &scene->messages);
}

static void seconds_with_samples_are_no_empty_side(void **state)
{
	struct scene *scene = *state;

	assert_int_equal(read_side(scene, RECORD_START, RECORD_START + 2), STATUS_OK);
	assert_false(scene->side.is_empty);
	assert_int_equal(profile_total(scene->side.profiles.of[PROFILE_CPU]), 8);
}

static void an_idle_time_is_an_empty_side(void **state)
{
	const uint64_t first_s = RECORD_START + BUSY_SECONDS + 2;
	struct scene *scene = *state;
	const struct profile *profile;

	assert_int_equal(read_side(scene, first_s, first_s + 5), STATUS_OK);
	assert_true(scene->side.is_empty);
	profile = scene->side.profiles.of[PROFILE_CPU];
	assert_int_equal(profile_total(profile), 0);
	assert_int_equal(profile->time_unix_ns, first_s * NSEC_PER_SEC);
	assert_int_equal(profile->duration_ns, 5 * NSEC_PER_SEC);
	assert_int_equal(profile->period, 0);
}

/* Perhaps the agent did not record waits then. */
static void a_time_without_waits_is_refused(void **state)
{
	const uint64_t first_s = RECORD_START + BUSY_SECONDS + 2;
	struct scene *scene = *state;

	scene->options.asked_kind = OPTION_ASKED_OFF_CPU;
	assert_int_equal(read_side(scene, first_s, first_s + 5), STATUS_NO_SAMPLES);
}

static void a_time_without_an_agent_is_refused(void **state)
{
	struct scene *scene = *state;

	assert_int_equal(read_side(scene, RECORD_START - 10, RECORD_START - 5), STATUS_NO_SAMPLES);
	assert_non_null(strstr(strbuf_str(&scene->messages),
			       "before: the record has no such samples from"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(seconds_with_samples_are_no_empty_side, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(an_idle_time_is_an_empty_side, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_time_without_waits_is_refused, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_time_without_an_agent_is_refused, set_up,
						tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
