/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cleanup.h"
#include "remove_tree.h"
#include "store/event_reader.h"
#include "store/event_table.h"
#include "unit.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define START UINT64_C(1795528800) /* 2026-11-24T14:00:00Z */
#define PATH_BYTES 128
#define MESSAGE_BYTES 1024

struct place {
	char dir[PATH_BYTES];
};

static void make_place(struct place *place)
{
	snprintf(place->dir, sizeof(place->dir), "/tmp/flamelet-events-XXXXXX");
	assert_non_null(mkdtemp(place->dir));
}

/* Makes a file that begins so many hours after START, with a block of an hour without samples, and
 * these events. */
static void make_file(const struct place *place, const char *host, unsigned int hour,
		      const struct event *events, size_t nr)
{
	char path[2 * PATH_BYTES];
	struct store_file *file;
	const struct store_block block = { .first_s = START + 3600 * hour,
					   .end_s = START + 3600 * (hour + 1),
					   .type = PROFILE_CPU };

	snprintf(path, sizeof(path), "%s/20261124T%02u0000Z.db", place->dir, 14 + hour);
	assert_int_equal(store_file_create(path, host, &file), 0);
	assert_int_equal(store_file_add_block(file, &block, "", 0), 0);
	for (size_t i = 0; i < nr; i++)
		assert_int_equal(event_table_put(file, &events[i]), 0);
	assert_int_equal(store_file_close(file), 0);
}

static struct event make_event(uint64_t number, uint64_t first_s, uint64_t length_s, double score)
{
	return (struct event){
		.number = number,
		.kind = EVENT_POD_CPU,
		.first_s = START + first_s,
		.end_s = START + first_s + length_s,
		.score = score,
		.subject = "pod shop/web-1",
		.selector = "{namespace=\"shop\",pod=\"web-1\"}",
		.text = "Pod shop/web-1 used up to 0.98 CPUs for 2 s, usually 0.03",
	};
}

static void open_reader(const char *const *dirs, size_t nr, struct store_reader *reader)
{
	_cleanup_(strbuf_done) struct strbuf warnings = strbuf_with_max(MESSAGE_BYTES);

	assert_int_equal(store_reader_open(dirs, nr, &warnings, reader), 0);
	assert_int_equal(warnings.len, 0);
}

/* Makes a record of one file with these events, and opens it. */
static void open_one(struct place *place, const struct event *events, size_t nr,
		     struct store_reader *reader)
{
	make_place(place);
	make_file(place, "node-1", 0, events, nr);
	const char *const dir = place->dir;
	open_reader(&dir, 1, reader);
}

static void read_events(const struct store_reader *reader, uint64_t first_s, uint64_t end_s,
			struct found_events *events)
{
	_cleanup_(strbuf_done) struct strbuf warnings = strbuf_with_max(MESSAGE_BYTES);
	const struct time_range range = { first_s, end_s };

	assert_int_equal(event_reader_read(reader, &range, &warnings, events), 0);
	assert_int_equal(warnings.len, 0);
}

static void an_event_is_read_as_it_was_written(void **state)
{
	(void)state;
	struct place place;
	_cleanup_(store_reader_done) struct store_reader reader = { 0 };
	_cleanup_(found_events_done) struct found_events events = { 0 };
	const struct event event = make_event(7, 100, 2, 1.375);

	open_one(&place, &event, 1, &reader);
	read_events(&reader, 0, UINT64_MAX, &events);
	assert_int_equal(events.nr, 1);
	assert_memory_equal(&events.items[0].event, &event, sizeof(event));
	assert_string_equal(events.items[0].host, "node-1");
	remove_tree(place.dir);
}

static void a_range_has_the_events_with_seconds_in_it(void **state)
{
	(void)state;
	static const struct {
		uint64_t first_s, end_s;
		size_t nr;
	} cases[] = { { 0, 100, 0 },   { 0, 101, 1 },	{ 101, 102, 1 },
		      { 102, 200, 0 }, { 102, 201, 1 }, { 0, 500, 2 } };
	struct place place;
	_cleanup_(store_reader_done) struct store_reader reader = { 0 };
	const struct event both[] = { make_event(2, 200, 10, 1), make_event(1, 100, 2, 1) };

	open_one(&place, both, array_len(both), &reader);
	for (size_t i = 0; i < array_len(cases); i++) {
		_cleanup_(found_events_done) struct found_events events = { 0 };

		read_events(&reader, START + cases[i].first_s, START + cases[i].end_s, &events);
		assert_int_equal(events.nr, cases[i].nr);
		if (events.nr == 2)
			assert_int_equal(events.items[0].event.number, 1);
	}
	remove_tree(place.dir);
}

