/* SPDX-License-Identifier: Apache-2.0 */
/* Records that have both CPU time and the times in which threads wait. */
#include "base/cleanup.h"
#include "base/clock.h"
#include "profile/wait_reason.h"
#include "record_fixture.h"
#include "stacks.h"
#include "store/label_names.h"
#include "store/pin_dir.h"
#include "store/store_dir.h"
#include "store/store_slices.h"
#include "unit.h"

#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

#define SECONDS 100
#define COUNT 4
#define A_SECOND (COUNT + 1)
#define FUTEX_NS (2 * NSEC_PER_SEC + 1400) /* of each second; two threads wait */
#define DISK_NS UINT64_C(499600)
#define SHORT_NS UINT64_C(30) /* less than a value of a file can be */
/* As files have them: in whole microseconds, and never 0. */
#define FUTEX_KEPT_NS (2 * NSEC_PER_SEC + 1000)
#define DISK_KEPT_NS (500 * NSEC_PER_USEC)
#define SHORT_KEPT_NS NSEC_PER_USEC
#define WAITS_KEPT_NS (FUTEX_KEPT_NS + DISK_KEPT_NS + SHORT_KEPT_NS)
#define NR_WAITS 3 /* stacks of each second */
#define MESSAGE_BYTES 4096
#define PROFILE_BYTES ((size_t)16 << 20)

static struct profile *waits_of_second(uint64_t second)
{
	static const struct stack_line lines[] = {
		{ "web", "main;serve;lock;futex_wait_[k]", 1 },
		{ "web", "main;serve;load;io_schedule_[k]", 1 },
		{ "web", "main;spin", 1 },
	};
	static const uint64_t values[NR_WAITS] = { FUTEX_NS, DISK_NS, SHORT_NS };
	static const enum wait_reason reasons[NR_WAITS] = { REASON_FUTEX, REASON_DISK,
							    REASON_PREEMPTED };
	struct profile *profile = profile_of_stacks(lines, array_len(lines));

	profile->time_unix_ns = second * NSEC_PER_SEC + 1;
	profile->type = PROFILE_OFF_CPU;
	profile->period = 0;
	for (size_t i = 0; i < NR_WAITS; i++) {
		profile->samples[i].count = values[i];
		profile->samples[i].reason = reasons[i];
		profile->samples[i].cpu = PROFILE_CPU_UNKNOWN;
	}
	return profile;
}

/* Adds both of each second, as time goes on. */
static void add_seconds(struct recorder *recorder, unsigned int nr)
{
	for (unsigned int i = 0; i < nr; i++) {
		struct profile *waits = waits_of_second(RECORD_START + i);

		recorder_add(recorder, waits);
		profile_unref(waits);
		record_add(recorder, RECORD_START + i, 1, COUNT);
	}
}

static struct recorder *open_recorder(const struct record *record)
{
	_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(MESSAGE_BYTES);
	struct recorder_opts opts = record_opts(record);
	struct recorder *recorder;

	opts.with_cpu = true;
	assert_int_equal(recorder_new(&opts, &message, &recorder), 0);
	return recorder;
}

static void make_record(struct record *record)
{
	record_make(record);
	struct recorder *recorder = open_recorder(record);
	add_seconds(recorder, SECONDS);
	recorder_close(recorder);
}

static void open_reader(const struct record *record, struct store_reader *ret_reader)
{
	_cleanup_(strbuf_done) struct strbuf warnings = strbuf_with_max(MESSAGE_BYTES);
	const char *const dir = record->dir;

	assert_int_equal(store_reader_open(&dir, 1, &warnings, ret_reader), 0);
	assert_string_equal(strbuf_str(&warnings), "");
}

/* Merges the samples of a type that a selector chooses. Returns the profile, owned by the caller;
 * NULL: there are none. */
