/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/frame_cache.h"

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

static void add(struct frame_cache *cache, uint64_t place, bool is_final,
		const struct symbol_frames *frames)
{
	assert_int_equal(frame_cache_add(cache, place, is_final, frames, DEMANGLE_SHORT), 0);
}

static void what_was_added_is_found_demangled(void **state)
{
	(void)state;
	_cleanup_(frame_cache_done) struct frame_cache cache = { 0 };
	struct symbol_frames frames;
	bool is_final = false;

	add(&cache, 42, true, &inlined);
	assert_true(frame_cache_find(&cache, 42, &is_final, &frames));
	assert_true(is_final);
	assert_int_equal(frames.nr_lines, 2);
	assert_int_equal(frames.language, LANGUAGE_RUST);
	assert_int_equal(frames.address, 0x1234);
	assert_string_equal(frames.lines[0].name, "space::inner");
	assert_string_equal(frames.lines[0].system_name, "_ZN5space5innerEv");
	assert_string_equal(frames.lines[0].filename, "/src/inner.h");
	assert_int_equal(frames.lines[0].line, 7);
	assert_int_equal(frames.lines[0].start_line, 5);
	assert_string_equal(frames.lines[1].name, "space::outer");
}

static void what_was_not_added_is_not_found(void **state)
{
	(void)state;
	_cleanup_(frame_cache_done) struct frame_cache cache = { 0 };
	struct symbol_frames frames;
	bool is_final;

	assert_false(frame_cache_find(&cache, 0, &is_final, &frames));
	add(&cache, 1, true, &inlined);
	assert_false(frame_cache_find(&cache, 0, &is_final, &frames));
	assert_false(frame_cache_find(&cache, UINT64_MAX, &is_final, &frames));
}

static void better_frames_replace_those_of_their_place(void **state)
{
	(void)state;
	_cleanup_(frame_cache_done) struct frame_cache cache = { 0 };
	struct symbol_frames frames;
	bool is_final = true;

	add(&cache, 1, false, &nameless);
	assert_true(frame_cache_find(&cache, 1, &is_final, &frames));
	assert_false(is_final);
	assert_int_equal(frames.nr_lines, 0);
	add(&cache, 1, true, &inlined);
	assert_true(frame_cache_find(&cache, 1, &is_final, &frames));
	assert_true(is_final);
	assert_int_equal(frames.nr_lines, 2);
}

static void equal_names_of_many_places_stand_once(void **state)
{
	enum { NR_PLACES = 10000 };
	(void)state;
	_cleanup_(frame_cache_done) struct frame_cache cache = { 0 };
	struct symbol_frames frames;
	const char *first = NULL;
	bool is_final;

	for (uint64_t place = 0; place < NR_PLACES; place++) {
		add(&cache, place << 36, true, &inlined);
		assert_true(frame_cache_find(&cache, place << 36, &is_final, &frames));
		first = first ?: frames.lines[0].name;
		assert_ptr_equal(frames.lines[0].name, first);
	}
	assert_true(frame_cache_bytes(&cache) < (size_t)NR_PLACES * 160);
	frame_cache_done(&cache);
	assert_int_equal(frame_cache_bytes(&cache), 0);
	assert_false(frame_cache_find(&cache, 0, &is_final, &frames));
}

static void a_failed_allocation_leaves_what_was_there(void **state)
{
	bool has_failed = true;
	(void)state;

	for (unsigned int n = 1; has_failed; n++) {
		_cleanup_(frame_cache_done) struct frame_cache cache = { 0 };
		struct symbol_frames frames;
		bool is_final = true;

		add(&cache, 1, false, &nameless);
		torture_begin(n);
		int r = frame_cache_add(&cache, 1, true, &inlined, DEMANGLE_SHORT);
		has_failed = torture_end();
		assert_true(r == 0 || (r == -ENOMEM && has_failed));
		assert_true(frame_cache_find(&cache, 1, &is_final, &frames));
		assert_int_equal(frames.nr_lines, r == 0 ? 2 : 0);
		assert_int_equal(is_final, r == 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_added_is_found_demangled),
		cmocka_unit_test(what_was_not_added_is_not_found),
		cmocka_unit_test(better_frames_replace_those_of_their_place),
		cmocka_unit_test(equal_names_of_many_places_stand_once),
		cmocka_unit_test(a_failed_allocation_leaves_what_was_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
