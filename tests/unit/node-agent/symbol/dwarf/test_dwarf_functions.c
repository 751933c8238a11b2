/* SPDX-License-Identifier: Apache-2.0 */
/* Converts trees of DIEs that the test writes. */
#include "symbol/dwarf/dwarf_functions.h"

#include "base/cleanup.h"
#include "base/fileio.h"
#include "dwarf_image.h"
#include "lines_answer.h"
#include "symbol/dwarf/dwarf_lines.h"
#include "unit.h"

#include <string.h>
#include <sys/mman.h>

#define MAX_BYTES ((size_t)1 << 20)

static struct dwarf_image image;

static int setup(void **state)
{
	(void)state;
	dwarf_image_init(&image);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	dwarf_image_done(&image);
	return 0;
}

static void end_lists(unsigned int nr)
{
	while (nr-- > 0)
		dwarf_image_die(&image, IMAGE_END);
}

static uint32_t abstract(const char *name)
{
	uint32_t offset = dwarf_image_die(&image, IMAGE_ABSTRACT);

	dwarf_image_string(&image, name);
	dwarf_image_u8(&image, 5);
	return offset;
}

static int open_image(struct dwarf_lines **ret_lines)
{
	_cleanup_close_ int fd = memfd_create("dwarf", MFD_CLOEXEC);
	_cleanup_(strbuf_done) struct strbuf bytes = strbuf_with_max(MAX_BYTES);

	dwarf_image_write(&image, &bytes);
	assert_int_equal(strbuf_error(&bytes), 0);
	assert_int_equal(fd_write_all(fd, bytes.data, bytes.len), 0);
	return dwarf_lines_open(fd, -1, ret_lines);
}

/* Returns the number of functions at an address. */
static size_t resolve(uint64_t address, struct lines_answer *answer)
{
	_cleanup_(dwarf_lines_closep) struct dwarf_lines *lines = NULL;

	assert_int_equal(open_image(&lines), 0);
	lines_answer_ask(answer, lines, &address, 1);
	int nr = lines_answer_find(answer, address);
	assert_true(nr >= 0 || address == 0 || address == UINT64_MAX);
	return nr > 0 ? (size_t)nr : 0;
}

/* Checks the names at an address, innermost first: "inner<outer". */
static void assert_names(uint64_t address, const char *expected)
{
	_cleanup_(lines_answer_done) struct lines_answer answer = { 0 };
	_cleanup_(strbuf_done) struct strbuf names = strbuf_with_max(MAX_BYTES);
	size_t nr = resolve(address, &answer);

	for (size_t i = 0; i < nr; i++)
		strbuf_appendf(&names, "%s%s", i > 0 ? "<" : "", answer.lines[i].system_name);
	assert_string_equal(strbuf_str(&names), expected);
}

static void inlined_functions_come_before_their_callers(void **state)
{
	(void)state;
	dwarf_image_unit(&image, 0x1000, 0x1000);
	uint32_t inner = abstract("inner");
	uint32_t middle = abstract("middle");

	dwarf_image_subprogram(&image, "outer", 0x1100, 0x100);
	dwarf_image_inlined(&image, middle, 0x1120, 0x40);
	dwarf_image_inlined(&image, inner, 0x1130, 0x10);
	end_lists(4);
	dwarf_image_end_unit(&image);

	assert_names(0x10ff, "");
	assert_names(0x1100, "outer");
	assert_names(0x1120, "middle<outer");
	assert_names(0x1130, "inner<middle<outer");
	assert_names(0x113f, "inner<middle<outer");
	assert_names(0x1140, "middle<outer");
	assert_names(0x1160, "outer");
	assert_names(0x11ff, "outer");
	assert_names(0x1200, "");
	assert_names(0, "");
	assert_names(UINT64_MAX, "");
}

static void lines_say_where_each_function_called_the_next(void **state)
{
	(void)state;
	_cleanup_(lines_answer_done) struct lines_answer answer = { 0 };

	dwarf_image_unit(&image, 0x1000, 0x1000);
	uint32_t inner = abstract("inner");
	dwarf_image_subprogram(&image, "outer", 0x1100, 0x100);
	dwarf_image_inlined(&image, inner, 0x1120, 0x40);
	end_lists(3);
	dwarf_image_end_unit(&image);

	assert_int_equal(resolve(0x1120, &answer), 2);
	assert_int_equal(answer.lines[0].start_line, 5);
	assert_int_equal(answer.lines[0].line, 0);
	assert_int_equal(answer.lines[1].line, 7);
	assert_string_equal(answer.lines[1].filename, "");
}

