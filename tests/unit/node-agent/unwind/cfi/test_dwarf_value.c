/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/cfi/dwarf_value.h"

#include "base/err.h"
#include "bpf/shared/cfi.h"
#include "cfi_bytes.h"
#include "unit.h"

struct value_case {
	struct byte_string expression;
	struct dwarf_value value;
};

static struct dwarf_value value_of(const struct value_case *c, bool has_cfa)
{
	return dwarf_value_of(
		dwarf_cursor_over((const uint8_t *)c->expression.data, c->expression.len), has_cfa);
}

static void check(const struct value_case *c, bool has_cfa)
{
	struct dwarf_value value = value_of(c, has_cfa);

	assert_int_equal(value.kind, c->value.kind);
	assert_int_equal(value.reg, c->value.reg);
	assert_int_equal(value.offset, c->value.offset);
	assert_int_equal(value.addend, c->value.addend);
}

static void sums_of_a_register_and_constants_are_found(void **state)
{
	static const struct value_case cases[] = {
		{ BYTES("\x77\x08"), { DWARF_VALUE_REGISTER, CFI_RSP, 8, 0 } },
		{ BYTES("\x76\x78"), { DWARF_VALUE_REGISTER, CFI_RBP, -8, 0 } },
		{ BYTES("\x92\x0a\x10"), { DWARF_VALUE_REGISTER, CFI_R10, 16, 0 } },
		{ BYTES("\x77\x08\x23\x80\x01"), { DWARF_VALUE_REGISTER, CFI_RSP, 136, 0 } },
		{ BYTES("\x77\x08\x38\x22"), { DWARF_VALUE_REGISTER, CFI_RSP, 16, 0 } },
		{ BYTES("\x38\x77\x08\x22"), { DWARF_VALUE_REGISTER, CFI_RSP, 16, 0 } },
		{ BYTES("\x77\x08\x38\x1c"), { DWARF_VALUE_REGISTER, CFI_RSP, 0, 0 } },
		{ BYTES("\x77\x00\x08\xff\x22"), { DWARF_VALUE_REGISTER, CFI_RSP, 255, 0 } },
		{ BYTES("\x77\x00\x09\xff\x22"), { DWARF_VALUE_REGISTER, CFI_RSP, -1, 0 } },
		{ BYTES("\x77\x00\x0a\xff\xff\x22"), { DWARF_VALUE_REGISTER, CFI_RSP, 65535, 0 } },
		{ BYTES("\x77\x00\x0b\xfe\xff\x22"), { DWARF_VALUE_REGISTER, CFI_RSP, -2, 0 } },
		{ BYTES("\x77\x00\x0c\x01\x00\x00\x80\x22"),
		  { DWARF_VALUE_REGISTER, CFI_RSP, 0x80000001, 0 } },
		{ BYTES("\x77\x00\x0d\xfc\xff\xff\xff\x22"),
		  { DWARF_VALUE_REGISTER, CFI_RSP, -4, 0 } },
		{ BYTES("\x77\x00\x0e\x01\x00\x00\x00\x00\x00\x00\x00\x22"),
		  { DWARF_VALUE_REGISTER, CFI_RSP, 1, 0 } },
		{ BYTES("\x77\x00\x0f\xff\xff\xff\xff\xff\xff\xff\xff\x22"),
		  { DWARF_VALUE_REGISTER, CFI_RSP, -1, 0 } },
		{ BYTES("\x77\x00\x10\x80\x01\x22"), { DWARF_VALUE_REGISTER, CFI_RSP, 128, 0 } },
		{ BYTES("\x77\x00\x11\x7f\x22"), { DWARF_VALUE_REGISTER, CFI_RSP, -1, 0 } },
		{ BYTES("\x77\x08\x96"), { DWARF_VALUE_REGISTER, CFI_RSP, 8, 0 } },
		{ BYTES("\x31\x32\x22"), { DWARF_VALUE_CONSTANT, 0, 3, 0 } },
	};

	(void)state;
	for (size_t i = 0; i < array_len(cases); i++)
		check(&cases[i], /* has_cfa= */ false);
}

static void words_in_memory_are_found(void **state)
{
	static const struct value_case cases[] = {
		{ BYTES("\x76\x78\x06"), { DWARF_VALUE_MEMORY, CFI_RBP, -8, 0 } },
		{ BYTES("\x77\xa0\x01\x06"), { DWARF_VALUE_MEMORY, CFI_RSP, 160, 0 } },
		{ BYTES("\x77\x28\x06\x23\x08"), { DWARF_VALUE_MEMORY, CFI_RSP, 40, 8 } },
		{ BYTES("\x77\x28\x06\x38\x22"), { DWARF_VALUE_MEMORY, CFI_RSP, 40, 8 } },
		{ BYTES("\x77\x28\x23\x08\x06\x38\x1c"), { DWARF_VALUE_MEMORY, CFI_RSP, 48, -8 } },
	};

	(void)state;
	for (size_t i = 0; i < array_len(cases); i++)
		check(&cases[i], /* has_cfa= */ false);
}

