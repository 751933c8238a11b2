/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/v8/v8_script.h"

#include "base/cleanup.h"
#include "unit.h"
#include "v8_memory.h"

#include <string.h>

#define SOURCE "a\nb\r\nc\rd"

static uint32_t line_at(struct v8_memory *objects, uint64_t script, int32_t position)
{
	return v8_script_line(&objects->heap, script, position);
}

static void lines_are_counted_in_the_source(void **state)
{
	(void)state;
	static const uint32_t expected[] = { 1, 1, 2, 2, 2, 3, 3, 4 };
	_cleanup_(v8_memory_done) struct v8_memory objects;

	v8_memory_init(&objects, V8_MEMORY_12);
	uint64_t script = v8_memory_put_script(&objects, "f.js", SOURCE);
	for (size_t i = 0; i < array_len(expected); i++)
		assert_int_equal(line_at(&objects, script, (int32_t)i), expected[i]);
	assert_int_equal(line_at(&objects, script, (int32_t)strlen(SOURCE) + 1), 0);
	assert_int_equal(line_at(&objects, script, -1), 0);
}

static void sources_of_two_bytes_have_lines_too(void **state)
{
	(void)state;
	static const uint16_t source[] = { 'a', 0x2028, 'b', '\n', 0x6570, 0x2029, 'c', '\r', 'd' };
	_cleanup_(v8_memory_done) struct v8_memory objects;

	v8_memory_init(&objects, V8_MEMORY_12);
	uint64_t script = v8_memory_put_script(&objects, "f.js", "");
	v8_memory_set(&objects, script, objects.values[V8_SCRIPT_SOURCE],
		      v8_memory_put_two_byte(&objects, source, array_len(source)));
	assert_int_equal(line_at(&objects, script, 0), 1);
	assert_int_equal(line_at(&objects, script, 2), 2);
	assert_int_equal(line_at(&objects, script, 4), 3);
	assert_int_equal(line_at(&objects, script, 6), 4);
	assert_int_equal(line_at(&objects, script, 7), 4);
	assert_int_equal(line_at(&objects, script, 8), 5);
}

/* In any order of positions, the notes of a source give the lines that a search gives. */
static void notes_of_a_long_source_give_the_same_lines(void **state)
{
	(void)state;
	static const int32_t positions[] = {
		150000, 65536, 65537, 199999, 131072, 3, 150000, 65535
	};
	_cleanup_(v8_memory_done) struct v8_memory objects;
	static char source[200001];
	struct memory_notes notes = { 0 };

	v8_memory_init(&objects, V8_MEMORY_12);
	memset(source, 'x', sizeof(source) - 1);
	for (size_t i = 0; i + 1 < sizeof(source); i += 7)
		source[i] = '\n';
	source[65535] = '\r';
	uint64_t script = v8_memory_put_script(&objects, "f.js", source);
	for (size_t i = 0; i < array_len(positions); i++) {
		objects.heap.memory->notes = NULL;
		uint32_t line = line_at(&objects, script, positions[i]);
		objects.heap.memory->notes = &notes;
		assert_int_equal(line_at(&objects, script, positions[i]), line);
	}
	assert_int_equal(notes.nr, 3);
}

static void line_ends_that_v8_counted_are_used(void **state)
{
	(void)state;
	const uint64_t ends[] = { v8_memory_smi(10), v8_memory_smi(20), v8_memory_smi(30) };
	_cleanup_(v8_memory_done) struct v8_memory objects;

	v8_memory_init(&objects, V8_MEMORY_12);
	uint64_t script = v8_memory_put_script(&objects, "f.js", SOURCE);
	v8_memory_set(&objects, script, objects.values[V8_SCRIPT_LINE_ENDS],
		      v8_memory_put_array(&objects, ends, array_len(ends)));
	assert_int_equal(line_at(&objects, script, 0), 1);
	assert_int_equal(line_at(&objects, script, 10), 1);
	assert_int_equal(line_at(&objects, script, 11), 2);
	assert_int_equal(line_at(&objects, script, 30), 3);
	assert_int_equal(line_at(&objects, script, 31), 4);
}

static void a_script_may_begin_below_the_start_of_its_file(void **state)
{
	(void)state;
	_cleanup_(v8_memory_done) struct v8_memory objects;

	v8_memory_init(&objects, V8_MEMORY_12);
	uint64_t script = v8_memory_put_script(&objects, "f.js", SOURCE);
	v8_memory_set(&objects, script, objects.values[V8_SCRIPT_NAME] + 8, v8_memory_smi(100));
	assert_int_equal(line_at(&objects, script, 2), 102);
	v8_memory_set(&objects, script, objects.values[V8_SCRIPT_NAME] + 8, v8_memory_smi(-100));
	assert_int_equal(line_at(&objects, script, 2), 0);
}

