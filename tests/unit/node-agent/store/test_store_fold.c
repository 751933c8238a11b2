/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cleanup.h"
#include "stacks.h"
#include "store/fold.h"
#include "torture.h"
#include "unit.h"

#include <stdio.h>
#include <string.h>

#define STACK_BYTES 256

struct scene {
	struct dict dict;
	struct dict_mark since;
	struct block_rows rows;
};

static void scene_done(struct scene *scene)
{
	dict_done(&scene->dict);
	free(scene->rows.items);
}

static void add(struct scene *scene, const struct stack_line *lines, size_t nr)
{
	_cleanup_(profile_unrefp) struct profile *profile = profile_of_stacks(lines, nr);
	uint64_t lost = 0;

	assert_int_equal(ingest_profile(&scene->dict, &scene->rows, profile, 0, false, &lost), 0);
}

static void make_scene(struct scene *scene)
{
	*scene = (struct scene){ .rows.max = 1000 };
	assert_int_equal(dict_init(&scene->dict), 0);
	scene->since = dict_mark(&scene->dict);
}

static int fold(struct scene *scene, uint64_t min_count, uint64_t *ret_folded)
{
	struct fold_rows blocks = { .rows = &scene->rows, .counts_values = true };

	return fold_rare(&scene->dict, &scene->since, &blocks, 1, min_count, ret_folded);
}

/* A stack as "root;leaf". */
static void name_stack(const struct dict *dict, uint32_t node, char text[static STACK_BYTES])
{
	char rest[STACK_BYTES];

	text[0] = '\0';
	while (node != 0) {
		const uint32_t *words = dict_get(dict, DICT_NODES, node).words;
		uint32_t function =
			dict_get(dict, DICT_FRAMES, words[NODE_FRAME]).words[FRAME_FIRST_FUNCTION];
		const char *name = dict_string(
			dict, dict_get(dict, DICT_FUNCTIONS, function).words[FUNCTION_NAME]);

		snprintf(rest, sizeof(rest), "%s", text);
		snprintf(text, STACK_BYTES, "%.100s%s%.100s", name, rest[0] ? ";" : "", rest);
		node = words[NODE_PARENT];
	}
}

static void assert_stacks(const struct scene *scene, const char *const *stacks, size_t nr)
{
	char text[STACK_BYTES];

	assert_int_equal(scene->rows.nr, nr);
	for (size_t i = 0; i < nr; i++) {
		name_stack(&scene->dict, scene->rows.items[i].node, text);
		assert_string_equal(text, stacks[i]);
	}
}

static const struct stack_line lines[] = {
	{ "a", "main;hot", 10 },	 { "a", "main;rare;x", 1 },	 { "b", "main;rare;y", 1 },
	{ "b", "main;other;z;deep", 1 }, { "c", "main;other;z;low", 2 }, { "d", "lonely;z", 1 },
};

static void rare_stacks_end_in_their_callers(void **state)
{
	(void)state;
	_cleanup_(scene_done) struct scene scene;
	static const char *const expected[] = {
		"main;hot",
		"main;[folded]",
		"main;[folded]",
		"main;other;z;[folded]",
		"main;other;z;[folded]",
		"[folded]",
	};
	uint64_t folded = 0, total = 0;

	make_scene(&scene);
	add(&scene, lines, array_len(lines));
	assert_int_equal(fold(&scene, 3, &folded), 0);
	assert_stacks(&scene, expected, array_len(expected));
	assert_int_equal(folded, 6);
	for (size_t i = 0; i < scene.rows.nr; i++)
		total += scene.rows.items[i].value;
	assert_int_equal(total, 16);
}

static void labels_stay_exact(void **state)
{
	(void)state;
	_cleanup_(scene_done) struct scene scene;
	static const char comms[] = { 'a', 'a', 'b', 'b', 'c', 'd' };
	uint64_t folded;

	make_scene(&scene);
	add(&scene, lines, array_len(lines));
	assert_int_equal(fold(&scene, 100, &folded), 0);
	assert_int_equal(folded, 16);
	for (size_t i = 0; i < scene.rows.nr; i++) {
		const uint32_t *words =
			dict_get(&scene.dict, DICT_LABELS, scene.rows.items[i].labels).words;

		assert_int_equal(dict_string(&scene.dict, words[LABELS_PROCESS_COMM])[0], comms[i]);
	}
}

