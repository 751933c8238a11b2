/* SPDX-License-Identifier: Apache-2.0 */
/* Events from the recorder to the reader. */
#include "base/cleanup.h"
#include "base/clock.h"
#include "record_fixture.h"
#include "store/event_reader.h"
#include "unit.h"

#include <string.h>

#define MESSAGE_BYTES 4096
#define HZ 20
#define QUIET 0
#define BURST (2 * HZ) /* samples of two CPUs */
#define LATE_S 30 /* until the file has what happened, with 15 s until a second is complete */

static struct recorder *open_recorder(const struct record *record)
{
	_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(MESSAGE_BYTES);
	const struct recorder_opts opts = record_opts(record);
	struct recorder *recorder = NULL;

	if (recorder_new(&opts, &message, &recorder) < 0)
		fail_msg("%s", strbuf_str(&message));
	return recorder;
}

/* Records seconds of a program that is "web", at so many samples each, and one more. */
static void record_load(struct recorder *recorder, uint64_t first_s, unsigned int nr,
			uint32_t count)
{
	for (unsigned int i = 0; i < nr; i++) {
		struct profile *profile = record_second(first_s + i, count);

		profile->period = NSEC_PER_SEC / HZ;
		recorder_add(recorder, profile);
		recorder_tick(recorder, first_s + i + 1);
		profile_unref(profile);
	}
}

/* Reads all events. The hosts are gone with the reader. */
static void read_events(const struct record *record, struct found_events *events)
{
	_cleanup_(strbuf_done) struct strbuf warnings = strbuf_with_max(MESSAGE_BYTES);
	_cleanup_(store_reader_done) struct store_reader reader = { 0 };
	const struct time_range all = { 0, UINT64_MAX };
	const char *const dir = record->dir;

	assert_int_equal(store_reader_open(&dir, 1, &warnings, &reader), 0);
	assert_int_equal(event_reader_read(&reader, &all, &warnings, events), 0);
	assert_int_equal(warnings.len, 0);
}

static void an_event_is_in_the_file_while_the_agent_lives(void **state)
{
	(void)state;
	struct record record;
	_cleanup_(found_events_done) struct found_events events = { 0 };

	record_make(&record);
	struct recorder *recorder = open_recorder(&record);
	record_load(recorder, RECORD_START, 100, QUIET);
	record_load(recorder, RECORD_START + 100, 2, BURST);
	record_load(recorder, RECORD_START + 102, LATE_S, QUIET);
	/* Nothing was closed: so it would be if the agent were killed now. */
	read_events(&record, &events);
	assert_int_equal(events.nr, 1);
	assert_int_equal(events.items[0].event.number, 1);
	assert_int_equal(events.items[0].event.first_s, RECORD_START + 100);
	assert_int_equal(events.items[0].event.end_s, RECORD_START + 102);
	assert_string_equal(events.items[0].event.subject, "process web");
	assert_int_equal(recorder_get_stats(recorder).events.nr_events[EVENT_PROCESS_CPU], 1);
	recorder_close(recorder);
	record_remove(&record);
}

static void the_next_agent_continues_the_numbers(void **state)
{
	(void)state;
	struct record record;
	_cleanup_(found_events_done) struct found_events events = { 0 };

	record_make(&record);
	for (uint64_t life = 0; life < 3; life++) {
		struct recorder *recorder = open_recorder(&record);

		record_load(recorder, RECORD_START + life * 1000, 100, QUIET);
		record_load(recorder, RECORD_START + life * 1000 + 100, 2, BURST);
		record_load(recorder, RECORD_START + life * 1000 + 102, LATE_S, QUIET);
		recorder_close(recorder);
	}
	read_events(&record, &events);
	assert_int_equal(events.nr, 3);
	for (uint64_t i = 0; i < 3; i++)
		assert_int_equal(events.items[i].event.number, i + 1);
	record_remove(&record);
}

static void an_event_may_outlast_its_hour(void **state)
{
	(void)state;
	struct record record;
	_cleanup_(found_events_done) struct found_events events = { 0 };

	record_make(&record);
	struct recorder *recorder = open_recorder(&record);
	record_load(recorder, RECORD_START + 3400, 190, QUIET);
	record_load(recorder, RECORD_START + 3590, 40, BURST);
	record_load(recorder, RECORD_START + 3630, LATE_S, QUIET);
	recorder_close(recorder);
	read_events(&record, &events);
	assert_int_equal(events.nr, 1);
	assert_int_equal(events.items[0].event.first_s, RECORD_START + 3590);
	assert_int_equal(events.items[0].event.end_s, RECORD_START + 3630);
	assert_false(events.items[0].event.is_open);
	record_remove(&record);
}

static void a_new_hour_does_not_hide_events(void **state)
{
	(void)state;
	struct record record;
	_cleanup_(found_events_done) struct found_events events = { 0 };

	record_make(&record);
	struct recorder *recorder = open_recorder(&record);
	record_load(recorder, RECORD_START + 3400, 300, QUIET);
	record_load(recorder, RECORD_START + 3700, 2, BURST);
	record_load(recorder, RECORD_START + 3702, LATE_S, QUIET);
	recorder_close(recorder);
	read_events(&record, &events);
	assert_int_equal(events.nr, 1);
	assert_int_equal(events.items[0].event.first_s, RECORD_START + 3700);
	assert_string_equal(events.items[0].event.subject, "process web");
	record_remove(&record);
}

static void an_event_that_goes_on_is_open(void **state)
{
	(void)state;
	struct record record;
	_cleanup_(found_events_done) struct found_events events = { 0 };

	record_make(&record);
	struct recorder *recorder = open_recorder(&record);
	record_load(recorder, RECORD_START, 100, QUIET);
	record_load(recorder, RECORD_START + 100, LATE_S, BURST);
	read_events(&record, &events);
	assert_int_equal(events.nr, 1);
	assert_true(events.items[0].event.is_open);
	/* The end of the agent is that of the event. */
	recorder_close(recorder);
	found_events_done(&events);
	read_events(&record, &events);
	assert_false(events.items[0].event.is_open);
	record_remove(&record);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_event_is_in_the_file_while_the_agent_lives),
		cmocka_unit_test(the_next_agent_continues_the_numbers),
		cmocka_unit_test(an_event_may_outlast_its_hour),
		cmocka_unit_test(a_new_hour_does_not_hide_events),
		cmocka_unit_test(an_event_that_goes_on_is_open),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