static void the_newest_version_of_an_event_counts(void **state)
{
	(void)state;
	struct place place;
	_cleanup_(store_reader_done) struct store_reader reader = { 0 };
	_cleanup_(found_events_done) struct found_events events = { 0 };
	struct event early = make_event(3, 3590, 10, 1), late = make_event(3, 3590, 40, 4);

	make_place(&place);
	early.is_open = true;
	make_file(&place, "node-1", 0, &early, 1);
	make_file(&place, "node-1", 1, &late, 1);
	make_file(&place, "node-2", 2, &late, 1);
	const char *const dir = place.dir;
	open_reader(&dir, 1, &reader);
	read_events(&reader, 0, UINT64_MAX, &events);
	assert_int_equal(events.nr, 2); /* of two machines */
	assert_int_equal(events.items[0].event.end_s, START + 3630);
	assert_false(events.items[0].event.is_open);
	remove_tree(place.dir);
}

static void an_event_of_a_killed_agent_does_not_go_on(void **state)
{
	(void)state;
	struct place place;
	_cleanup_(store_reader_done) struct store_reader reader = { 0 };
	_cleanup_(found_events_done) struct found_events events = { 0 };
	struct event both[] = { make_event(1, 100, 2, 1), make_event(2, 3580, 15, 1) };

	make_place(&place);
	both[0].is_open = both[1].is_open = true;
	make_file(&place, "node-1", 0, both, array_len(both));
	const char *const dir = place.dir;
	open_reader(&dir, 1, &reader);
	read_events(&reader, 0, UINT64_MAX, &events);
	assert_false(events.items[0].event.is_open);
	assert_true(events.items[1].event.is_open);
	remove_tree(place.dir);
}

static void texts_name_ranges(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		uint64_t first_s, end_s; /* from START on */
	} cases[] = {
		{ "@e1", 100, 102 },
		{ "@node-1/e1", 100, 102 },
		{ "@e2", 200, 230 },
		{ "@worst", 200, 230 },
		{ "@last", 300, 301 },
		{ "@e1-1m", 40, 100 },
		{ "@node-1/e1-10s", 90, 100 },
		{ "@last-2s", 298, 300 },
		{ "1795528810..1795528820", 10, 20 },
		{ "-10s", 3590, 3600 },
	};
	struct place place;
	_cleanup_(store_reader_done) struct store_reader reader = { 0 };
	const struct event events[] = { make_event(1, 100, 2, 1), make_event(2, 200, 30, 9),
					make_event(3, 300, 1, 2) };

	open_one(&place, events, array_len(events), &reader);
	for (size_t i = 0; i < array_len(cases); i++) {
		_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(MESSAGE_BYTES);
		struct asked_range asked;

		if (event_reader_range(&reader, cases[i].text, &message, &asked) < 0)
			fail_msg("%s: %s", cases[i].text, strbuf_str(&message));
		assert_int_equal(asked.range.first_s, START + cases[i].first_s);
		assert_int_equal(asked.range.end_s, START + cases[i].end_s);
	}
	remove_tree(place.dir);
}

static void a_range_tells_which_event_it_is_of(void **state)
{
	(void)state;
	static const struct {
		const char *text, *name;
	} cases[] = { { "@worst", "@e2" },
		      { "@worst-1m", "@e2-1m" },
		      { "@e1", "@e1" },
		      { "@node-1/e1-90s", "@e1-90s" },
		      { "-10s", "" } };
	struct place place;
	_cleanup_(store_reader_done) struct store_reader reader = { 0 };
	const struct event events[] = { make_event(1, 100, 2, 1), make_event(2, 200, 30, 9) };

	open_one(&place, events, array_len(events), &reader);
	for (size_t i = 0; i < array_len(cases); i++) {
		_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(MESSAGE_BYTES);
		struct asked_range asked;

		assert_int_equal(event_reader_range(&reader, cases[i].text, &message, &asked), 0);
		assert_string_equal(asked.name, cases[i].name);
		assert_int_equal(asked.found.event.number,
				 cases[i].name[0] ? cases[i].name[2] - '0' : 0);
	}
	remove_tree(place.dir);
}