static void known_stacks_stay_whole(void **state)
{
	(void)state;
	_cleanup_(scene_done) struct scene scene;
	static const char *const expected[] = { "main;rare;x", "main;hot;[folded]" };
	const struct stack_line later[] = { { "a", "main;rare;x", 1 }, { "a", "main;hot;new", 1 } };
	uint64_t folded;

	make_scene(&scene);
	add(&scene, lines, array_len(lines));
	scene.since = dict_mark(&scene.dict);
	scene.rows.nr = 0;
	add(&scene, later, array_len(later));
	assert_int_equal(fold(&scene, 5, &folded), 0);
	assert_stacks(&scene, expected, array_len(expected));
	assert_int_equal(folded, 1);
}

static void what_only_rare_stacks_needed_is_gone(void **state)
{
	(void)state;
	_cleanup_(scene_done) struct scene scene;
	struct dict_mark before, after;
	uint64_t folded;

	make_scene(&scene);
	add(&scene, lines, array_len(lines));
	before = dict_mark(&scene.dict);
	assert_int_equal(fold(&scene, 5, &folded), 0);
	after = dict_mark(&scene.dict);
	assert_true(after.nr[DICT_NODES] < before.nr[DICT_NODES]);
	assert_true(after.nr[DICT_FUNCTIONS] < before.nr[DICT_FUNCTIONS]);
	assert_true(after.nr[DICT_STRINGS] < before.nr[DICT_STRINGS]);
	assert_int_equal(after.nr[DICT_LABELS], before.nr[DICT_LABELS]);
}

static void a_threshold_of_one_keeps_everything(void **state)
{
	(void)state;
	_cleanup_(scene_done) struct scene scene;
	static const char *const expected[] = {
		"main;hot",	     "main;rare;x",	 "main;rare;y",
		"main;other;z;deep", "main;other;z;low", "lonely;z",
	};
	uint64_t folded = 1;

	make_scene(&scene);
	add(&scene, lines, array_len(lines));
	assert_int_equal(fold(&scene, 1, &folded), 0);
	assert_stacks(&scene, expected, array_len(expected));
	assert_int_equal(folded, 0);
}

static uint32_t parent_of(const struct dict *dict, uint32_t node)
{
	return dict_get(dict, DICT_NODES, node).words[NODE_PARENT];
}

/* The parent of each is the node before, or an ancestor of that. */
static void nodes_are_in_the_order_of_the_tree(void **state)
{
	(void)state;
	static const struct stack_line mixed[] = {
		{ "a", "main;one;x", 1 },   { "a", "main;two;x", 1 }, { "b", "other;one", 1 },
		{ "a", "main;one;y;z", 1 }, { "b", "other;two", 1 },  { "a", "main;one;x;deep", 1 },
	};
	_cleanup_(scene_done) struct scene scene;
	uint64_t folded;

	make_scene(&scene);
	add(&scene, mixed, array_len(mixed));
	assert_int_equal(fold(&scene, 1, &folded), 0);
	assert_int_equal(folded, 0);
	uint32_t nr = (uint32_t)scene.dict.tables[DICT_NODES].nr_rows;
	assert_int_equal(nr, 1 + 11);
	for (uint32_t node = 1; node < nr; node++) {
		uint32_t at = node - 1;

		while (at != parent_of(&scene.dict, node) && at != 0)
			at = parent_of(&scene.dict, at);
		assert_int_equal(at, parent_of(&scene.dict, node));
	}
}

static void memory_may_be_short(void **state)
{
	(void)state;
	bool has_failed;
	unsigned int n = 1;

	do {
		_cleanup_(scene_done) struct scene scene;
		uint64_t folded;

		make_scene(&scene);
		add(&scene, lines, array_len(lines));
		torture_begin(n++);
		int r = fold(&scene, 3, &folded);
		has_failed = torture_end();
		assert_int_equal(r, has_failed ? -ENOMEM : 0);
		dict_truncate(&scene.dict, &scene.since);
	} while (has_failed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rare_stacks_end_in_their_callers),
		cmocka_unit_test(labels_stay_exact),
		cmocka_unit_test(known_stacks_stay_whole),
		cmocka_unit_test(what_only_rare_stacks_needed_is_gone),
		cmocka_unit_test(a_threshold_of_one_keeps_everything),
		cmocka_unit_test(nodes_are_in_the_order_of_the_tree),
		cmocka_unit_test(memory_may_be_short),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