static void functions_in_namespaces_and_blocks_are_found(void **state)
{
	(void)state;
	dwarf_image_unit(&image, 0x1000, 0x1000);
	uint32_t inner = abstract("inner");

	dwarf_image_die(&image, IMAGE_NAMESPACE);
	dwarf_image_string(&image, "space");
	dwarf_image_subprogram(&image, "outer", 0x1100, 0x100);
	dwarf_image_die(&image, IMAGE_VARIABLE);
	dwarf_image_string(&image, "x");
	dwarf_image_die(&image, IMAGE_BLOCK);
	dwarf_image_die(&image, IMAGE_BLOCK);
	end_lists(1);
	dwarf_image_inlined(&image, inner, 0x1120, 0x40);
	end_lists(4);
	dwarf_image_subprogram(&image, "last", 0x1300, 0x100);
	end_lists(2);
	dwarf_image_end_unit(&image);

	assert_names(0x1120, "inner<outer");
	assert_names(0x1300, "last");
}

static void the_linkage_name_is_preferred(void **state)
{
	(void)state;
	dwarf_image_unit(&image, 0x1000, 0x1000);
	dwarf_image_die(&image, IMAGE_LINKED);
	dwarf_image_string(&image, "_Z1fv");
	dwarf_image_string(&image, "f");
	dwarf_image_code(&image, 0x1000, 0x10);
	dwarf_image_die(&image, IMAGE_LINKED);
	dwarf_image_string(&image, "");
	dwarf_image_string(&image, "g");
	dwarf_image_code(&image, 0x1010, 0x10);
	end_lists(1);
	dwarf_image_end_unit(&image);

	assert_names(0x1000, "_Z1fv");
	assert_names(0x1010, "g");
}

static void a_function_within_a_function_is_not_inlined_in_it(void **state)
{
	(void)state;
	dwarf_image_unit(&image, 0x1000, 0x1000);
	dwarf_image_subprogram(&image, "outer", 0x1000, 0x100);
	dwarf_image_subprogram(&image, "nested", 0x1200, 0x100);
	end_lists(3);
	dwarf_image_end_unit(&image);

	assert_names(0x1200, "nested");
}

static void units_without_ranges_are_found_by_aranges(void **state)
{
	(void)state;
	dwarf_image_unit(&image, 0x1000, 0x100);
	dwarf_image_subprogram(&image, "first", 0x1000, 0x100);
	end_lists(2);
	dwarf_image_arange(&image, 0x5000, 0x100);
	dwarf_image_end_unit(&image);
	dwarf_image_begin_unit(&image);
	dwarf_image_die(&image, IMAGE_SILENT_UNIT);
	dwarf_image_string(&image, "silent");
	dwarf_image_subprogram(&image, "second", 0x2000, 0x100);
	end_lists(2);
	dwarf_image_arange(&image, 0x2000, 0x100);
	dwarf_image_end_unit(&image);

	assert_names(0x1000, "first");
	assert_names(0x2000, "second");
	assert_names(0x5000, "");
}

static void of_units_that_overlap_the_one_with_a_function_answers(void **state)
{
	(void)state;
	dwarf_image_unit(&image, 0x1000, 0x1000);
	dwarf_image_subprogram(&image, "wide", 0x1000, 0x1000);
	end_lists(2);
	dwarf_image_end_unit(&image);
	dwarf_image_unit(&image, 0x1100, 0x200);
	dwarf_image_subprogram(&image, "narrow", 0x1100, 0x100);
	end_lists(2);
	dwarf_image_end_unit(&image);

	assert_names(0x1100, "narrow");
	assert_names(0x1200, "wide");
	assert_names(0x1300, "wide");
}

