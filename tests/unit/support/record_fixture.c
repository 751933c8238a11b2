/* SPDX-License-Identifier: Apache-2.0 */
#include "record_fixture.h"

#include "base/clock.h"
#include "base/err.h"
#include "remove_tree.h"
#include "stacks.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WARNING_BYTES 4096
#define PROFILE_BYTES ((size_t)64 << 20)

void record_make(struct record *record)
{
	snprintf(record->dir, sizeof(record->dir), "/tmp/flamelet-record-XXXXXX");
	assert_non_null(mkdtemp(record->dir));
}

void record_remove(struct record *record)
{
	remove_tree(record->dir);
}

struct recorder_opts record_opts(const struct record *record)
{
	return (struct recorder_opts){
		.dir = record->dir,
		.host = "node-1",
		.max_bytes = UINT64_C(1) << 30,
		/* The files are new, whatever time they are of. */
		.max_age_s = UINT64_C(1) << 40,
	};
}

struct profile *record_second(uint64_t second, uint32_t count)
{
	char only[64];

	snprintf(only, sizeof(only), "main;once;second_%llu", (unsigned long long)second);
	const struct stack_line lines[] = { { "web", "main;serve;read_[k]", count },
					    { "web", only, 1 } };
	struct profile *profile = profile_of_stacks(lines, array_len(lines));

	profile->time_unix_ns = second * NSEC_PER_SEC + 1;
	return profile;
}

void record_add(struct recorder *recorder, uint64_t first_s, unsigned int nr, uint32_t count)
{
	for (unsigned int i = 0; i < nr; i++) {
		struct profile *profile = record_second(first_s + i, count);

		recorder_add(recorder, profile);
		recorder_tick(recorder, first_s + i + 1);
		profile_unref(profile);
	}
}

uint64_t record_total(const struct record *record, uint64_t first_s, uint64_t end_s)
{
	_cleanup_(strbuf_done) struct strbuf warnings = strbuf_with_max(WARNING_BYTES);
	_cleanup_(store_reader_done) struct store_reader reader = { 0 };
	const char *const dir = record->dir;
	const struct selector all = { 0 };
	const struct store_query query = {
		.range = { first_s, end_s },
		.selector = &all,
		.max_bytes = PROFILE_BYTES,
		.with_labels = true,
	};
	struct store_answer answer = { 0 };

	int r = store_reader_open(&dir, 1, &warnings, &reader);
	if (r == -ENOENT)
		return 0;
	assert_int_equal(r, 0);
	r = store_reader_merge(&reader, &query, &warnings, &answer);
	assert_string_equal(strbuf_str(&warnings), "");
	if (r == -ENOENT)
		return 0;
	assert_int_equal(r, 0);
	assert_int_equal(answer.nr_left_out, 0);
	uint64_t total = profile_total(answer.profile);
	profile_unref(answer.profile);
	return total;
}

void record_timeline(const struct record *record, enum timeline_what what, const char *by,
		     struct store_timeline *ret_timeline)
{
	_cleanup_(strbuf_done) struct strbuf warnings = strbuf_with_max(WARNING_BYTES);
	_cleanup_(store_reader_done) struct store_reader reader = { 0 };
	const char *const dir = record->dir;
	const struct selector all = { 0 };
	const struct store_timeline_query query = {
		.range = { 0, UINT64_MAX },
		.what = what,
		.selector = &all,
		.by = by,
	};

	assert_int_equal(store_reader_open(&dir, 1, &warnings, &reader), 0);
	assert_int_equal(store_timeline_read(&reader, &query, &warnings, ret_timeline), 0);
	assert_string_equal(strbuf_str(&warnings), "");
}

uint64_t record_vital(const struct record *record, enum vital vital)
{
	struct store_timeline timeline;
	uint64_t value = 0;

	record_timeline(record, TIMELINE_VITALS, NULL, &timeline);
	for (size_t i = 0; i < timeline.nr_lines; i++)
		if (strcmp(timeline.lines[i].name, vital_info(vital)->name) == 0)
			value = timeline.lines[i].values[0];
	store_timeline_done(&timeline);
	return value;
}