static struct profile *merge(const struct store_reader *reader, enum profile_type type,
			     const char *selector_text, bool with_labels)
{
	_cleanup_(strbuf_done) struct strbuf warnings = strbuf_with_max(MESSAGE_BYTES);
	_cleanup_(selector_done) struct selector selector = { 0 };
	struct store_answer answer = { 0 };

	assert_int_equal(selector_add(&selector, selector_text, &warnings), 0);
	const struct store_query query = {
		.range = { 0, UINT64_MAX },
		.selector = &selector,
		.type = type,
		.with_labels = with_labels,
		.max_bytes = PROFILE_BYTES,
	};
	int r = store_reader_merge(reader, &query, &warnings, &answer);
	if (r == -ENOENT)
		return NULL;
	assert_int_equal(r, 0);
	assert_int_equal(answer.nr_left_out, 0);
	return answer.profile;
}

static uint64_t total_of(const struct store_reader *reader, enum profile_type type,
			 const char *selector)
{
	struct profile *profile = merge(reader, type, selector, true);
	uint64_t total = profile ? profile_total(profile) : 0;

	profile_unref(profile);
	return total;
}

static void each_type_is_kept_by_itself(void **state)
{
	(void)state;
	_cleanup_(store_reader_done) struct store_reader reader = { 0 };
	struct record record;

	make_record(&record);
	open_reader(&record, &reader);
	assert_int_equal(reader.nr_spans, 1);
	assert_int_equal(reader.spans[0].nr_samples[PROFILE_CPU], SECONDS * A_SECOND);
	assert_int_equal(reader.spans[0].nr_samples[PROFILE_OFF_CPU], SECONDS * WAITS_KEPT_NS);
	assert_int_equal(total_of(&reader, PROFILE_CPU, "{}"), SECONDS * A_SECOND);
	assert_int_equal(total_of(&reader, PROFILE_OFF_CPU, "{}"), SECONDS * WAITS_KEPT_NS);
	assert_int_equal(total_of(&reader, PROFILE_LOCK_DELAY, "{}"), 0);
	record_remove(&record);
}

static void waits_keep_their_reasons_with_labels_and_without(void **state)
{
	(void)state;
	static const uint64_t kept[REASON_NR] = {
		[REASON_FUTEX] = SECONDS * FUTEX_KEPT_NS,
		[REASON_DISK] = SECONDS * DISK_KEPT_NS,
		[REASON_PREEMPTED] = SECONDS * SHORT_KEPT_NS,
	};
	_cleanup_(store_reader_done) struct store_reader reader = { 0 };
	struct record record;

	make_record(&record);
	open_reader(&record, &reader);
	for (int with_labels = 0; with_labels < 2; with_labels++) {
		struct profile *profile = merge(&reader, PROFILE_OFF_CPU, "{}", with_labels);

		assert_int_equal(profile->type, PROFILE_OFF_CPU);
		assert_int_equal(profile->period, 0);
		assert_int_equal(profile->nr_samples, NR_WAITS);
		for (size_t i = 0; i < NR_WAITS; i++)
			assert_int_equal(profile->samples[i].count,
					 kept[profile->samples[i].reason]);
		profile_unref(profile);
	}
	record_remove(&record);
}

static void reasons_select(void **state)
{
	(void)state;
	_cleanup_(store_reader_done) struct store_reader reader = { 0 };
	_cleanup_(label_names_done) struct label_names names = { 0 };
	const struct time_range all = { 0, UINT64_MAX };
	const struct label_key reason = label_key_of("reason");
	struct record record;

	make_record(&record);
	open_reader(&record, &reader);
	assert_int_equal(total_of(&reader, PROFILE_OFF_CPU, "{reason=\"futex\"}"),
			 SECONDS * FUTEX_KEPT_NS);
	assert_int_equal(total_of(&reader, PROFILE_OFF_CPU, "{reason!~\"futex|disk\"}"),
			 SECONDS * SHORT_KEPT_NS);
	assert_int_equal(total_of(&reader, PROFILE_OFF_CPU, "{reason=\"sleep\"}"), 0);
	assert_int_equal(total_of(&reader, PROFILE_CPU, "{reason=\"\"}"), SECONDS * A_SECOND);
	assert_int_equal(label_names_read(&reader, &all, &names), 0);
	assert_true(label_names_have(&names, &reason));
	record_remove(&record);
}

