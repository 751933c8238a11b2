/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cleanup.h"
#include "profile/wait_reason.h"
#include "stacks.h"
#include "store/dict_code.h"
#include "store/ingest.h"
#include "torture.h"
#include "unit.h"

#include <string.h>

#define MAX_BYTES ((size_t)1 << 20)

static const struct stack_line lines[] = {
	{ "nginx", "main;serve;read_[k]", 3 },
	{ "nginx", "main;serve;parse_[i];copy_[i]", 2 },
	{ "python3", "main;eval;work_[p]", 1 },
	{ "sh", "", 5 },
};

static void add(struct dict *dict, const struct stack_line *added, size_t nr)
{
	_cleanup_(profile_unrefp) struct profile *profile = profile_of_stacks(added, nr);
	struct block_rows rows = { .max = 100 };
	uint64_t lost = 0;

	assert_int_equal(ingest_profile(dict, &rows, profile, 0, false, &lost), 0);
	free(rows.items);
}

static void make_dict(struct dict *dict)
{
	assert_int_equal(dict_init(dict), 0);
	add(dict, lines, array_len(lines));
}

static void assert_equal_dicts(const struct dict *a, const struct dict *b)
{
	for (size_t t = 0; t < DICT_NR_TABLES; t++) {
		assert_int_equal(a->tables[t].nr_rows, b->tables[t].nr_rows);
		for (uint32_t i = 0; i < a->tables[t].nr_rows; i++) {
			struct word_row one = dict_get(a, t, i), other = dict_get(b, t, i);

			assert_int_equal(one.nr, other.nr);
			for (size_t w = 0; w < one.nr; w++)
				assert_int_equal(one.words[w], other.words[w]);
		}
	}
}

/* Encodes what was added since a mark, decodes it into the copy, and moves the mark. */
static void pass_on(struct dict *dict, struct dict_mark *since, bool is_head, struct dict *copy)
{
	_cleanup_(strbuf_done) struct strbuf bytes = strbuf_with_max(MAX_BYTES);

	dict_encode(dict, since, is_head, &bytes);
	assert_int_equal(strbuf_error(&bytes), 0);
	assert_int_equal(dict_decode(copy, DICT_FORM_PRESENT, is_head, bytes.data, bytes.len), 0);
	*since = dict_mark(dict);
}

static void parts_decode_to_the_same_dictionary(void **state)
{
	(void)state;
	static const struct stack_line later[] = {
		{ "nginx", "main;serve;parse_[i];grow;copy_[i]", 1 },
		{ "ruby", "main;eval;work_[p];serve;read_[k]", 1 },
		{ "ruby", "main;eval;work_[p];serve;write_[k]", 1 },
		{ "nginx", "main;serve;read_[k];fault_[k]", 1 },
	};
	_cleanup_(dict_done) struct dict dict, copy;
	uint32_t id;

	make_dict(&dict);
	assert_int_equal(dict_init(&copy), 0);
	struct dict_mark since = dict_mark(&copy);
	pass_on(&dict, &since, false, &copy);
	assert_int_equal(dict_add_string(&dict, "added later", &id), 0);
	const uint32_t resource[] = { id, 1 };
	assert_int_equal(dict_add(&dict, DICT_RESOURCES, resource, 2, &id), 0);
	pass_on(&dict, &since, false, &copy);
	add(&dict, later, array_len(later));
	pass_on(&dict, &since, false, &copy);
	assert_equal_dicts(&dict, &copy);
}

static void heads_do_not_change_what_comes_after_them(void **state)
{
	(void)state;
	static const struct stack_line first[] = { { "a", "main;one;two", 1 } };
	static const struct stack_line second[] = { { "a", "main;one;three", 1 } };
	static const struct stack_line third[] = { { "a", "main;one;two;one;three", 1 } };
	_cleanup_(dict_done) struct dict dict, with_heads, without;

	make_dict(&dict);
	assert_int_equal(dict_init(&with_heads), 0);
	assert_int_equal(dict_init(&without), 0);
	struct dict_mark since = dict_mark(&without), again = since;
	pass_on(&dict, &since, false, &with_heads);
	pass_on(&dict, &again, false, &without);
	add(&dict, first, 1);
	pass_on(&dict, &since, true, &with_heads);
	add(&dict, second, 1);
	pass_on(&dict, &since, true, &with_heads);
	assert_equal_dicts(&dict, &with_heads);
	pass_on(&dict, &again, false, &without);
	add(&dict, third, 1);
	pass_on(&dict, &again, false, &without);
	assert_equal_dicts(&dict, &without);
}

