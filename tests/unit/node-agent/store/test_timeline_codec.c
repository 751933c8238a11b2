/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cleanup.h"
#include "base/pb.h"
#include "store/timeline_codec.h"
#include "unit.h"

#include <string.h>

#define MAX_BYTES ((size_t)1 << 20)
#define MAX_ROWS 100
#define NR_LABELS 50

struct got_row {
	struct track_key key;
	struct block_row row;
};

struct got {
	struct got_row rows[MAX_ROWS];
	size_t nr;
	enum track_kind only; /* TRACK_NR_KINDS: all */
	int error; /* that visit() returns */
};

static bool wants(const struct track_key *key, void *data)
{
	const struct got *got = data;

	return got->only == TRACK_NR_KINDS || got->only == key->kind;
}

static int visit(const struct track_key *key, const struct block_row *row, void *data)
{
	struct got *got = data;

	if (got->error)
		return got->error;
	assert_true(got->nr < MAX_ROWS);
	got->rows[got->nr++] = (struct got_row){ *key, *row };
	return 0;
}

static int decode(const void *bytes, size_t len, struct got *got)
{
	const struct track_visitor visitor = { wants, visit, got };

	got->nr = 0;
	return timeline_decode(bytes, len, NR_LABELS, &visitor);
}

static const struct track_key keys[] = {
	{ TRACK_VITALS, PROFILE_CPU, 0 },
	{ TRACK_GROUPS, PROFILE_CPU, 10101010 },
	{ TRACK_SLOTS, PROFILE_CPU, 10101010 },
	{ TRACK_CPUS, PROFILE_OFF_CPU, 1 },
};

static const struct block_row rows[] = {
	{ 0, 0, 0, 5 },
	{ 3, 0, 1, UINT64_MAX },
	{ 3, 0, 59, 1 },
	{ 19, 0, 7, 42 },
};

static void encode_all(struct strbuf *out)
{
	for (size_t i = 0; i < array_len(keys); i++)
		timeline_encode_track(&keys[i], rows, array_len(rows), out);
	assert_int_equal(strbuf_error(out), 0);
}

static void tracks_come_back_as_they_were(void **state)
{
	_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(MAX_BYTES);
	struct got got = { .only = TRACK_NR_KINDS };
	(void)state;

	encode_all(&out);
	assert_int_equal(decode(out.data, out.len, &got), 0);
	assert_int_equal(got.nr, array_len(keys) * array_len(rows));
	for (size_t i = 0; i < got.nr; i++) {
		const struct track_key *key = &keys[i / array_len(rows)];
		const struct block_row *row = &rows[i % array_len(rows)];

		assert_int_equal(got.rows[i].key.kind, key->kind);
		assert_int_equal(got.rows[i].key.type, key->type);
		assert_int_equal(got.rows[i].key.period, key->period);
		assert_int_equal(got.rows[i].row.labels, row->labels);
		assert_int_equal(got.rows[i].row.second, row->second);
		assert_int_equal(got.rows[i].row.value, row->value);
	}
}

static void tracks_that_are_not_wanted_are_skipped(void **state)
{
	_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(MAX_BYTES);
	struct got got = { .only = TRACK_SLOTS };
	(void)state;

	encode_all(&out);
	assert_int_equal(decode(out.data, out.len, &got), 0);
	assert_int_equal(got.nr, array_len(rows));
	assert_int_equal(got.rows[0].key.kind, TRACK_SLOTS);
	assert_int_equal(decode(NULL, 0, &got), 0);
	assert_int_equal(got.nr, 0);
}

static void tracks_of_the_future_are_skipped(void **state)
{
	_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(MAX_BYTES);
	struct got got = { .only = TRACK_NR_KINDS };
	(void)state;

	pb_varint(&out, 99);
	pb_varint(&out, PROFILE_CPU);
	pb_varint(&out, 0);
	pb_varint(&out, 3);
	strbuf_append(&out, "xyz", 3);
	pb_varint(&out, TRACK_CPUS);
	pb_varint(&out, PROFILE_NR_TYPES);
	pb_varint(&out, 0);
	pb_varint(&out, 0);
	timeline_encode_track(&keys[0], rows, array_len(rows), &out);
	assert_int_equal(decode(out.data, out.len, &got), 0);
	assert_int_equal(got.nr, array_len(rows));
}

