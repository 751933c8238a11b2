/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cleanup.h"
#include "stacks.h"
#include "store/dict.h"
#include "store/dict_part.h"
#include "store/ingest.h"
#include "torture.h"
#include "unit.h"

#include <stdio.h>
#include <string.h>

static const struct stack_line lines[] = {
	{ "nginx", "main;serve;read_[k]", 3 },
	{ "nginx", "main;serve;parse_[i];copy_[i]", 2 },
	{ "python3", "main;eval;work_[p]", 1 },
	{ "sh", "", 5 },
};

static struct profile *make_profile(void)
{
	return profile_of_stacks(lines, array_len(lines));
}

static int fill(struct dict *dict, struct block_rows *rows, const struct profile *profile)
{
	uint64_t lost = 0;

	return ingest_profile(dict, rows, profile, 0, false, &lost);
}

/* A dictionary of the profile above. */
static void make_dict(struct dict *dict)
{
	_cleanup_(profile_unrefp) struct profile *profile = make_profile();
	struct block_rows rows = { .max = 100 };

	assert_int_equal(dict_init(dict), 0);
	assert_int_equal(fill(dict, &rows, profile), 0);
	assert_int_equal(rows.nr, array_len(lines));
	free(rows.items);
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

static void equal_things_have_one_row(void **state)
{
	(void)state;
	_cleanup_(profile_unrefp) struct profile *profile = make_profile();
	_cleanup_(dict_done) struct dict dict;
	struct block_rows rows = { .max = 100 };

	make_dict(&dict);
	struct dict_mark before = dict_mark(&dict);
	assert_int_equal(fill(&dict, &rows, profile), 0);
	struct dict_mark after = dict_mark(&dict);
	assert_memory_equal(&before, &after, sizeof(before));
	free(rows.items);
}

static void the_newest_rows_can_be_removed(void **state)
{
	(void)state;
	_cleanup_(dict_done) struct dict dict, other;
	uint32_t id, again;

	make_dict(&dict);
	make_dict(&other);
	struct dict_mark mark = dict_mark(&dict);
	assert_int_equal(dict_add_string(&dict, "one", &id), 0);
	assert_int_equal(dict_add_string(&dict, "two", &again), 0);
	dict_truncate(&dict, &mark);
	assert_equal_dicts(&dict, &other);
	assert_int_equal(dict_add_string(&dict, "two", &again), 0);
	assert_int_equal(again, id);
	assert_string_equal(dict_string(&dict, again), "two");
}

static void long_strings_are_shortened(void **state)
{
	(void)state;
	_cleanup_(dict_done) struct dict dict;
	static char text[20000];
	uint32_t id;

	memset(text, 'x', sizeof(text) - 1);
	assert_int_equal(dict_init(&dict), 0);
	assert_int_equal(dict_add_string(&dict, text, &id), 0);
	assert_int_equal(strlen(dict_string(&dict, id)), 16383);
}

static void many_strings_are_found_at_once(void **state)
{
	(void)state;
	_cleanup_(dict_done) struct dict dict;
	static char texts[100][16], very_long[DICT_STRING_MAX_BYTES];
	const char *list[array_len(texts) + 3];
	uint32_t ids[array_len(list)] = { 0 }, known[array_len(list)] = { 0 };
	size_t nr = array_len(texts);

	memset(very_long, 'x', sizeof(very_long) - 1);
	assert_int_equal(dict_init(&dict), 0);
	for (size_t i = 0; i < nr; i++) {
		snprintf(texts[i], sizeof(texts[i]), "name %zu", i);
		list[i] = texts[i];
		if (i % 2 == 0)
			assert_int_equal(dict_add_string(&dict, texts[i], &ids[i]), 0);
	}
	assert_int_equal(dict_add_string(&dict, very_long, &ids[nr]), 0);
	list[nr] = very_long;
	list[nr + 1] = texts[2];
	list[nr + 2] = "";
	dict_find_strings(&dict, list, array_len(list), known);
	for (size_t i = 0; i < nr; i++)
		assert_int_equal(known[i], i % 2 == 0 ? ids[i] + 1 : 0);
	/* It is left to dict_add_string(). */
	assert_int_equal(known[nr], 0);
	assert_int_equal(known[nr + 1], ids[2] + 1);
	assert_int_equal(known[nr + 2], 1);
}

static void only_restored_rows_come_back(void **state)
{
	(void)state;
	_cleanup_(dict_part_freep) struct dict_part *part = NULL;
	_cleanup_(dict_done) struct dict dict;
	uint32_t strings[2], resource, other, id;

	make_dict(&dict);
	struct dict_mark mark = dict_mark(&dict);
	assert_int_equal(dict_add_string(&dict, "unused", &id), 0);
	assert_int_equal(dict_add_string(&dict, "key", &strings[0]), 0);
	assert_int_equal(dict_add_string(&dict, "value", &strings[1]), 0);
	assert_int_equal(dict_add(&dict, DICT_RESOURCES, strings, 2, &resource), 0);
	assert_int_equal(dict_part_cut(&dict, &mark, &part), 0);
	assert_int_equal(dict_part_restore(part, DICT_RESOURCES, resource, &id), 0);
	assert_int_equal(dict_part_restore(part, DICT_RESOURCES, resource, &other), 0);
	assert_int_equal(id, other);
	assert_int_equal(dict_part_restore(part, DICT_STRINGS, 1, &other), 0);
	assert_int_equal(other, 1);
	struct dict_mark after = dict_mark(&dict);
	assert_int_equal(after.nr[DICT_STRINGS], mark.nr[DICT_STRINGS] + 2);
	assert_int_equal(after.nr[DICT_RESOURCES], mark.nr[DICT_RESOURCES] + 1);
	assert_string_equal(dict_string(&dict, dict_get(&dict, DICT_RESOURCES, id).words[0]),
			    "key");
}

static void memory_may_be_short(void **state)
{
	(void)state;
	_cleanup_(profile_unrefp) struct profile *profile = make_profile();

	for (unsigned int n = 1;; n++) {
		_cleanup_(dict_done) struct dict dict;
		struct block_rows rows = { .max = 100 };

		torture_begin(n);
		int r = dict_init(&dict);
		if (r == 0)
			r = fill(&dict, &rows, profile);
		bool has_failed = torture_end();
		free(rows.items);
		assert_int_equal(r, has_failed ? -ENOMEM : 0);
		if (!has_failed)
			break;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_things_have_one_row),
		cmocka_unit_test(the_newest_rows_can_be_removed),
		cmocka_unit_test(long_strings_are_shortened),
		cmocka_unit_test(many_strings_are_found_at_once),
		cmocka_unit_test(only_restored_rows_come_back),
		cmocka_unit_test(memory_may_be_short),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
