/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/rows/functions.h"

#include "base/cleanup.h"
#include "torture.h"
#include "unit.h"

#include <stdbool.h>
#include <string.h>

#define MAX_FUNCTIONS 8

struct span {
	uint64_t start;
	uint64_t end;
	uint32_t source;
};

struct span_case {
	struct span in[MAX_FUNCTIONS];
	struct span out[MAX_FUNCTIONS];
	size_t nr_overlaps;
};

static const struct code_segment all_code[] = { { .len = UINT64_MAX } };

/* Lists the spans of one source. */
struct span_source {
	struct unwind_source base;
	const struct span *spans;
	uint32_t number;
};

static int list_spans(struct unwind_source *base, struct unwind_functions *functions,
		      struct unwind_losses *losses)
{
	const struct span_source *source = (const struct span_source *)base;

	(void)losses;
	for (size_t i = 0; i < MAX_FUNCTIONS && source->spans[i].end > 0; i++) {
		const struct span *span = &source->spans[i];
		const struct unwind_function function = { span->start, span->end, i, 99 };

		if (span->source == source->number)
			assert_int_equal(unwind_functions_add(functions, &function), 0);
	}
	return 0;
}

/* Returns the number of overlaps. */
static uint64_t collect(struct unwind_functions *functions, const struct span *spans,
			const struct code_segments *segments)
{
	static const struct unwind_source_ops ops = { .list = list_spans };
	struct span_source sources[UNWIND_MAX_SOURCES];
	struct unwind_source *bases[UNWIND_MAX_SOURCES];
	struct unwind_losses losses = { 0 };

	for (uint32_t i = 0; i < UNWIND_MAX_SOURCES; i++) {
		sources[i] = (struct span_source){ { &ops }, spans, i };
		bases[i] = i == 5 ? NULL : &sources[i].base;
	}
	functions->max_items = MAX_FUNCTIONS;
	assert_int_equal(
		unwind_functions_collect(functions, bases, UNWIND_MAX_SOURCES, segments, &losses),
		0);
	return losses.nr_bad_entries;
}

static uint64_t collect_all(struct unwind_functions *functions, const struct span *spans)
{
	return collect(functions, spans, &(struct code_segments){ all_code, 1 });
}

static void overlaps_go_to_the_better_source_and_then_to_the_earlier_function(void **state)
{
	static const struct span_case cases[] = {
		{ { { 10, 20, 0 }, { 20, 30, 0 } }, { { 10, 20, 0 }, { 20, 30, 0 } }, 0 },
		{ { { 20, 30, 1 }, { 10, 20, 0 } }, { { 10, 20, 0 }, { 20, 30, 1 } }, 0 },
		/* of one source */
		{ { { 10, 25, 0 }, { 20, 30, 0 } }, { { 10, 25, 0 }, { 25, 30, 0 } }, 1 },
		{ { { 10, 90, 0 }, { 20, 30, 0 } }, { { 10, 90, 0 } }, 1 },
		{ { { 10, 20, 0 }, { 10, 30, 0 } }, { { 10, 20, 0 }, { 20, 30, 0 } }, 1 },
		{ { { 10, 50, 0 }, { 20, 90, 0 }, { 40, 60, 0 }, { 95, 99, 0 } },
		  { { 10, 50, 0 }, { 50, 90, 0 }, { 95, 99, 0 } },
		  2 },
		/* of two */
		{ { { 10, 20, 1 }, { 10, 20, 0 } }, { { 10, 20, 0 } }, 0 },
		{ { { 10, 25, 1 }, { 20, 30, 0 } }, { { 10, 20, 1 }, { 20, 30, 0 } }, 0 },
		{ { { 10, 25, 0 }, { 20, 30, 1 } }, { { 10, 25, 0 }, { 25, 30, 1 } }, 0 },
		{ { { 10, 90, 1 }, { 20, 30, 0 } }, { { 10, 20, 1 }, { 20, 30, 0 } }, 0 },
		{ { { 10, 90, 0 }, { 20, 30, 1 } }, { { 10, 90, 0 } }, 0 },
		{ { { 10, 40, 2 }, { 20, 50, 1 }, { 30, 60, 0 } },
		  { { 10, 20, 2 }, { 20, 30, 1 }, { 30, 60, 0 } },
		  0 },
		{ { { 0, UINT64_MAX, 15 }, { 5, UINT64_MAX, 0 } },
		  { { 0, 5, 15 }, { 5, UINT64_MAX, 0 } },
		  0 },
	};
	(void)state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		_cleanup_(unwind_functions_done) struct unwind_functions functions = { 0 };
		const struct span *out = cases[i].out;
		size_t nr = 0;

		assert_int_equal(collect_all(&functions, cases[i].in), cases[i].nr_overlaps);
		for (; nr < MAX_FUNCTIONS && out[nr].end > 0; nr++) {
			assert_true(nr < functions.nr_items);
			assert_int_equal(functions.items[nr].start, out[nr].start);
			assert_int_equal(functions.items[nr].end, out[nr].end);
			assert_int_equal(functions.items[nr].source, out[nr].source);
		}
		assert_int_equal(functions.nr_items, nr);
	}
}