static void events_of_flamelet_itself_come_last_by_score(void **state)
{
	(void)state;
	struct place place;
	_cleanup_(store_reader_done) struct store_reader reader = { 0 };
	_cleanup_(found_events_done) struct found_events found = { 0 };
	struct event events[] = { make_event(10, 100, 2, 3), make_event(9, 100, 2, 1),
				  make_event(11, 90, 2, 50) };

	snprintf(events[2].subject, sizeof(events[2].subject), EVENT_OWN_SUBJECT);
	open_one(&place, events, array_len(events), &reader);
	read_events(&reader, 0, UINT64_MAX, &found);
	found_events_keep_worst(&found, 3);
	assert_int_equal(found.items[0].event.number, 11);
	assert_int_equal(found.items[1].event.number, 9); /* of the same second */
	assert_int_equal(found.items[2].event.number, 10);
	found_events_sort_by_score(&found);
	assert_int_equal(found.items[0].event.number, 10);
	assert_int_equal(found.items[2].event.number, 11);
	found_events_keep_worst(&found, 2);
	assert_int_equal(found.nr, 2);
	assert_int_equal(found.nr_left_out, 1);
	assert_int_equal(found.items[1].event.number, 10);
	remove_tree(place.dir);
}

static void other_texts_are_refused_with_a_reason(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		int error;
		const char *message;
	} cases[] = {
		{ "@", -ENOENT, "no event" },
		{ "@e", -ENOENT, "no event e;" },
		{ "@e4", -ENOENT, "no event e4;" },
		{ "@E1", -ENOENT, "no event" },
		{ "@e1x", -ENOENT, "no event" },
		{ "@e01", -ENOENT, "no event" },
		{ "@e1-", -EINVAL, "is not a range" },
		{ "@e1-0s", -EINVAL, "is not a range" },
		{ "@e1-x", -EINVAL, "is not a range" },
		{ "@node-3/e1", -ENOENT, "no event" },
		{ "@node-1e1", -EINVAL, "is not a range" },
		{ "@e1", -EINVAL, "write @node-1/e1 or @node-2/e1" },
		{ "e1", -EINVAL, "is not a range" },
		{ "", -EINVAL, "is not a range" },
		{ "-1m..-2m", -ERANGE, "the range \"-1m..-2m\" ends before it begins" },
	};
	struct place place;
	_cleanup_(store_reader_done) struct store_reader reader = { 0 };
	const struct event event = make_event(1, 100, 2, 1);

	make_place(&place);
	make_file(&place, "node-1", 0, &event, 1);
	make_file(&place, "node-2", 1, &event, 1);
	const char *const dir = place.dir;
	open_reader(&dir, 1, &reader);
	for (size_t i = 0; i < array_len(cases); i++) {
		_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(MESSAGE_BYTES);
		struct asked_range asked;
		int r = event_reader_range(&reader, cases[i].text, &message, &asked);

		if (r != cases[i].error || !strstr(strbuf_str(&message), cases[i].message))
			fail_msg("\"%s\": %d: %s", cases[i].text, r, strbuf_str(&message));
	}
	remove_tree(place.dir);
}

static void a_record_without_events_has_no_worst_one(void **state)
{
	(void)state;
	struct place place;
	_cleanup_(store_reader_done) struct store_reader reader = { 0 };
	_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(MESSAGE_BYTES);
	struct asked_range asked;

	make_place(&place);
	make_file(&place, "node-1", 0, NULL, 0);
	const char *const dir = place.dir;
	open_reader(&dir, 1, &reader);
	assert_int_equal(event_reader_range(&reader, "@worst", &message, &asked), -ENOENT);
	assert_string_equal(strbuf_str(&message), "the record has no events");
	remove_tree(place.dir);
}

/* Puts a row into the table of events as another program might. */
static void put_row(const char *path, const char *values)
{
	char sql[512];
	sqlite3 *db;

	snprintf(sql, sizeof(sql), "INSERT INTO event VALUES(%s)", values);
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
}