/* Reads a timeline of one step. Returns the sum of a line, or 0. */
static uint64_t line_total(const struct store_reader *reader, enum profile_type type,
			   const char *by, const char *name)
{
	_cleanup_(strbuf_done) struct strbuf warnings = strbuf_with_max(MESSAGE_BYTES);
	_cleanup_(store_timeline_done) struct store_timeline timeline = { 0 };
	const struct selector all = { 0 };
	const struct store_timeline_query query = {
		.range = { 0, UINT64_MAX },
		.what = TIMELINE_SAMPLES,
		.type = type,
		.selector = &all,
		.by = by,
	};

	int r = store_timeline_read(reader, &query, &warnings, &timeline);
	assert_true(r == 0 || r == -ENOENT);
	for (size_t i = 0; i < timeline.nr_lines; i++)
		if (strcmp(timeline.lines[i].name, name) == 0)
			return timeline.lines[i].total;
	return 0;
}

static void timelines_are_of_a_type(void **state)
{
	(void)state;
	_cleanup_(store_reader_done) struct store_reader reader = { 0 };
	struct record record;

	make_record(&record);
	open_reader(&record, &reader);
	assert_int_equal(line_total(&reader, PROFILE_CPU, "comm", "web"), SECONDS * A_SECOND);
	assert_int_equal(line_total(&reader, PROFILE_OFF_CPU, "comm", "web"),
			 SECONDS * WAITS_KEPT_NS);
	assert_int_equal(line_total(&reader, PROFILE_OFF_CPU, "reason", "futex"),
			 SECONDS * FUTEX_KEPT_NS);
	record_remove(&record);
}

static int add_slice(struct profile *profile, void *data)
{
	uint64_t *sums = data;

	sums[profile->type] += profile_total(profile);
	assert_int_equal(profile->duration_ns, NSEC_PER_SEC);
	return 0;
}

static void slices_have_the_values_of_profiles(void **state)
{
	(void)state;
	_cleanup_(strbuf_done) struct strbuf warnings = strbuf_with_max(MESSAGE_BYTES);
	_cleanup_(store_reader_done) struct store_reader reader = { 0 };
	const struct selector all = { 0 };
	uint64_t sums[PROFILE_NR_TYPES] = { 0 }, left_out = 0;
	const struct store_slicing slicing = {
		.range = { 0, UINT64_MAX },
		.selector = &all,
		.slice_s = 1,
		.max_bytes = PROFILE_BYTES,
		.visit = add_slice,
		.data = sums,
	};
	struct record record;

	make_record(&record);
	open_reader(&record, &reader);
	assert_int_equal(store_slices_visit(&reader, &slicing, &warnings, &left_out), 0);
	assert_int_equal(sums[PROFILE_CPU], SECONDS * A_SECOND);
	assert_int_equal(sums[PROFILE_OFF_CPU], SECONDS * WAITS_KEPT_NS);
	record_remove(&record);
}

static void waits_are_counted_one_by_one(void **state)
{
	(void)state;
	struct record record;

	record_make(&record);
	struct recorder *recorder = open_recorder(&record);
	add_seconds(recorder, SECONDS);
	recorder_finish(recorder);
	const struct recorder_stats stats = recorder_get_stats(recorder);
	assert_int_equal(stats.nr_samples_written, SECONDS * (A_SECOND + NR_WAITS));
	assert_int_equal(stats.nr_samples_dropped, 0);
	assert_int_equal(stats.nr_timeline_dropped, 0);
	recorder_close(recorder);
	record_remove(&record);
}

/* Without a limit of bytes a day, nothing is folded; with a small one, the stacks that each second
 * has stay whole, and so do all values. */
