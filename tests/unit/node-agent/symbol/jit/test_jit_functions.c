/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/jit/jit_functions.h"

#include "torture.h"
#include "unit.h"

#include <stdio.h>
#include <string.h>

#define MAX_BYTES ((size_t)64 << 20)

static struct jit_functions *make(void)
{
	struct jit_functions *functions = NULL;

	assert_int_equal(jit_functions_new(MAX_BYTES, &functions), 0);
	return functions;
}

static int add(struct jit_functions *functions, uint64_t address, uint64_t nr_bytes,
	       const char *name)
{
	const struct jit_code code = { .address = address, .nr_bytes = nr_bytes, .name = name };

	return jit_functions_add(functions, &code);
}

static const char *name_at(const struct jit_functions *functions, uint64_t address)
{
	struct jit_found found;

	return jit_functions_find(functions, address, &found) ? found.name : "";
}

static void a_function_is_found_from_its_first_to_its_last_byte(void **state)
{
	_cleanup_(jit_functions_freep) struct jit_functions *functions = make();

	(void)state;
	assert_int_equal(add(functions, 0x2000, 0x10, "b"), 0);
	assert_int_equal(add(functions, 0x1000, 0x10, "a"), 0);
	assert_string_equal(name_at(functions, 0x1000), ""); /* not settled */
	assert_int_equal(jit_functions_settle(functions), 0);
	assert_string_equal(name_at(functions, 0xfff), "");
	assert_string_equal(name_at(functions, 0x1000), "a");
	assert_string_equal(name_at(functions, 0x100f), "a");
	assert_string_equal(name_at(functions, 0x1010), "");
	assert_string_equal(name_at(functions, 0x2000), "b");
	assert_string_equal(name_at(functions, UINT64_MAX), "");
	assert_int_equal(jit_functions_count(functions), 2);
}

static void impossible_sizes_are_refused(void **state)
{
	_cleanup_(jit_functions_freep) struct jit_functions *functions = make();

	(void)state;
	assert_int_equal(add(functions, 0x1000, 0, "empty"), -EBADMSG);
	assert_int_equal(add(functions, UINT64_MAX - 15, 0x10, "wraps"), -EBADMSG);
	assert_int_equal(add(functions, UINT64_MAX, UINT64_MAX, "wraps"), -EBADMSG);
	assert_int_equal(add(functions, 0x1000, UINT64_MAX, "huge"), -EBADMSG);
	assert_int_equal(add(functions, 0x1000, (uint64_t)JIT_FUNCTION_MAX_BYTES + 1, "huge"),
			 -EBADMSG);
	assert_int_equal(add(functions, UINT64_MAX - 16, 0x10, "last"), 0);
	assert_int_equal(jit_functions_settle(functions), 0);
	assert_string_equal(name_at(functions, UINT64_MAX - 2), "last");
	assert_int_equal(jit_functions_count(functions), 1);
}

struct overlap {
	uint64_t start, end;
	const char *seen; /* names at 0x10, 0x20, … 0x90; '.' means none */
};

static void where_functions_overlap_the_later_one_wins(void **state)
{
	/* Added over O, which is at 0x20 to 0x80. */
	static const struct overlap over[] = {
		{ 0x20, 0x80, ".NNNNNN.." }, { 0x10, 0x90, "NNNNNNNN." },
		{ 0x30, 0x50, ".ONNOOO.." }, { 0x10, 0x30, "NNOOOOO.." },
		{ 0x70, 0x90, ".OOOOONN." }, { 0x20, 0x30, ".NOOOOO.." },
		{ 0x70, 0x80, ".OOOOON.." }, { 0x80, 0x90, ".OOOOOON." },
		{ 0x10, 0x20, "NOOOOOO.." },
	};

	(void)state;
	for (size_t i = 0; i < 2 * array_len(over); i++) {
		const struct overlap *o = &over[i / 2];
		_cleanup_(jit_functions_freep) struct jit_functions *functions = make();

		assert_int_equal(add(functions, 0x20, 0x60, "O"), 0);
		if (i % 2 == 0)
			assert_int_equal(jit_functions_settle(functions), 0);
		assert_int_equal(add(functions, o->start, o->end - o->start, "N"), 0);
		assert_int_equal(jit_functions_settle(functions), 0);
		for (size_t j = 0; j < 9; j++) {
			const char *name = name_at(functions, 0x10 * (j + 1));

			assert_int_equal(*name ? *name : '.', o->seen[j]);
		}
	}
}