static void foreign_rows_do_no_harm(void **state)
{
	(void)state;
	static const struct {
		const char *values;
		size_t nr;
	} rows[] = {
		{ "1, 1795528900, 1795528902, 'pod-cpu', 0, 1.5, 'pod a/b', '', 'x'", 1 },
		{ "1, 1795528900, 1795528902, 'of-the-future', 0, 1.5, '', '', ''", 0 },
		{ "1, 1795528900, 1795528900, 'irq', 0, 1.5, '', '', ''", 0 },
		{ "1, 1795528902, 1795528900, 'irq', 0, 1.5, '', '', ''", 0 },
		{ "1, -5, 1795528900, 'irq', 0, 1.5, '', '', ''", 0 },
		{ "-1, 1795528900, 1795528902, 'irq', 0, 1.5, '', '', ''", 0 },
		{ "1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL", 0 },
		{ "1, 1795528900, 1795528902, 'irq', 7, 9e999, NULL, NULL, NULL", 1 },
		{ "1, 1795528900, 1795528902, 'irq', 0, -3, zeroblob(5000), 7, x'ff1b00'", 1 },
		{ "1, 1795528900, 1795528902, 'irq', 0, 'much', hex(zeroblob(9000)), '', ''", 1 },
	};

	for (size_t i = 0; i < array_len(rows); i++) {
		struct place place;
		char path[2 * PATH_BYTES];
		_cleanup_(store_reader_done) struct store_reader reader = { 0 };
		_cleanup_(found_events_done) struct found_events events = { 0 };

		make_place(&place);
		make_file(&place, "node-1", 0, NULL, 0);
		snprintf(path, sizeof(path), "%s/20261124T140000Z.db", place.dir);
		put_row(path, rows[i].values);
		const char *const dir = place.dir;
		open_reader(&dir, 1, &reader);
		read_events(&reader, 0, UINT64_MAX, &events);
		if (events.nr != rows[i].nr)
			fail_msg("%s: %zu events", rows[i].values, events.nr);
		if (events.nr == 1)
			assert_true(events.items[0].event.score >= 0 &&
				    events.items[0].event.score < 1e16);
		remove_tree(place.dir);
	}
}

static void only_so_many_events_are_kept_and_those_are_the_worst(void **state)
{
	(void)state;
	struct place place;
	char path[2 * PATH_BYTES], *error = NULL;
	_cleanup_(store_reader_done) struct store_reader reader = { 0 };
	_cleanup_(found_events_done) struct found_events events = { 0 };
	sqlite3 *db;

	make_place(&place);
	make_file(&place, "node-1", 0, NULL, 0);
	snprintf(path, sizeof(path), "%s/20261124T140000Z.db", place.dir);
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	sqlite3_exec(db,
		     "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 25000)"
		     " INSERT INTO event SELECT i, 1795528800 + i, 1795528801 + i, 'irq', 0, i,"
		     " '', '', '' FROM n",
		     NULL, NULL, &error);
	assert_null(error);
	sqlite3_close(db);
	const char *const dir = place.dir;
	open_reader(&dir, 1, &reader);
	read_events(&reader, 0, UINT64_MAX, &events);
	assert_int_equal(events.nr + events.nr_left_out, 25000);
	assert_true(events.nr >= 10000);
	assert_int_equal(events.items[events.nr - 1].event.number, 25000);
	remove_tree(place.dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_event_is_read_as_it_was_written),
		cmocka_unit_test(a_range_has_the_events_with_seconds_in_it),
		cmocka_unit_test(the_newest_version_of_an_event_counts),
		cmocka_unit_test(an_event_of_a_killed_agent_does_not_go_on),
		cmocka_unit_test(texts_name_ranges),
		cmocka_unit_test(a_range_tells_which_event_it_is_of),
		cmocka_unit_test(events_of_flamelet_itself_come_last_by_score),
		cmocka_unit_test(other_texts_are_refused_with_a_reason),
		cmocka_unit_test(a_record_without_events_has_no_worst_one),
		cmocka_unit_test(foreign_rows_do_no_harm),
		cmocka_unit_test(only_so_many_events_are_kept_and_those_are_the_worst),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