static void code_the_linker_dropped_does_not_count(void **state)
{
	(void)state;
	dwarf_image_unit(&image, 0x10, 0x1000);
	uint32_t inner = abstract("inner");
	dwarf_image_subprogram(&image, "dropped", 0, 0x100);
	dwarf_image_inlined(&image, inner, 0x20, 0x10);
	end_lists(2);
	dwarf_image_subprogram(&image, "wrapped", UINT64_MAX, 0x100);
	end_lists(1);
	dwarf_image_subprogram(&image, "kept", 0x10, 0x40);
	end_lists(2);
	dwarf_image_end_unit(&image);

	assert_names(0x20, "kept");
	assert_names(0x5, "");
}

static void a_function_may_end_after_the_one_around_it(void **state)
{
	(void)state;
	dwarf_image_unit(&image, 0x1000, 0x1000);
	uint32_t inner = abstract("inner");
	dwarf_image_subprogram(&image, "outer", 0x1000, 0x100);
	dwarf_image_inlined(&image, inner, 0x10f0, 0x20);
	end_lists(2);
	dwarf_image_subprogram(&image, "overlapping", 0x1080, 0x10);
	end_lists(2);
	dwarf_image_end_unit(&image);

	assert_names(0x10ff, "inner<outer");
	assert_names(0x110f, "inner<outer");
	assert_names(0x1110, "");
	assert_names(0x1085, "overlapping");
	assert_names(0x1090, "outer");
}

static void references_in_a_circle_lead_to_no_name(void **state)
{
	(void)state;
	dwarf_image_unit(&image, 0x1000, 0x1000);
	uint32_t circle = dwarf_image_die(&image, IMAGE_REFERENCE);
	dwarf_image_u32(&image, circle + 5);
	dwarf_image_die(&image, IMAGE_REFERENCE);
	dwarf_image_u32(&image, circle);
	dwarf_image_subprogram(&image, "outer", 0x1000, 0x100);
	dwarf_image_inlined(&image, circle, 0x1010, 0x10);
	end_lists(3);
	dwarf_image_end_unit(&image);

	assert_names(0x1010, "outer");
}

static void references_to_nowhere_lead_to_no_name(void **state)
{
	(void)state;
	static const uint32_t targets[] = { 0, 1, 11, 0x7fffffff, UINT32_MAX };

	dwarf_image_unit(&image, 0x1000, 0x1000);
	dwarf_image_subprogram(&image, "outer", 0x1000, 0x100);
	for (uint32_t i = 0; i < 5; i++) {
		dwarf_image_inlined(&image, targets[i], 0x1000 + 0x10 * i, 0x10);
		end_lists(1);
	}
	end_lists(2);
	dwarf_image_end_unit(&image);

	for (uint32_t i = 0; i < 5; i++)
		assert_names(0x1000 + 0x10 * i, i == 2 ? "unit<outer" : "outer");
}

static void a_function_without_any_name_has_no_lines(void **state)
{
	(void)state;
	dwarf_image_unit(&image, 0x1000, 0x1000);
	dwarf_image_die(&image, IMAGE_NAMELESS);
	dwarf_image_code(&image, 0x1000, 0x100);
	end_lists(2);
	dwarf_image_end_unit(&image);

	assert_names(0x1000, "");
}

static void functions_nested_too_deep_are_left_out(void **state)
{
	(void)state;
	dwarf_image_unit(&image, 0x1000, 0x1000);
	uint32_t inner = abstract("inner");
	dwarf_image_subprogram(&image, "outer", 0x1000, 0x100);
	for (unsigned int i = 0; i < 5000; i++)
		dwarf_image_die(&image, IMAGE_BLOCK);
	dwarf_image_inlined(&image, inner, 0x1000, 0x10);
	end_lists(5002);
	dwarf_image_subprogram(&image, "next", 0x1100, 0x100);
	end_lists(2);
	dwarf_image_end_unit(&image);

	assert_names(0x1000, "outer");
	assert_names(0x1100, "next");
}

static void a_truncated_tree_is_read_up_to_its_end(void **state)
{
	(void)state;
	dwarf_image_unit(&image, 0x1000, 0x1000);
	dwarf_image_subprogram(&image, "first", 0x1000, 0x100);
	dwarf_image_die(&image, IMAGE_BLOCK);
	dwarf_image_end_unit(&image);

	assert_names(0x1000, "first");
}