static void damaged_scripts_have_no_lines(void **state)
{
	(void)state;
	const uint64_t ends[] = { 5, 6, 7 };
	_cleanup_(v8_memory_done) struct v8_memory objects;

	v8_memory_init(&objects, V8_MEMORY_12);
	uint64_t script = v8_memory_put_script(&objects, "f.js", SOURCE);
	const uint64_t bad[] = { 0, 5, v8_memory_smi(1), UINT64_MAX, script };

	for (size_t i = 0; i < array_len(bad); i++) {
		v8_memory_set(&objects, script, objects.values[V8_SCRIPT_SOURCE], bad[i]);
		assert_int_equal(line_at(&objects, script, 2), 0);
	}
	v8_memory_set(&objects, script, objects.values[V8_SCRIPT_LINE_ENDS],
		      v8_memory_put_array(&objects, ends, array_len(ends)));
	assert_int_equal(line_at(&objects, script, 2), 0);
	assert_int_equal(line_at(&objects, 0, 2), 0);
}

static void a_source_that_claims_to_be_huge_costs_little(void **state)
{
	(void)state;
	_cleanup_(v8_memory_done) struct v8_memory objects;

	v8_memory_init(&objects, V8_MEMORY_12);
	uint64_t script = v8_memory_put_script(&objects, "f.js", "");
	v8_memory_set(&objects, script, objects.values[V8_SCRIPT_SOURCE],
		      v8_memory_put_reference(&objects, V8_STRING_EXTERNAL, UINT32_MAX, 0, 0));
	uint64_t before = objects.memory.nr_left;
	assert_int_equal(line_at(&objects, script, INT32_MAX), 0);
	assert_true(before - objects.memory.nr_left < 4096);
}

static void files_have_names_without_their_scheme(void **state)
{
	(void)state;
	static const struct {
		const char *name, *expected;
	} cases[] = {
		{ "/srv/app.js", "/srv/app.js" },
		{ "file:///srv/app.mjs", "/srv/app.mjs" },
		{ "node:internal/x", "node:internal/x" },
		{ "", "" },
		{ "file:/", "file:/" },
	};
	_cleanup_(v8_memory_done) struct v8_memory objects;

	v8_memory_init(&objects, V8_MEMORY_12);
	for (size_t i = 0; i < array_len(cases); i++) {
		_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(100);
		uint64_t script = v8_memory_put_script(&objects, cases[i].name, "");

		assert_int_equal(v8_script_name(&objects.heap, script, &out), 0);
		assert_string_equal(strbuf_str(&out), cases[i].expected);
		v8_memory_set(&objects, script, objects.values[V8_SCRIPT_NAME], script);
		strbuf_clear(&out);
		assert_int_equal(v8_script_name(&objects.heap, script, &out), 0);
		assert_string_equal(strbuf_str(&out), "");
	}
}

/* A script of eval() may tell its URL; that of others is not their name. */
static void scripts_without_a_name_may_have_a_url(void **state)
{
	(void)state;
	static const enum v8_memory_layout layouts[] = { V8_MEMORY_13, V8_MEMORY_COMPRESSED,
							 V8_MEMORY_CAGED };
	static const char *const names[] = { "", "/srv/app.js" };

	for (size_t i = 0; i < array_len(layouts) * array_len(names); i++) {
		_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(100);
		_cleanup_(v8_memory_done) struct v8_memory objects;
		const char *name = names[i % 2];

		v8_memory_init(&objects, layouts[i / 2]);
		uint64_t script = v8_memory_put_script(&objects, name, "");
		uint64_t offset = objects.values[V8_SCRIPT_LAZY] + 2 * v8_word_bytes(&objects.heap);
		v8_memory_set(&objects, script, offset,
			      v8_memory_put_string(&objects, "evaluated.js"));
		assert_int_equal(v8_script_name(&objects.heap, script, &out), 0);
		assert_string_equal(strbuf_str(&out), *name ? name : "evaluated.js");
		strbuf_clear(&out);
		v8_memory_set(&objects, script, offset, script);
		assert_int_equal(v8_script_name(&objects.heap, script, &out), 0);
		assert_string_equal(strbuf_str(&out), name);
		objects.values[V8_SCRIPT_LAZY] = 0;
		strbuf_clear(&out);
		assert_int_equal(v8_script_name(&objects.heap, script, &out), 0);
		assert_string_equal(strbuf_str(&out), name);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_are_counted_in_the_source),
		cmocka_unit_test(sources_of_two_bytes_have_lines_too),
		cmocka_unit_test(notes_of_a_long_source_give_the_same_lines),
		cmocka_unit_test(line_ends_that_v8_counted_are_used),
		cmocka_unit_test(a_script_may_begin_below_the_start_of_its_file),
		cmocka_unit_test(damaged_scripts_have_no_lines),
		cmocka_unit_test(a_source_that_claims_to_be_huge_costs_little),
		cmocka_unit_test(files_have_names_without_their_scheme),
		cmocka_unit_test(scripts_without_a_name_may_have_a_url),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
