/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/held_windows.h"

#include <string.h>

#include "unit.h"

static struct window *make_window(uint64_t start_ns)
{
	struct window *window = NULL;

	assert_int_equal(window_new(start_ns, start_ns, PROFILE_CPU, &window), 0);
	return window;
}

static void windows_come_back_in_order(void **state)
{
	struct held_windows held = { 0 };
	(void)state;

	assert_null(held_windows_find(&held));
	assert_null(held_windows_take(&held));
	for (unsigned int round = 0; round < 2; round++) {
		for (uint64_t start_ns = 1; start_ns <= 3; start_ns++) {
			struct window *window = make_window(start_ns);

			assert_int_equal(held_windows_add(&held, &window), 0);
			assert_null(window);
		}
		for (uint64_t start_ns = 1; start_ns <= 3; start_ns++) {
			const struct window *first = held_windows_find(&held);
			struct window *window = held_windows_take(&held);

			assert_ptr_equal(window, first);
			assert_int_equal(window->start_ns, start_ns);
			window_free(window);
		}
		assert_null(held_windows_find(&held));
		assert_int_equal(held.nr_bytes, 0);
	}
}

static void the_first_window_can_become_the_last(void **state)
{
	static const uint64_t order[] = { 2, 3, 1 };
	struct held_windows held = { 0 };
	(void)state;

	held_windows_rotate(&held);
	assert_null(held_windows_find(&held));
	for (uint64_t start_ns = 1; start_ns <= array_len(order); start_ns++) {
		struct window *window = make_window(start_ns);

		assert_int_equal(held_windows_add(&held, &window), 0);
	}
	held_windows_rotate(&held);
	assert_int_equal(held.nr, array_len(order));
	for (size_t i = 0; i < array_len(order); i++) {
		struct window *window = held_windows_take(&held);

		assert_int_equal(window->start_ns, order[i]);
		held_windows_rotate(&held);
		held_windows_rotate(&held); /* of the two that are left, of one, of none */
		window_free(window);
	}
	assert_int_equal(held.nr, 0);
	assert_int_equal(held.nr_bytes, 0);
}

/* Strings of a megabyte each: a window with one of them is far larger than one without. */
static void fill(struct window *window)
{
	static char text[1 << 20];
	uint32_t id;

	memset(text, 'x', sizeof(text) - 1);
	assert_int_equal(builder_add_string(window->builder, text, &id), 0);
}

static void what_is_held_is_bounded(void **state)
{
	struct held_windows held = { 0 };
	size_t nr = 0;
	(void)state;

	struct window *window = make_window(0);
	fill(window);
	while (held_windows_add(&held, &window) == 0) {
		nr++;
		window = make_window(nr);
		fill(window);
	}
	assert_non_null(window);
	assert_true(held.nr_bytes <= HELD_WINDOWS_MAX_BYTES);
	assert_true(nr > HELD_WINDOWS_MAX_BYTES / (2 << 20));
	assert_true(nr < HELD_WINDOWS_MAX_BYTES / (1 << 20));
	window_free(held_windows_take(&held));
	assert_int_equal(held_windows_add(&held, &window), 0);
	held_windows_done(&held);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(windows_come_back_in_order),
		cmocka_unit_test(the_first_window_can_become_the_last),
		cmocka_unit_test(what_is_held_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