static void linkage_tables_are_found(void **state)
{
	static const struct value_case cases[] = {
		{ BYTES("\x77\x08\x80\x00\x3f\x1a\x3b\x2a\x33\x24\x22"),
		  { DWARF_VALUE_PLT, CFI_RSP, 8, 11 } },
		{ BYTES("\x77\x08\x80\x00\x3f\x1a\x39\x2a\x33\x24\x22"),
		  { DWARF_VALUE_PLT, CFI_RSP, 8, 9 } },
		{ BYTES("\x80\x00\x3f\x1a\x3b\x2a\x33\x24\x77\x08\x22"),
		  { DWARF_VALUE_PLT, CFI_RSP, 8, 11 } },
		{ BYTES("\x80\x00\x08\x0f\x1a\x08\x0b\x2a\x38\x1e\x77\x00\x22\x38\x22"),
		  { DWARF_VALUE_PLT, CFI_RSP, 8, 11 } },
	};

	(void)state;
	for (size_t i = 0; i < array_len(cases); i++)
		check(&cases[i], /* has_cfa= */ false);
}

static void the_cfa_may_be_on_the_stack(void **state)
{
	static const struct value_case cases[] = {
		{ BYTES(""), { DWARF_VALUE_REGISTER, DWARF_REG_CFA, 0, 0 } },
		{ BYTES("\x48\x1c"), { DWARF_VALUE_REGISTER, DWARF_REG_CFA, -24, 0 } },
		{ BYTES("\x06"), { DWARF_VALUE_MEMORY, DWARF_REG_CFA, 0, 0 } },
		{ BYTES("\x76\x70"), { DWARF_VALUE_REGISTER, CFI_RBP, -16, 0 } },
		{ BYTES("\x13\x77\x10"), { DWARF_VALUE_REGISTER, CFI_RSP, 16, 0 } },
	};

	(void)state;
	for (size_t i = 0; i < array_len(cases); i++)
		check(&cases[i], /* has_cfa= */ true);
}

static void what_is_not_known_is_not_guessed(void **state)
{
	static const struct value_case cases[] = {
		{ BYTES(""), { 0 } }, /* empty */
		{ BYTES("\x22"), { 0 } }, /* nothing to add */
		{ BYTES("\x77\x08\x22"), { 0 } },
		{ BYTES("\x13"), { 0 } },
		{ BYTES("\x06"), { 0 } },
		{ BYTES("\x77"), { 0 } }, /* cut off */
		{ BYTES("\x77\x80"), { 0 } },
		{ BYTES("\x77\x00\x0c\x01\x00"), { 0 } },
		{ BYTES("\x77\x00\x23"), { 0 } },
		{ BYTES("\x92\x07"), { 0 } },
		{ BYTES("\x92\xff\x01\x00"), { 0 } }, /* register 255 */
		{ BYTES("\x77\x08\xff"), { 0 } }, /* no such operation */
		{ BYTES("\x12"), { 0 } },
		{ BYTES("\x77\x08\x06\x06"), { 0 } }, /* a pointer to a pointer */
		{ BYTES("\x77\x08\x79\x00\x38\x1e\x22\x06\x23\x08"), { 0 } }, /* rsp + 8 * r9 */
		{ BYTES("\x77\x08\x76\x08\x22"), { 0 } }, /* two registers */
		{ BYTES("\x77\x08\x76\x08\x1c"), { 0 } },
		{ BYTES("\x77\x08\x3f\x1a"), { 0 } }, /* alignment */
		{ BYTES("\x80\x01\x3f\x1a"), { 0 } }, /* rip + 1 */
		{ BYTES("\x80\x00\x3e\x1a"), { 0 } }, /* rip & 14 */
		{ BYTES("\x80\x00\x3f\x1a\x40\x2a"), { 0 } }, /* never */
		{ BYTES("\x80\x00\x3f\x1a\x11\x7f\x2a"), { 0 } }, /* always */
		{ BYTES("\x80\x00\x3b\x2a"), { 0 } }, /* no mask */
		{ BYTES("\x77\x08\x80\x00\x3f\x1a\x3b\x2a\x32\x24\x22"), { 0 } }, /* << 2 */
		{ BYTES("\x77\x08\x80\x00\x3f\x1a\x33\x24\x22"), { 0 } }, /* no comparison */
		{ BYTES("\x77\x08\x80\x00\x3f\x1a\x3b\x2a\x22"), { 0 } }, /* + 1 */
		{ BYTES("\x31\x31\x31\x31\x31\x31\x31\x31\x31"), { 0 } }, /* too many values */
	};

	(void)state;
	for (size_t i = 0; i < array_len(cases); i++)
		assert_int_equal(value_of(&cases[i], false).kind, DWARF_VALUE_UNKNOWN);
}

static void sums_may_overflow(void **state)
{
	static const struct value_case cases[] = {
		{ BYTES("\x77\x01\x0e\xff\xff\xff\xff\xff\xff\xff\x7f\x22"),
		  { DWARF_VALUE_REGISTER, CFI_RSP, INT64_MIN, 0 } },
		{ BYTES("\x77\x00\x0e\x00\x00\x00\x00\x00\x00\x00\x80\x1c"),
		  { DWARF_VALUE_REGISTER, CFI_RSP, INT64_MIN, 0 } },
		{ BYTES("\x77\x00\x06\x38\x22\x0e\xff\xff\xff\xff\xff\xff\xff\x7f\x22"),
		  { DWARF_VALUE_MEMORY, CFI_RSP, 0, INT64_MIN + 7 } },
	};

	(void)state;
	for (size_t i = 0; i < array_len(cases); i++)
		check(&cases[i], /* has_cfa= */ false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sums_of_a_register_and_constants_are_found),
		cmocka_unit_test(words_in_memory_are_found),
		cmocka_unit_test(linkage_tables_are_found),
		cmocka_unit_test(the_cfa_may_be_on_the_stack),
		cmocka_unit_test(what_is_not_known_is_not_guessed),
		cmocka_unit_test(sums_may_overflow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