/* As when a part could not be written. */
static void a_part_may_be_encoded_anew_after_rows_were_removed(void **state)
{
	(void)state;
	static const struct stack_line lost[] = { { "a", "main;serve;work;read", 1 } };
	static const struct stack_line kept[] = { { "a", "main;serve;work;write", 1 } };
	_cleanup_(strbuf_done) struct strbuf bytes = strbuf_with_max(MAX_BYTES);
	_cleanup_(dict_done) struct dict dict, copy;

	make_dict(&dict);
	assert_int_equal(dict_init(&copy), 0);
	struct dict_mark since = dict_mark(&copy);
	pass_on(&dict, &since, false, &copy);
	add(&dict, lost, 1);
	dict_encode(&dict, &since, false, &bytes);
	dict_truncate(&dict, &since);
	add(&dict, kept, 1);
	pass_on(&dict, &since, false, &copy);
	assert_equal_dicts(&dict, &copy);
}

/* Decodes into an empty dictionary. */
static int decode(const void *bytes, size_t len)
{
	_cleanup_(dict_done) struct dict dict;

	assert_int_equal(dict_init(&dict), 0);
	return dict_decode(&dict, DICT_FORM_PRESENT, false, bytes, len);
}

static void damaged_parts_are_refused(void **state)
{
	(void)state;
	/* The numbers of rows of the eight tables, each with the rows behind it. */
	static const struct {
		const char *what;
		unsigned char bytes[24];
		size_t len;
	} cases[] = {
		{ "nothing", { 0 }, 0 },
		{ "seven tables", { 0, 0, 0, 0, 0, 0, 0 }, 7 },
		{ "bytes behind the tables", { 0, 0, 0, 0, 0, 0, 0, 0, 0 }, 9 },
		{ "a string without an end", { 1, 'a' }, 2 },
		{ "more rows than bytes", { 0xff, 0xff, 0xff, 0xff, 0x0f }, 5 },
		{ "more columns than bytes", { 0, 3, 0, 0, 0, 0, 0, 0 }, 8 },
		{ "a mapping of a string that is missing",
		  { 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0 },
		  12 },
		{ "a function of a string that is missing",
		  { 0, 0, 1, 0, 0, 7, 0, 0, 0, 0, 0, 0 },
		  12 },
		{ "a function of a string before the first one",
		  { 0, 0, 1, 4, 0, 0, 0, 0, 0, 0, 0, 0 },
		  12 },
		{ "a frame without a function", { 0, 0, 0, 1, 2, 0, 0, 0, 0, 0, 0 }, 11 },
		{ "a frame of an unknown kind", { 0, 0, 0, 1, 3, 99, 0, 0, 0, 0, 0, 0 }, 12 },
		{ "a frame longer than the part", { 0, 0, 0, 1, 0xff, 0x7f, 0, 0, 0, 0 }, 10 },
		{ "a node that is its own parent", { 0, 0, 0, 0, 1, 0, 2, 0, 0, 0, 0 }, 11 },
		{ "a node whose parent is before the root",
		  { 0, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0 },
		  11 },
		{ "a node too many steps below its parent",
		  { 0, 0, 0, 0, 1, 0x80, 2, 0, 0, 0, 0 },
		  11 },
		{ "a node of the next frame, which is missing",
		  { 0, 0, 0, 0, 1, 1, 8, 0, 0, 0 },
		  10 },
		{ "a node of a frame that is missing", { 0, 0, 0, 0, 1, 1, 9, 5, 0, 0, 0 }, 11 },
		{ "a node of a frame at an unknown place", { 0, 0, 0, 0, 1, 1, 10, 0, 0, 0 }, 10 },
		{ "a resource with half a pair", { 0, 0, 0, 0, 0, 1, 1, 0, 0, 0 }, 10 },
		{ "a process of a string that is missing",
		  { 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 9, 0, 0 },
		  13 },
		{ "labels of a process that is missing",
		  { 0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0 },
		  17 },
		{ "labels with an unknown reason",
		  { 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, REASON_NR },
		  17 },
		{ "labels without a reason",
		  { 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0 },
		  16 },
		{ "a word that is too large",
		  { 0, 0, 0, 0, 0, 0, 1, 0xff, 0xff, 0xff, 0xff, 0x1f, 0, 0, 0, 0, 0 },
		  17 },
	};

	for (size_t i = 0; i < array_len(cases); i++)
		if (decode(cases[i].bytes, cases[i].len) != -EBADMSG)
			fail_msg("%s was taken", cases[i].what);
}

