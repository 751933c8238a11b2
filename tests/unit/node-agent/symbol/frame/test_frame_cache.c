/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/frame/frame_cache.h"

#include "base/cleanup.h"
#include "torture.h"
#include "unit.h"

#include <string.h>

static const struct symbol_line two_lines[] = {
	{ .system_name = "_ZN5space5innerEv",
	  .filename = "/src/inner.h",
	  .line = 7,
	  .start_line = 5 },
	{ .system_name = "_ZN5space5outerEv", .filename = "/src/outer.cc", .line = 20 },
};

static const struct symbol_frames inlined = {
	.lines = two_lines,
	.nr_lines = 2,
	.language = LANGUAGE_RUST,
	.address = 0x1234,
};

static const struct symbol_frames nameless = { .address = 0x99 };

static void add(struct frame_cache *cache, uint64_t place, enum frames_state is,
		const struct symbol_frames *frames)
{
	assert_int_equal(frame_cache_add(cache, place, is, frames, DEMANGLE_SHORT), 0);
}

/* Calls all open names of a place so. */
static int name_all(struct frame_cache *cache, uint64_t place, const char *pretty)
{
	uint32_t names[SYMBOL_MAX_LINES];
	int nr = frame_cache_open_names(cache, place, names);

	for (int i = 0; i < nr; i++)
		assert_int_equal(frame_cache_name(cache, names[i], pretty), 0);
	return nr;
}

static void what_was_added_is_found_by_its_raw_names(void **state)
{
	(void)state;
	_cleanup_(frame_cache_done) struct frame_cache cache = { 0 };
	struct symbol_frames frames;
	enum frames_state is = FRAMES_ASKED;

	add(&cache, 42, FRAMES_FINAL, &inlined);
	assert_true(frame_cache_find(&cache, 42, &is, &frames));
	assert_int_equal(is, FRAMES_FINAL);
	assert_int_equal(frames.nr_lines, 2);
	assert_int_equal(frames.language, LANGUAGE_RUST);
	assert_int_equal(frames.address, 0x1234);
	assert_string_equal(frames.lines[0].name, "_ZN5space5innerEv");
	assert_string_equal(frames.lines[0].system_name, "_ZN5space5innerEv");
	assert_string_equal(frames.lines[0].filename, "/src/inner.h");
	assert_int_equal(frames.lines[0].line, 7);
	assert_int_equal(frames.lines[0].start_line, 5);
	assert_string_equal(frames.lines[1].name, "_ZN5space5outerEv");
}

static void a_name_is_that_of_all_places_that_have_it(void **state)
{
	(void)state;
	_cleanup_(frame_cache_done) struct frame_cache cache = { 0 };
	uint32_t names[SYMBOL_MAX_LINES];
	struct symbol_frames frames;
	enum frames_state is;

	add(&cache, 1, FRAMES_FINAL, &inlined);
	assert_int_equal(frame_cache_open_names(&cache, 1, names), 2);
	assert_string_equal(frame_cache_raw_name(&cache, names[0]), "_ZN5space5innerEv");
	assert_int_equal(frame_cache_name_state(&cache, names[0]), NAME_NEW);
	frame_cache_set_name_state(&cache, names[0], NAME_LEFT);
	assert_int_equal(frame_cache_name_state(&cache, names[0]), NAME_LEFT);
	assert_int_equal(frame_cache_name(&cache, names[0], "space::inner"), 0);
	assert_int_equal(frame_cache_open_names(&cache, 1, names), 1);
	add(&cache, 2, FRAMES_FINAL, &inlined);
	assert_int_equal(name_all(&cache, 2, ""), 1);
	for (uint64_t place = 1; place <= 2; place++) {
		assert_int_equal(frame_cache_open_names(&cache, place, names), 0);
		assert_true(frame_cache_find(&cache, place, &is, &frames));
		assert_string_equal(frames.lines[0].name, "space::inner");
		assert_string_equal(frames.lines[0].system_name, "_ZN5space5innerEv");
		assert_string_equal(frames.lines[1].name, "_ZN5space5outerEv");
	}
	assert_int_equal(frame_cache_open_names(&cache, 3, names), -ENOENT);
}

static void names_that_cannot_be_mangled_are_not_open(void **state)
{
	static char longest[DEMANGLE_MAX_BYTES + 2];
	const struct symbol_line lines[] = {
		{ .system_name = "main", .filename = "" },
		{ .system_name = longest, .filename = "" },
		{ .system_name = "_ZN5space5innerEv", .filename = "" },
	};
	const struct symbol_frames plain = { .lines = lines, .nr_lines = 2 };
	const struct symbol_frames mangled = { .lines = &lines[2], .nr_lines = 1 };
	(void)state;
	_cleanup_(frame_cache_done) struct frame_cache cache = { 0 };
	uint32_t names[SYMBOL_MAX_LINES];

	memset(longest, 'Z', sizeof(longest) - 1);
	longest[0] = '_';
	add(&cache, 1, FRAMES_FINAL, &plain);
	assert_int_equal(frame_cache_open_names(&cache, 1, names), 0);
	assert_int_equal(frame_cache_add(&cache, 2, FRAMES_FINAL, &mangled, DEMANGLE_NONE), 0);
	assert_int_equal(frame_cache_open_names(&cache, 2, names), 0);
}

static void what_was_not_added_is_not_found(void **state)
{
	(void)state;
	_cleanup_(frame_cache_done) struct frame_cache cache = { 0 };
	struct symbol_frames frames;
	enum frames_state is;

	assert_false(frame_cache_find(&cache, 0, &is, &frames));
	add(&cache, 1, FRAMES_FINAL, &inlined);
	assert_false(frame_cache_find(&cache, 0, &is, &frames));
	assert_false(frame_cache_find(&cache, UINT64_MAX, &is, &frames));
}