/* A cheap generator; what it gives is the same each time. */
static uint32_t next_number(uint32_t *state, uint32_t below)
{
	*state = *state * 1664525 + 1013904223;
	return (*state >> 8) % below;
}

/* Random spans; says which bytes have a function of the best source. */
static void make_spans(uint32_t *seed, struct span spans[static MAX_FUNCTIONS],
		       bool is_best[static 128])
{
	memset(is_best, false, 128);
	for (size_t i = 0; i < MAX_FUNCTIONS; i++) {
		spans[i].start = next_number(seed, 60);
		spans[i].end = spans[i].start + 1 + next_number(seed, 40);
		spans[i].source = next_number(seed, 3);
		if (spans[i].source == 0)
			memset(is_best + spans[i].start, true, spans[i].end - spans[i].start);
	}
}

static void assert_partition(const struct unwind_functions *functions, bool is_best[static 128])
{
	uint64_t end = 0;

	for (size_t i = 0; i < functions->nr_items; i++) {
		const struct unwind_function *function = &functions->items[i];

		assert_true(function->start >= end && function->end > function->start);
		end = function->end;
		for (uint64_t at = function->start; at < end; at++) {
			assert_int_equal(is_best[at], function->source == 0);
			is_best[at] = false;
		}
	}
	assert_null(memchr(is_best, true, 128));
}

static void no_byte_has_two_functions_and_the_best_source_loses_none(void **state)
{
	struct span spans[MAX_FUNCTIONS];
	bool is_best[128];
	uint32_t seed = 1;
	(void)state;

	for (size_t round = 0; round < 2000; round++) {
		_cleanup_(unwind_functions_done) struct unwind_functions functions = { 0 };

		make_spans(&seed, spans, is_best);
		(void)collect_all(&functions, spans);
		assert_partition(&functions, is_best);
	}
}

static void functions_that_begin_outside_of_code_are_left_out(void **state)
{
	static const struct code_segment code[] = { { 0x1000, 0x100, 0 }, { 0x3000, 0x100, 0 } };
	static const struct code_segments segments = { code, 2 };
	static const struct span spans[] = {
		{ 0x500, 0x600, 7 },
		{ 0, 0x2000, 7 }, /* what the linker threw away */
		{ 0x0fff, 0x1010, 7 },
		{ 0x1000, 0x1010, 7 },
		{ 0x10ff, 0x2000, 7 },
		{ 0x1100, 0x1110, 7 },
		{ 0x3080, 0x3080, 7 }, /* empty */
		{ UINT64_MAX - 1, UINT64_MAX, 7 },
	};
	_cleanup_(unwind_functions_done) struct unwind_functions functions = { 0 };
	(void)state;

	assert_int_equal(collect(&functions, spans, &segments), 0);
	assert_int_equal(functions.nr_items, 2);
	assert_int_equal(functions.items[0].start, 0x1000);
	assert_int_equal(functions.items[0].source, 7);
	assert_int_equal(functions.items[1].start, 0x10ff);
}

static void a_list_is_searched_by_the_ends_of_its_functions(void **state)
{
	static const struct span spans[MAX_FUNCTIONS] = { { 10, 20, 0 }, { 30, 40, 0 } };
	static const struct {
		uint64_t address;
		size_t index;
	} cases[] = { { 0, 0 }, { 10, 0 }, { 19, 0 }, { 20, 1 }, { 39, 1 }, { 40, 2 }, { 99, 2 } };
	_cleanup_(unwind_functions_done) struct unwind_functions functions = { 0 };
	(void)state;

	(void)collect_all(&functions, spans);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(unwind_functions_find(&functions, cases[i].address),
				 cases[i].index);
}

static void a_full_list_takes_no_more(void **state)
{
	_cleanup_(unwind_functions_done) struct unwind_functions functions = { .max_items = 2 };
	const struct unwind_function function = { 1, 2, 0, 0 };
	(void)state;

	assert_int_equal(unwind_functions_add(&functions, &function), 0);
	assert_int_equal(unwind_functions_add(&functions, &function), 0);
	assert_int_equal(unwind_functions_add(&functions, &function), -ENOSPC);
	assert_int_equal(functions.nr_items, 2);
}

static void memory_that_ran_out_loses_nothing(void **state)
{
	const struct unwind_function function = { 1, 2, 0, 0 };
	(void)state;

	for (unsigned int n = 1;; n++) {
		_cleanup_(unwind_functions_done) struct unwind_functions functions = {
			.max_items = 100
		};
		size_t nr = 0;

		torture_begin(n);
		while (nr < 100 && unwind_functions_add(&functions, &function) == 0)
			nr++;
		assert_int_equal(functions.nr_items, nr);
		if (!torture_end())
			break;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(overlaps_go_to_the_better_source_and_then_to_the_earlier_function),
		cmocka_unit_test(no_byte_has_two_functions_and_the_best_source_loses_none),
		cmocka_unit_test(functions_that_begin_outside_of_code_are_left_out),
		cmocka_unit_test(a_list_is_searched_by_the_ends_of_its_functions),
		cmocka_unit_test(a_full_list_takes_no_more),
		cmocka_unit_test(memory_that_ran_out_loses_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