#define SPACE 512

/* The model is an array with a name for each byte. */
static void many_overlaps_match_a_simple_model(void **state)
{
	(void)state;
	srand(1);
	for (int round = 0; round < 200; round++) {
		_cleanup_(jit_functions_freep) struct jit_functions *functions = make();
		int model[SPACE] = { 0 };

		for (int i = 1; i < 100; i++) {
			uint64_t start = (uint64_t)(rand() % (SPACE - 64));
			uint64_t nr = 1 + (uint64_t)(rand() % 64);
			char name[16];

			snprintf(name, sizeof(name), "%d", i);
			assert_int_equal(add(functions, start, nr, name), 0);
			for (uint64_t a = start; a < start + nr; a++)
				model[a] = i;
			if (rand() % 16 == 0)
				assert_int_equal(jit_functions_settle(functions), 0);
		}
		assert_int_equal(jit_functions_settle(functions), 0);
		for (uint64_t a = 0; a < SPACE; a++) {
			char name[16] = "";

			if (model[a])
				snprintf(name, sizeof(name), "%d", model[a]);
			assert_string_equal(name_at(functions, a), name);
		}
	}
}

static void lines_are_found_by_offset(void **state)
{
	_cleanup_(jit_functions_freep) struct jit_functions *functions = make();
	struct jit_found found;

	(void)state;
	assert_int_equal(jit_functions_add_line(functions, 0x48, 12, "b.js"), 0);
	assert_int_equal(jit_functions_add_line(functions, 0x40, 10, "a.js"), 0);
	assert_int_equal(jit_functions_add_line(functions, 0x4c, 11, NULL), 0);
	struct jit_code code = {
		.address = 0x1000, .nr_bytes = 0x20, .name = "f", .line_shift = 0x44
	};
	assert_int_equal(jit_functions_add(functions, &code), 0);
	assert_int_equal(add(functions, 0x2000, 0x10, "without"), 0);
	assert_int_equal(jit_functions_settle(functions), 0);

	assert_true(jit_functions_find(functions, 0x1003, &found));
	assert_int_equal(found.line, 10);
	assert_string_equal(found.filename, "a.js");
	assert_true(jit_functions_find(functions, 0x1004, &found));
	assert_int_equal(found.line, 12);
	assert_true(jit_functions_find(functions, 0x101f, &found));
	assert_int_equal(found.line, 11);
	assert_string_equal(found.filename, "a.js");
	assert_true(jit_functions_find(functions, 0x2000, &found));
	assert_int_equal(found.line, 0);
	assert_string_equal(found.filename, "");
}

static void a_function_moves_with_its_lines(void **state)
{
	_cleanup_(jit_functions_freep) struct jit_functions *functions = make();
	struct jit_code code = {
		.address = 0x1000, .nr_bytes = 0x20, .name = "f", .has_index = true, .index = 7
	};
	struct jit_found found;

	(void)state;
	assert_int_equal(jit_functions_add_line(functions, 0, 3, "f.c"), 0);
	assert_int_equal(jit_functions_add(functions, &code), 0);
	assert_int_equal(jit_functions_move(functions, 8, 0x5000, 0x20), -ENOENT);
	assert_int_equal(jit_functions_move(functions, 7, 0x5000, 0), -EBADMSG);
	assert_int_equal(jit_functions_move(functions, 7, 0x5000, 0x20), 0);
	assert_int_equal(jit_functions_move(functions, 7, 0x6000, 0x20), 0);
	assert_int_equal(jit_functions_settle(functions), 0);
	assert_string_equal(name_at(functions, 0x1000), "f");
	assert_true(jit_functions_find(functions, 0x6010, &found));
	assert_string_equal(found.name, "f");
	assert_int_equal(found.line, 3);
}

static void an_index_that_is_used_again_means_the_later_function(void **state)
{
	_cleanup_(jit_functions_freep) struct jit_functions *functions = make();
	struct jit_code code = { .nr_bytes = 0x10, .has_index = true, .index = 7 };

	(void)state;
	for (uint64_t i = 1; i <= 20000; i++) {
		code.address = i * 0x10;
		code.name = i < 20000 ? "old" : "new";
		assert_int_equal(jit_functions_add(functions, &code), 0);
	}
	assert_int_equal(jit_functions_move(functions, 7, 0x10000000, 0x10), 0);
	assert_int_equal(jit_functions_settle(functions), 0);
	assert_string_equal(name_at(functions, 0x10000000), "new");
}