static void a_place_without_a_name_may_have_a_function(void **state)
{
	static const struct {
		uint64_t function, address, expected;
	} cases[] = {
		{ 0x1000, 0x1034, 0x1000 },
		{ 0x1000, 0x1000, 0x1000 },
		{ 1, UINT32_MAX, 1 },
		{ 1, UINT64_C(1) + UINT32_MAX, 0 }, /* no function is that large */
		{ 0x1034, 0x1000, 0 },
		{ 0, 0x1000, 0 },
	};
	_cleanup_(frame_cache_done) struct frame_cache cache = { 0 };
	struct symbol_frames frames;
	enum frames_state is;
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		const struct symbol_frames added = { .address = cases[i].address,
						     .function = cases[i].function };

		add(&cache, i, FRAMES_FINAL, &added);
		assert_true(frame_cache_find(&cache, i, &is, &frames));
		assert_int_equal(frames.nr_lines, 0);
		assert_int_equal(frames.address, cases[i].address);
		assert_int_equal(frames.function, cases[i].expected);
	}
	add(&cache, 0, FRAMES_FINAL, &inlined); /* debug information that came later */
	assert_true(frame_cache_find(&cache, 0, &is, &frames));
	assert_int_equal(frames.nr_lines, 2);
}

static void better_frames_replace_those_of_their_place(void **state)
{
	(void)state;
	_cleanup_(frame_cache_done) struct frame_cache cache = { 0 };
	struct symbol_frames frames;
	enum frames_state is = FRAMES_ASKED;

	add(&cache, 1, FRAMES_PROVISIONAL, &nameless);
	assert_true(frame_cache_find(&cache, 1, &is, &frames));
	assert_int_equal(is, FRAMES_PROVISIONAL);
	assert_int_equal(frames.nr_lines, 0);
	add(&cache, 1, FRAMES_FINAL, &inlined);
	assert_true(frame_cache_find(&cache, 1, &is, &frames));
	assert_int_equal(is, FRAMES_FINAL);
	assert_int_equal(frames.nr_lines, 2);
}

static void a_place_can_be_settled_as_it_is(void **state)
{
	(void)state;
	_cleanup_(frame_cache_done) struct frame_cache cache = { 0 };
	struct symbol_frames frames;
	enum frames_state is;

	frame_cache_settle(&cache, 1);
	add(&cache, 1, FRAMES_ASKED, &inlined);
	add(&cache, 2, FRAMES_ASKED, &nameless);
	frame_cache_settle(&cache, 1);
	frame_cache_settle(&cache, 3);
	assert_true(frame_cache_find(&cache, 1, &is, &frames));
	assert_int_equal(is, FRAMES_FINAL);
	assert_int_equal(frames.nr_lines, 2);
	assert_true(frame_cache_find(&cache, 2, &is, &frames));
	assert_int_equal(is, FRAMES_ASKED);
	assert_false(frame_cache_find(&cache, 3, &is, &frames));
}

static void equal_names_of_many_places_stand_once(void **state)
{
	enum { NR_PLACES = 10000 };
	(void)state;
	_cleanup_(frame_cache_done) struct frame_cache cache = { 0 };
	struct symbol_frames frames;
	const char *first = NULL;
	enum frames_state is;

	for (uint64_t place = 0; place < NR_PLACES; place++) {
		add(&cache, place << 36, FRAMES_FINAL, &inlined);
		assert_true(frame_cache_find(&cache, place << 36, &is, &frames));
		first = first ?: frames.lines[0].name;
		assert_ptr_equal(frames.lines[0].name, first);
	}
	assert_true(frame_cache_bytes(&cache) < (size_t)NR_PLACES * 160);
	frame_cache_done(&cache);
	assert_int_equal(frame_cache_bytes(&cache), 0);
	assert_false(frame_cache_find(&cache, 0, &is, &frames));
}

static void a_failed_allocation_leaves_what_was_there(void **state)
{
	bool has_failed = true;
	(void)state;

	for (unsigned int n = 1; has_failed; n++) {
		_cleanup_(frame_cache_done) struct frame_cache cache = { 0 };
		struct symbol_frames frames;
		enum frames_state is = FRAMES_ASKED;

		add(&cache, 1, FRAMES_PROVISIONAL, &nameless);
		torture_begin(n);
		int r = frame_cache_add(&cache, 1, FRAMES_FINAL, &inlined, DEMANGLE_SHORT);
		has_failed = torture_end();
		assert_true(r == 0 || (r == -ENOMEM && has_failed));
		assert_true(frame_cache_find(&cache, 1, &is, &frames));
		assert_int_equal(frames.nr_lines, r == 0 ? 2 : 0);
		assert_int_equal(is, r == 0 ? FRAMES_FINAL : FRAMES_PROVISIONAL);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_added_is_found_by_its_raw_names),
		cmocka_unit_test(a_name_is_that_of_all_places_that_have_it),
		cmocka_unit_test(names_that_cannot_be_mangled_are_not_open),
		cmocka_unit_test(what_was_not_added_is_not_found),
		cmocka_unit_test(a_place_without_a_name_may_have_a_function),
		cmocka_unit_test(better_frames_replace_those_of_their_place),
		cmocka_unit_test(a_place_can_be_settled_as_it_is),
		cmocka_unit_test(better_frames_replace_those_of_their_place),
		cmocka_unit_test(equal_names_of_many_places_stand_once),
		cmocka_unit_test(a_failed_allocation_leaves_what_was_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