static void a_die_of_unknown_kind_ends_the_tree(void **state)
{
	(void)state;
	dwarf_image_unit(&image, 0x1000, 0x1000);
	dwarf_image_subprogram(&image, "first", 0x1000, 0x100);
	end_lists(1);
	dwarf_image_u8(&image, 99);
	dwarf_image_subprogram(&image, "second", 0x1100, 0x100);
	end_lists(2);
	dwarf_image_end_unit(&image);

	assert_names(0x1000, "first");
	assert_names(0x1100, "");
}

static void an_unterminated_name_is_ignored(void **state)
{
	(void)state;
	dwarf_image_unit(&image, 0x1000, 0x1000);
	uint32_t unterminated = (uint32_t)(image.info.len - image.unit) + 64;
	dwarf_image_subprogram(&image, "outer", 0x1000, 0x100);
	dwarf_image_inlined(&image, unterminated, 0x1000, 0x10);
	end_lists(3);
	while (image.info.len - image.unit < unterminated)
		dwarf_image_u8(&image, 0);
	dwarf_image_die(&image, IMAGE_ABSTRACT);
	strbuf_append_str(&image.info, "endless");
	dwarf_image_end_unit(&image);

	assert_names(0x1000, "outer");
}

static void unterminated_strings_are_damage(void **state)
{
	(void)state;
	struct dwarf_lines *lines = NULL;

	dwarf_image_unit(&image, 0x1000, 0x1000);
	dwarf_image_subprogram(&image, "f", 0x1000, 0x100);
	end_lists(2);
	dwarf_image_end_unit(&image);
	strbuf_append(&image.strings, "string", sizeof("string"));
	assert_names(0x1000, "f");

	strbuf_append_str(&image.strings, "endless");
	assert_int_equal(open_image(&lines), -EBADMSG);
}

static void a_file_without_units_is_one_without_debug_information(void **state)
{
	(void)state;
	struct dwarf_lines *lines = NULL;

	assert_int_equal(open_image(&lines), -ENOENT);
}

static void a_unit_longer_than_its_section_ends_with_it(void **state)
{
	(void)state;
	dwarf_image_unit(&image, 0x1000, 0x1000);
	dwarf_image_subprogram(&image, "first", 0x1000, 0x100);
	end_lists(1);
	dwarf_image_end_unit(&image);
	image.info.data[2] = 1;

	assert_names(0x1000, "first");
}

static void a_unit_of_an_unknown_version_is_damage(void **state)
{
	(void)state;
	struct dwarf_lines *lines = NULL;

	dwarf_image_unit(&image, 0x1000, 0x1000);
	dwarf_image_end_unit(&image);
	image.info.data[4] = 77;
	assert_int_equal(open_image(&lines), -EBADMSG);
}

static void a_damaged_unit_does_not_hide_those_before_it(void **state)
{
	(void)state;
	dwarf_image_unit(&image, 0x1000, 0x100);
	dwarf_image_subprogram(&image, "first", 0x1000, 0x100);
	end_lists(2);
	dwarf_image_end_unit(&image);
	dwarf_image_unit(&image, 0x1100, 0x100);
	dwarf_image_end_unit(&image);
	image.info.data[image.unit + 4] = 77; /* its version */

	assert_names(0x1000, "first");
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(inlined_functions_come_before_their_callers),
		TEST(lines_say_where_each_function_called_the_next),
		TEST(functions_in_namespaces_and_blocks_are_found),
		TEST(the_linkage_name_is_preferred),
		TEST(a_function_within_a_function_is_not_inlined_in_it),
		TEST(units_without_ranges_are_found_by_aranges),
		TEST(of_units_that_overlap_the_one_with_a_function_answers),
		TEST(code_the_linker_dropped_does_not_count),
		TEST(a_function_may_end_after_the_one_around_it),
		TEST(references_in_a_circle_lead_to_no_name),
		TEST(references_to_nowhere_lead_to_no_name),
		TEST(a_function_without_any_name_has_no_lines),
		TEST(functions_nested_too_deep_are_left_out),
		TEST(a_truncated_tree_is_read_up_to_its_end),
		TEST(a_die_of_unknown_kind_ends_the_tree),
		TEST(an_unterminated_name_is_ignored),
		TEST(unterminated_strings_are_damage),
		TEST(a_file_without_units_is_one_without_debug_information),
		TEST(a_unit_longer_than_its_section_ends_with_it),
		TEST(a_unit_of_an_unknown_version_is_damage),
		TEST(a_damaged_unit_does_not_hide_those_before_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