static void code_compiled_over_and_over_does_not_pile_up(void **state)
{
	_cleanup_(jit_functions_freep) struct jit_functions *functions = make();
	struct jit_found found;
	char name[64];

	(void)state;
	for (int i = 0; i < 200000; i++) {
		struct jit_code code = {
			.address = 0x1000 + (uint64_t)(i % 100) * 0x10,
			.nr_bytes = 0x10,
			.name = name,
			.has_index = true,
			.index = (uint64_t)i,
		};

		snprintf(name, sizeof(name), "a function with quite a long name, number %d", i);
		assert_int_equal(jit_functions_add_line(functions, 0, (uint32_t)i + 1, "f.c"), 0);
		assert_int_equal(jit_functions_add(functions, &code), 0);
	}
	assert_int_equal(jit_functions_settle(functions), 0);
	assert_int_equal(jit_functions_count(functions), 100);
	assert_true(jit_functions_bytes(functions) < (size_t)8 << 20);
	assert_true(jit_functions_find(functions, 0x1000 + 99 * 0x10, &found));
	assert_string_equal(found.name, "a function with quite a long name, number 199999");
	assert_int_equal(found.line, 200000);
	assert_int_equal(jit_functions_move(functions, 199999, 0x9000, 0x10), 0);
}

static void memory_is_bounded(void **state)
{
	_cleanup_(jit_functions_freep) struct jit_functions *functions = NULL;
	char name[64];
	int r = 0;

	(void)state;
	assert_int_equal(jit_functions_new(1 << 20, &functions), 0);
	for (uint64_t i = 0; r == 0 && i < JIT_FUNCTIONS_MAX; i++) {
		snprintf(name, sizeof(name), "function number %d", (int)i);
		r = add(functions, i * 0x10, 0x10, name);
	}
	assert_int_equal(r, -ENOSPC);
	assert_int_equal(jit_functions_settle(functions), 0);
	assert_true(jit_functions_bytes(functions) < (size_t)3 << 20);
	assert_string_equal(name_at(functions, 0x100), "function number 16");

	_cleanup_(jit_functions_freep) struct jit_functions *lines = NULL;
	assert_int_equal(jit_functions_new(1 << 20, &lines), 0);
	for (r = 0; r == 0;)
		r = jit_functions_add_line(lines, 0, 1, "f.c");
	assert_int_equal(r, -ENOSPC);
	jit_functions_drop_lines(lines);
	assert_int_equal(add(lines, 0x10, 0x10, "has room"), 0);
}

static void build_something(void)
{
	struct jit_functions *functions = NULL;
	struct jit_code code = {
		.address = 0x1000, .nr_bytes = 0x20, .name = "f", .has_index = true, .index = 7
	};
	struct jit_found found;
	int r = jit_functions_new(MAX_BYTES, &functions);

	if (r == 0)
		r = jit_functions_add_line(functions, 1, 2, "f.c");
	for (size_t i = 0; r == 0 && i < 40; i++) {
		code.address += 0x18;
		code.index++;
		r = jit_functions_add(functions, &code);
	}
	if (r == 0)
		r = jit_functions_move(functions, 8, 0x9000, 0x10);
	if (r == 0)
		r = jit_functions_settle(functions);
	assert_true(r == 0 || r == -ENOMEM);
	if (r == 0)
		assert_true(jit_functions_find(functions, 0x9000, &found));
	jit_functions_free(functions);
}

static void every_failed_allocation_is_survived(void **state)
{
	unsigned int n = 1;

	(void)state;
	for (torture_begin(n); build_something(), torture_end(); torture_begin(++n))
		;
	assert_true(n > 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_function_is_found_from_its_first_to_its_last_byte),
		cmocka_unit_test(impossible_sizes_are_refused),
		cmocka_unit_test(where_functions_overlap_the_later_one_wins),
		cmocka_unit_test(many_overlaps_match_a_simple_model),
		cmocka_unit_test(lines_are_found_by_offset),
		cmocka_unit_test(a_function_moves_with_its_lines),
		cmocka_unit_test(an_index_that_is_used_again_means_the_later_function),
		cmocka_unit_test(code_compiled_over_and_over_does_not_pile_up),
		cmocka_unit_test(memory_is_bounded),
		cmocka_unit_test(every_failed_allocation_is_survived),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
