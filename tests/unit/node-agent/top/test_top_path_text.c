/* SPDX-License-Identifier: Apache-2.0 */
#include "top/path_text.h"

#include "hostile_names.h"
#include "unit.h"

#include "base/cleanup.h"

#define PLENTY_BYTES 65536

static const struct hot_stack page_fault = {
	.frames = { { "clear_page", FRAME_KERNEL },
		    { "alloc_pages", FRAME_KERNEL },
		    { "handle_fault", FRAME_KERNEL },
		    { "asm_exc_page_fault", FRAME_KERNEL },
		    { "build_table", FRAME_NATIVE },
		    { "main", FRAME_NATIVE } },
	.nr_frames = 6,
};
static const struct hot_stack user = {
	.frames = { { "hash", FRAME_NATIVE },
		    { "lookup", FRAME_NATIVE },
		    { "main", FRAME_NATIVE } },
	.nr_frames = 3,
};

static void assert_path(const struct hot_stack *stack, size_t columns, bool is_utf8,
			const char *expected)
{
	_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(PLENTY_BYTES);
	const struct cells_style style = { .is_utf8 = is_utf8 };

	path_text_append(&out, stack, columns, &style);
	assert_string_equal(strbuf_str(&out), expected);
	assert_true(cells_width(strbuf_str(&out)) <= columns);
}

static void the_whole_stack_is_shown_if_it_fits(void **state)
{
	(void)state;
	assert_path(&user, 80, true, "hash ← lookup ← main");
	assert_path(&user, 80, false, "hash <- lookup <- main");
	assert_path(&user, 20, true, "hash ← lookup ← main");
}

static void the_outermost_callers_are_left_out_first(void **state)
{
	(void)state;
	assert_path(&user, 19, true, "hash ← lookup ← …");
	assert_path(&user, 16, true, "hash ← …");
	assert_path(&user, 5, true, "hash");
	assert_path(&user, 3, true, "…sh");
}

static void a_stack_of_the_kernel_shows_who_called_it(void **state)
{
	(void)state;
	assert_path(&page_fault, 200, true,
		    "clear_page[k] ← alloc_pages[k] ← handle_fault[k] ← asm_exc_page_fault[k] ← "
		    "build_table ← main");
	assert_path(&page_fault, 60, true, "clear_page[k] ← alloc_pages[k] ← … ← build_table ← …");
	assert_path(&page_fault, 40, true, "clear_page[k] ← … ← build_table ← …");
	assert_path(&page_fault, 20, true, "clear_page[k] ← …");
}

static void nothing_is_shown_of_no_stack(void **state)
{
	static const struct hot_stack none = { .nr_frames = 0 };
	(void)state;

	assert_path(&none, 80, true, "");
}

static void hostile_names_become_harmless(void **state)
{
	(void)state;
	for (size_t i = 0; i < array_len(hostile_names); i++) {
		const struct hot_stack stack = {
			.frames = { { hostile_names[i].name, FRAME_NATIVE },
				    { hostile_names[i].name, FRAME_KERNEL } },
			.nr_frames = 2,
		};

		for (size_t columns = 0; columns < 80; columns++) {
			_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(PLENTY_BYTES);
			const struct cells_style style = { .is_utf8 = true };

			path_text_append(&out, &stack, columns, &style);
			assert_printable(strbuf_str(&out), out.len, false);
			assert_true(cells_width(strbuf_str(&out)) <= columns);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_whole_stack_is_shown_if_it_fits),
		cmocka_unit_test(the_outermost_callers_are_left_out_first),
		cmocka_unit_test(a_stack_of_the_kernel_shows_who_called_it),
		cmocka_unit_test(nothing_is_shown_of_no_stack),
		cmocka_unit_test(hostile_names_become_harmless),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