static void folding_keeps_the_values_of_each_type(void **state)
{
	(void)state;
	_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(MESSAGE_BYTES);
	_cleanup_(store_reader_done) struct store_reader reader = { 0 };
	struct recorder *recorder;
	struct record record;

	record_make(&record);
	struct recorder_opts opts = record_opts(&record);
	opts.per_day = 24;
	assert_int_equal(recorder_new(&opts, &message, &recorder), 0);
	add_seconds(recorder, 3 * SECONDS);
	recorder_close(recorder);
	open_reader(&record, &reader);
	const struct store_span *span = &reader.spans[0];
	assert_true(span->folded[PROFILE_CPU] > 0);
	assert_true(span->folded[PROFILE_CPU] <= 3 * SECONDS);
	assert_int_equal(span->folded[PROFILE_OFF_CPU], 0);
	assert_int_equal(total_of(&reader, PROFILE_CPU, "{}"), 3 * SECONDS * A_SECOND);
	assert_int_equal(total_of(&reader, PROFILE_OFF_CPU, "{}"), 3 * SECONDS * WAITS_KEPT_NS);
	record_remove(&record);
}

static void pins_keep_all_types(void **state)
{
	(void)state;
	_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(MESSAGE_BYTES);
	_cleanup_(store_reader_done) struct store_reader reader = { 0 };
	struct pin pin = { .first_s = RECORD_START, .end_s = RECORD_START + 30, .id = "p1" };
	char name[STORE_NAME_BYTES];
	struct record record;

	make_record(&record);
	assert_int_equal(pin_dir_add(record.dir, &pin, &message), 0);
	store_dir_name(RECORD_START, name);
	assert_int_equal(store_dir_remove(record.dir, name), 0);
	open_reader(&record, &reader);
	assert_int_equal(total_of(&reader, PROFILE_CPU, "{}"), 60 * A_SECOND);
	assert_int_equal(total_of(&reader, PROFILE_OFF_CPU, "{}"), 60 * WAITS_KEPT_NS);
	assert_int_equal(total_of(&reader, PROFILE_OFF_CPU, "{reason=\"disk\"}"),
			 60 * DISK_KEPT_NS);
	record_remove(&record);
}

static void wrong_periods_do_no_harm(void **state)
{
	(void)state;
	static const char *const damages[] = {
		"UPDATE block SET period = 0",
		"UPDATE block SET period = 9223372036854775807, total = 9223372036854775807",
		"UPDATE block SET period = -1, total = -1, folded = -1",
		"UPDATE block SET period = 'x', type = 99",
	};

	for (size_t i = 0; i < array_len(damages); i++) {
		_cleanup_(store_reader_done) struct store_reader reader = { 0 };
		struct record record;
		sqlite3 *db;

		make_record(&record);
		open_reader(&record, &reader);
		assert_int_equal(sqlite3_open(reader.spans[0].path, &db), SQLITE_OK);
		assert_int_equal(sqlite3_exec(db, damages[i], NULL, NULL, NULL), SQLITE_OK);
		sqlite3_close(db);
		profile_unref(merge(&reader, PROFILE_OFF_CPU, "{}", true));
		profile_unref(merge(&reader, PROFILE_CPU, "{}", false));
		(void)line_total(&reader, PROFILE_OFF_CPU, "reason", "futex");
		record_remove(&record);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_type_is_kept_by_itself),
		cmocka_unit_test(waits_keep_their_reasons_with_labels_and_without),
		cmocka_unit_test(reasons_select),
		cmocka_unit_test(timelines_are_of_a_type),
		cmocka_unit_test(slices_have_the_values_of_profiles),
		cmocka_unit_test(waits_are_counted_one_by_one),
		cmocka_unit_test(folding_keeps_the_values_of_each_type),
		cmocka_unit_test(pins_keep_all_types),
		cmocka_unit_test(wrong_periods_do_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