/* As files before version 6 have them. */
static void label_sets_of_older_files_have_no_reason(void **state)
{
	(void)state;
	static const unsigned char part[] = { 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0,
					      0, 0, 0, 0, 8, 4, 0, 0, 0, 0, 3, 1 };
	_cleanup_(dict_done) struct dict dict;

	assert_int_equal(dict_init(&dict), 0);
	assert_int_equal(dict_decode(&dict, DICT_FORM_WITHOUT_REASONS, false, part, sizeof(part)),
			 0);
	assert_int_equal(dict.tables[DICT_LABELS].nr_rows, 2);
	assert_int_equal(dict_get(&dict, DICT_LABELS, 0).words[LABELS_PID], 4);
	assert_int_equal(dict_get(&dict, DICT_LABELS, 0).words[LABELS_CPU], 3);
	assert_int_equal(dict_get(&dict, DICT_LABELS, 1).words[LABELS_PID], 6);
	assert_int_equal(dict_get(&dict, DICT_LABELS, 1).words[LABELS_CPU], 1);
	for (uint32_t i = 0; i < 2; i++)
		assert_int_equal(dict_get(&dict, DICT_LABELS, i).words[LABELS_REASON], REASON_NONE);
	for (size_t len = 0; len < sizeof(part); len++)
		assert_int_equal(dict_decode(&dict, DICT_FORM_WITHOUT_REASONS, false, part, len),
				 -EBADMSG);
	assert_int_equal(dict_decode(&dict, DICT_FORM_PRESENT, false, part, sizeof(part)),
			 -EBADMSG);
}

static void every_shortened_part_is_refused(void **state)
{
	(void)state;
	_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(MAX_BYTES);
	_cleanup_(dict_done) struct dict dict, empty;

	make_dict(&dict);
	assert_int_equal(dict_init(&empty), 0);
	struct dict_mark none = dict_mark(&empty);
	dict_encode(&dict, &none, false, &out);
	for (size_t len = 0; len < out.len; len++)
		assert_int_equal(decode(out.data, len), -EBADMSG);
	assert_int_equal(decode(out.data, out.len), 0);
}

static void memory_may_be_short(void **state)
{
	(void)state;
	_cleanup_(dict_done) struct dict whole, empty;
	_cleanup_(strbuf_done) struct strbuf bytes = strbuf_with_max(MAX_BYTES);

	make_dict(&whole);
	assert_int_equal(dict_init(&empty), 0);
	struct dict_mark none = dict_mark(&empty);
	for (unsigned int n = 1;; n++) {
		torture_begin(n);
		dict_encode(&whole, &none, false, &bytes);
		if (!torture_end())
			break;
		assert_int_equal(strbuf_error(&bytes), -ENOMEM);
		strbuf_done(&bytes);
		bytes = strbuf_with_max(MAX_BYTES);
	}
	for (unsigned int n = 1;; n++) {
		_cleanup_(dict_done) struct dict dict;

		torture_begin(n);
		int r = dict_init(&dict);
		if (r == 0)
			r = dict_decode(&dict, DICT_FORM_PRESENT, false, bytes.data, bytes.len);
		bool has_failed = torture_end();
		assert_int_equal(r, has_failed ? -ENOMEM : 0);
		if (!has_failed)
			break;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parts_decode_to_the_same_dictionary),
		cmocka_unit_test(heads_do_not_change_what_comes_after_them),
		cmocka_unit_test(a_part_may_be_encoded_anew_after_rows_were_removed),
		cmocka_unit_test(damaged_parts_are_refused),
		cmocka_unit_test(label_sets_of_older_files_have_no_reason),
		cmocka_unit_test(every_shortened_part_is_refused),
		cmocka_unit_test(memory_may_be_short),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