static void numbers_beyond_their_limit_are_refused(void **state)
{
	static const struct {
		enum track_kind kind;
		uint32_t last; /* valid number */
	} cases[] = {
		{ TRACK_GROUPS, NR_LABELS - 1 },
		{ TRACK_THROTTLED, NR_LABELS - 1 },
		{ TRACK_SLOTS, 19 },
		{ TRACK_GPUS, TRACK_MAX_GPUS * TRACK_GPU_ROWS - 1 },
		{ TRACK_GPU_USE, NR_LABELS - 1 },
		{ TRACK_GPU_USE_MEMORY, NR_LABELS - 1 },
		{ TRACK_CPUS, TRACK_MAX_CPUS - 1 },
	};
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		for (uint32_t over = 0; over <= 1; over++) {
			_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(MAX_BYTES);
			const struct track_key key = { cases[i].kind, PROFILE_CPU, 1 };
			const struct block_row row = { cases[i].last + over, 0, 0, 1 };
			struct got got = { .only = TRACK_NR_KINDS };

			timeline_encode_track(&key, &row, 1, &out);
			assert_int_equal(decode(out.data, out.len, &got), over ? -EBADMSG : 0);
		}
	}
}

static void damaged_timelines_are_refused(void **state)
{
	static const struct {
		const char *what;
		unsigned char bytes[16];
		size_t len;
	} cases[] = {
		{ "a kind alone", { 0 }, 1 },
		{ "no period", { 0, 0 }, 2 },
		{ "no length", { 0, 0, 0 }, 3 },
		{ "a length beyond the end", { 0, 0, 0, 6, 0, 0, 0, 0, 0 }, 9 },
		{ "an empty block", { 0, 0, 0, 0 }, 4 },
		{ "a block of four columns", { 0, 0, 0, 4, 0, 0, 0, 0 }, 8 },
		{ "a number without an end", { 0x80 }, 1 },
		{ "a byte behind the track", { 0, 0, 0, 5, 0, 0, 0, 0, 0, 1 }, 10 },
		{ "a stack that is not 0", { 0, 0, 0, 11, 2, 0, 1, 1, 1, 1, 1, 1, 0, 1, 1 }, 15 },
	};
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		struct got got = { .only = TRACK_NR_KINDS };

		if (decode(cases[i].bytes, cases[i].len, &got) != -EBADMSG)
			fail_msg("%s was taken", cases[i].what);
	}
}

static void shortened_timelines_lose_whole_tracks_or_are_refused(void **state)
{
	_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(MAX_BYTES);
	struct got got = { .only = TRACK_NR_KINDS };
	size_t nr_taken = 0;
	(void)state;

	encode_all(&out);
	for (size_t len = 0; len < out.len; len++)
		nr_taken += decode(out.data, len, &got) == 0;
	assert_int_equal(nr_taken, array_len(keys)); /* after none, one, two and three */
}

static void a_visitor_ends_the_reading(void **state)
{
	_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(MAX_BYTES);
	struct got got = { .only = TRACK_NR_KINDS, .error = -ENOMEM };
	(void)state;

	encode_all(&out);
	assert_int_equal(decode(out.data, out.len, &got), -ENOMEM);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tracks_come_back_as_they_were),
		cmocka_unit_test(tracks_that_are_not_wanted_are_skipped),
		cmocka_unit_test(tracks_of_the_future_are_skipped),
		cmocka_unit_test(numbers_beyond_their_limit_are_refused),
		cmocka_unit_test(damaged_timelines_are_refused),
		cmocka_unit_test(shortened_timelines_lose_whole_tracks_or_are_refused),
		cmocka_unit_test(a_visitor_ends_the_reading),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
