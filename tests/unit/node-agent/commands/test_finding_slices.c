/* SPDX-License-Identifier: Apache-2.0 */
#include "commands/finding_slices.h"

#include "record_fixture.h"
#include "stacks.h"
#include "unit.h"

#include "base/clock.h"
#include "findings/findings_text.h"

#include <string.h>

#define HZ 20
#define TEXT_BYTES 65536
#define PROFILE_BYTES ((size_t)64 << 20)
#define RULE "spinlock-contention"

static const struct stack_line usual[] = { { "web", "main;serve", 20 } };
static const struct stack_line slow[] = {
	{ "web", "main;serve", 10 },
	{ "web", "main;serve;lock_[k];native_queued_spin_lock_slowpath_[k]", 10 },
};

/* A record of some minutes, in which a spin lock is busy from one second to another. */
struct scene {
	struct record record;
	struct store_reader reader;
	struct record_query query;
	struct store_answer samples;
	struct findings whole;
	struct finding_slices slices;
};

static void write_record(const struct record *record, unsigned int nr, unsigned int first,
			 unsigned int end)
{
	_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(TEXT_BYTES);
	const struct recorder_opts opts = record_opts(record);
	struct profile *profiles[] = { profile_of_stacks(usual, array_len(usual)),
				       profile_of_stacks(slow, array_len(slow)) };
	struct recorder *recorder;

	assert_int_equal(recorder_new(&opts, &message, &recorder), 0);
	for (unsigned int i = 0; i < nr; i++) {
		struct profile *profile = profiles[i >= first && i < end];

		profile->time_unix_ns = (RECORD_START + i) * NSEC_PER_SEC;
		profile->duration_ns = NSEC_PER_SEC;
		profile->period = NSEC_PER_SEC / HZ;
		recorder_add(recorder, profile);
		recorder_tick(recorder, RECORD_START + i + 1);
	}
	recorder_close(recorder);
	profile_unref(profiles[0]);
	profile_unref(profiles[1]);
}

static void scene_init(struct scene *scene, unsigned int nr, unsigned int first, unsigned int end)
{
	_cleanup_(strbuf_done) struct strbuf warnings = strbuf_with_max(TEXT_BYTES);
	const char *const dir = scene->record.dir;
	const struct store_query all = { .range = { 0, UINT64_MAX },
					 .selector = &scene->query.selector,
					 .with_labels = true,
					 .max_bytes = PROFILE_BYTES };

	*scene = (struct scene){ .query.reader = &scene->reader };
	record_make(&scene->record);
	write_record(&scene->record, nr, first, end);
	assert_int_equal(store_reader_open(&dir, 1, &warnings, &scene->reader), 0);
	assert_int_equal(store_reader_merge(&scene->reader, &all, &warnings, &scene->samples), 0);
	assert_int_equal(findings_init(&scene->whole, scene->samples.profile), 0);
	assert_int_equal(finding_slices_read(&scene->query, &scene->whole, &scene->slices), 0);
}

static void scene_done(struct scene *scene)
{
	finding_slices_done(&scene->slices);
	findings_done(&scene->whole);
	store_answer_done(&scene->samples);
	store_reader_done(&scene->reader);
	record_remove(&scene->record);
}

static void a_busy_minute_of_an_hour_is_found_with_its_time(void **state)
{
	_cleanup_(scene_done) struct scene scene;
	_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max(TEXT_BYTES);
	(void)state;

	scene_init(&scene, 2400, 1000, 1060);
	assert_int_equal(scene.whole.nr, 0);
	assert_int_equal(scene.slices.nr, 1);
	const struct findings *part = &scene.slices.items[0].findings;
	assert_int_equal(part->nr, 1);
	assert_string_equal(part->items[0].rule->id, RULE);
	assert_int_equal(part->items[0].count, 600);
	assert_int_equal(part->items[0].of, 300 * HZ);
	assert_int_equal(part->items[0].only.first_s, RECORD_START + 900);
	assert_int_equal(part->items[0].only.end_s, RECORD_START + 1200);
	findings_append_text(part, 100, &text);
	assert_non_null(strstr(strbuf_str(&text), "\n   only        2026-11-24 "));
}

static void what_the_whole_range_shows_is_found_once_with_its_worst_time(void **state)
{
	_cleanup_(scene_done) struct scene scene;
	_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max(TEXT_BYTES);
	(void)state;

	scene_init(&scene, 1200, 300, 600);
	assert_int_equal(scene.whole.nr, 1);
	assert_int_equal(scene.slices.nr, 0);
	assert_int_equal(scene.whole.items[0].worst.first_s, RECORD_START + 300);
	assert_int_equal(scene.whole.items[0].worst.end_s, RECORD_START + 600);
	findings_append_text(&scene.whole, 100, &text);
	assert_non_null(strstr(strbuf_str(&text), ": 50.0 %\n"));
	strbuf_clear(&text);
	findings_append_json(&scene.whole, &text);
	assert_non_null(strstr(strbuf_str(&text),
			       "\"worst\":{\"first\":1795529100,\"end\":1795529400,"
			       "\"share\":0.5000}"));
}

static void a_short_range_has_no_parts(void **state)
{
	_cleanup_(scene_done) struct scene scene;
	(void)state;

	scene_init(&scene, 300, 0, 300);
	assert_int_equal(scene.whole.nr, 1);
	assert_int_equal(scene.whole.items[0].worst.end_s, 0);
	assert_int_equal(scene.slices.nr, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_busy_minute_of_an_hour_is_found_with_its_time),
		cmocka_unit_test(what_the_whole_range_shows_is_found_once_with_its_worst_time),
		cmocka_unit_test(a_short_range_has_no_parts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
