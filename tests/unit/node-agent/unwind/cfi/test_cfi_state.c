/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/cfi/cfi_state.h"

#include "base/err.h"
#include "unit.h"

#define N CFI_NOT_SAVED
#define L CFI_LOST

/* Places. */
#define AT_CFA(offset)                                                                             \
	{                                                                                          \
		CFI_PLACE_AT_CFA, 0, (offset)                                                      \
	}
#define AT(reg, offset)                                                                            \
	{                                                                                          \
		CFI_PLACE_AT_REGISTER, (reg), (offset)                                             \
	}

#define CFA_IS(reg, offset) .cfa_register = (reg), .cfa_offset = (offset)
#define CFA_EXPRESSION(...) .has_cfa_expression = true, .cfa_expression = { __VA_ARGS__ }
#define RA_AS_USUAL [CFI_COLUMN_RA] = AT_CFA(-8)

struct state_case {
	struct cfi_state state;
	struct cfi_rule rule;
	bool is_lossless;
};

static void check_as(const struct state_case *c, bool is_signal_frame)
{
	struct cfi_rule rule;

	assert_int_equal(cfi_state_make_rule(&c->state, is_signal_frame, &rule), c->is_lossless);
	assert_memory_equal(&rule, &c->rule, sizeof(rule));
}

static void registers_are_found_by_the_cfa(void **state)
{
	static const struct state_case cases[] = {
		{ { CFA_IS(CFI_RSP, 8), .places = { RA_AS_USUAL } },
		  { CFA_REGISTER, CFI_RSP, 0, -1, 8, 0, { N, N, N, N, N, N } },
		  true },
		{ { CFA_IS(CFI_RBP, 16),
		    .places = { AT_CFA(-16), AT_CFA(-24), AT_CFA(-32), AT_CFA(-40), AT_CFA(-48),
				AT_CFA(-1016), RA_AS_USUAL } },
		  { CFA_REGISTER, CFI_RBP, 0, -1, 16, 0, { -2, -3, -4, -5, -6, -127 } },
		  true },
		{ { CFA_IS(CFI_R10, INT32_MIN),
		    .places = { AT_CFA(126 * 8), { .kind = CFI_PLACE_SAME }, RA_AS_USUAL } },
		  { CFA_REGISTER, CFI_R10, 0, -1, INT32_MIN, 0, { 126, N, N, N, N, N } },
		  true },
		/* An odd return address, a stack pointer that says what is known. */
		{ { CFA_IS(CFI_RSP, 24),
		    .places = { [CFI_COLUMN_SP] = { .kind = CFI_PLACE_CFA_VALUE },
				[CFI_COLUMN_RA] = AT_CFA(-24) } },
		  { CFA_REGISTER, CFI_RSP, 0, -3, 24, 0, { N, N, N, N, N, N } },
		  true },
		/* By rsp, where the CFA is that as well. */
		{ { CFA_IS(CFI_RSP, 24),
		    .places = { AT(CFI_RSP, 8), [CFI_COLUMN_RA] = AT(CFI_RSP, 16) } },
		  { CFA_REGISTER, CFI_RSP, 0, -1, 24, 0, { -2, N, N, N, N, N } },
		  true },
	};

	(void)state;
	for (size_t i = 0; i < array_len(cases); i++)
		check_as(&cases[i], /* is_signal_frame= */ i % 2);
}

static void realigned_stacks_have_registers_by_rbp(void **state)
{
	static const struct state_case cases[] = {
		{ { CFA_EXPRESSION(DWARF_VALUE_MEMORY, CFI_RBP, -40, 0),
		    .places = { AT(CFI_RBP, 0), AT(CFI_RBP, -48), AT(CFI_RBP, -32),
				AT(CFI_RBP, -24), AT(CFI_RBP, -16), AT(CFI_RBP, -8),
				RA_AS_USUAL } },
		  { CFA_DEREF, CFI_RBP, 1, -1, -40, 0, { 0, -6, -4, -3, -2, -1 } },
		  true },
		{ { CFA_IS(CFI_R10, 0), .places = { AT(CFI_RBP, 0), RA_AS_USUAL } },
		  { CFA_REGISTER, CFI_R10, 1, -1, 0, 0, { 0, N, N, N, N, N } },
		  true },
		/* The same by the CFA. */
		{ { CFA_IS(CFI_RBP, 16),
		    .places = { AT(CFI_RBP, 0), AT(CFI_RBP, -8), AT_CFA(-32), RA_AS_USUAL } },
		  { CFA_REGISTER, CFI_RBP, 0, -1, 16, 0, { -2, -3, -4, N, N, N } },
		  true },
		/* Some by the one, some by the other: rbp counts, then most of them. */
		{ { CFA_IS(CFI_R10, 0),
		    .places = { AT(CFI_RBP, 0), AT(CFI_RBP, -8), AT_CFA(-32), RA_AS_USUAL } },
		  { CFA_REGISTER, CFI_R10, 1, -1, 0, 0, { 0, -1, L, N, N, N } },
		  false },
		{ { CFA_IS(CFI_R10, 0),
		    .places = { AT(CFI_RBP, 0), AT_CFA(-24), AT_CFA(-32), RA_AS_USUAL } },
		  { CFA_REGISTER, CFI_R10, 1, -1, 0, 0, { 0, L, L, N, N, N } },
		  false },
		{ { CFA_EXPRESSION(DWARF_VALUE_MEMORY, CFI_RBP, -8, 0),
		    .places = { AT(CFI_RBP, 0), [3] = AT_CFA(-16), RA_AS_USUAL } },
		  { CFA_DEREF, CFI_RBP, 1, -1, -8, 0, { 0, N, N, L, N, N } },
		  false },
		{ { CFA_IS(CFI_R10, 0),
		    .places = { AT_CFA(-16), AT(CFI_RBP, -8), AT(CFI_RBP, -16), RA_AS_USUAL } },
		  { CFA_REGISTER, CFI_R10, 0, -1, 0, 0, { -2, L, L, N, N, N } },
		  false },
		{ { CFA_IS(CFI_R10, 0),
		    .places = { [2] = AT_CFA(-24), AT(CFI_RBP, -8), RA_AS_USUAL } },
		  { CFA_REGISTER, CFI_R10, 0, -1, 0, 0, { N, N, -3, L, N, N } },
		  false },
		{ { CFA_IS(CFI_R10, 0), .places = { [2] = AT_CFA(-24),
						    AT(CFI_RBP, -8),
						    AT(CFI_RBP, -16),
						    RA_AS_USUAL } },
		  { CFA_REGISTER, CFI_R10, 1, -1, 0, 0, { N, N, L, -1, -2, N } },
		  false },
	};

	(void)state;
	for (size_t i = 0; i < array_len(cases); i++)
		check_as(&cases[i], /* is_signal_frame= */ false);
}

static void registers_at_other_places_are_lost(void **state)
{
	static const struct cfi_place places[] = {
		{ .kind = CFI_PLACE_UNDEFINED },
		{ .kind = CFI_PLACE_OTHER },
		{ CFI_PLACE_CFA_VALUE, 0, -16 },
		AT_CFA(-12),
		AT_CFA(-1),
		AT_CFA(-1024),
		AT_CFA(1016),
		AT_CFA(INT32_MIN),
		AT_CFA(INT32_MAX),
		AT(CFI_RSP, 0),
		AT(CFI_RBP, 4),
		AT(CFI_RBP, 1016),
		AT(CFI_RBP, INT32_MIN),
	};

	(void)state;
	for (size_t i = 0; i < array_len(places); i++) {
		const struct state_case c = {
			{ CFA_IS(CFI_R10, 16), .places = { [1] = places[i], RA_AS_USUAL } },
			{ CFA_REGISTER, CFI_R10, 0, -1, 16, 0, { N, L, N, N, N, N } },
			false
		};

		check_as(&c, /* is_signal_frame= */ false);
	}
}

static void expressions_become_the_rules_they_are(void **state)
{
	static const struct state_case cases[] = {
		{ { CFA_EXPRESSION(DWARF_VALUE_MEMORY, CFI_RSP, 40, 8), .places = { RA_AS_USUAL } },
		  { CFA_DEREF, CFI_RSP, 0, -1, 40, 8, { N, N, N, N, N, N } },
		  true },
		{ { CFA_EXPRESSION(DWARF_VALUE_MEMORY, CFI_RSP, 40, -8),
		    .places = { RA_AS_USUAL } },
		  { CFA_DEREF, CFI_RSP, 0, -1, 40, (uint16_t)-8, { N, N, N, N, N, N } },
		  true },
		{ { CFA_EXPRESSION(DWARF_VALUE_REGISTER, CFI_R11, 32, 0),
		    .places = { RA_AS_USUAL } },
		  { CFA_REGISTER, CFI_R11, 0, -1, 32, 0, { N, N, N, N, N, N } },
		  true },
		{ { CFA_EXPRESSION(DWARF_VALUE_PLT, CFI_RSP, 8, 11), .places = { RA_AS_USUAL } },
		  { CFA_PLT, CFI_RSP, 0, -1, 8, 11, { N, N, N, N, N, N } },
		  true },
		{ { CFA_IS(CFI_RSP, 8),
		    .places = { AT_CFA(-16), [CFI_COLUMN_RA] = { .kind = CFI_PLACE_UNDEFINED } } },
		  { .kind = CFA_END },
		  true },
	};

	(void)state;
	for (size_t i = 0; i < array_len(cases); i++)
		check_as(&cases[i], /* is_signal_frame= */ false);
}

static void states_without_a_rule_say_so(void **state)
{
	static const struct cfi_state states[] = {
		{ CFA_IS(16, 8), .places = { RA_AS_USUAL } },
		{ CFA_IS(UINT64_MAX, 8), .places = { RA_AS_USUAL } },
		{ CFA_IS(256 + CFI_RSP, 8), .places = { RA_AS_USUAL } },
		{ CFA_IS(CFI_RSP, (int64_t)INT32_MAX + 1), .places = { RA_AS_USUAL } },
		{ CFA_IS(CFI_RSP, INT64_MIN), .places = { RA_AS_USUAL } },
		{ CFA_EXPRESSION(DWARF_VALUE_UNKNOWN, 0, 0, 0), .places = { RA_AS_USUAL } },
		{ CFA_EXPRESSION(DWARF_VALUE_CONSTANT, 0, 8, 0), .places = { RA_AS_USUAL } },
		{ CFA_EXPRESSION(DWARF_VALUE_REGISTER, 17, 8, 0), .places = { RA_AS_USUAL } },
		{ CFA_EXPRESSION(DWARF_VALUE_REGISTER, DWARF_REG_RA, 0, 0),
		  .places = { RA_AS_USUAL } },
		{ CFA_EXPRESSION(DWARF_VALUE_MEMORY, CFI_RSP, INT64_MAX, 0),
		  .places = { RA_AS_USUAL } },
		{ CFA_EXPRESSION(DWARF_VALUE_MEMORY, CFI_RSP, 8, 32768),
		  .places = { RA_AS_USUAL } },
		{ CFA_EXPRESSION(DWARF_VALUE_IP_PAST_8, 0, 0, 11), .places = { RA_AS_USUAL } },
		{ CFA_IS(CFI_RSP, 8) },
		{ CFA_IS(CFI_RSP, 8), .places = { [CFI_COLUMN_RA] = { .kind = CFI_PLACE_SAME } } },
		{ CFA_IS(CFI_RSP, 8), .places = { [CFI_COLUMN_RA] = { .kind = CFI_PLACE_OTHER } } },
		{ CFA_IS(CFI_RSP, 8), .places = { [CFI_COLUMN_RA] = AT_CFA(-4) } },
		{ CFA_IS(CFI_RSP, 8), .places = { [CFI_COLUMN_RA] = AT_CFA(4096) } },
		{ CFA_IS(CFI_RSP, 8), .places = { [CFI_COLUMN_RA] = AT(CFI_RBP, 8) } },
		{ CFA_IS(CFI_RSP, 8),
		  .places = { [CFI_COLUMN_SP] = { CFI_PLACE_CFA_VALUE, 0, 8 }, RA_AS_USUAL } },
		{ CFA_IS(CFI_RSP, 8), .places = { [CFI_COLUMN_SP] = AT_CFA(-16), RA_AS_USUAL } },
		{ CFA_IS(CFI_RSP, 8),
		  .places = { [CFI_COLUMN_SP] = { .kind = CFI_PLACE_SAME }, RA_AS_USUAL } },
		{ CFA_IS(CFI_RSP, 8),
		  .places = { [CFI_COLUMN_SP] = { .kind = CFI_PLACE_OTHER }, RA_AS_USUAL } },
	};

	(void)state;
	for (size_t i = 0; i < array_len(states); i++) {
		const struct state_case c = { states[i], { .kind = CFA_UNSUPPORTED }, false };

		check_as(&c, /* is_signal_frame= */ false);
	}
}

static void signal_frames_are_those_of_the_kernel(void **state)
{
	struct state_case c = { { CFA_EXPRESSION(DWARF_VALUE_MEMORY, CFI_RSP, 160, 0),
				  .places = { AT(CFI_RSP, 120),
					      AT(CFI_RSP, 128), [CFI_COLUMN_SP] = AT(CFI_RSP, 160),
					      [CFI_COLUMN_RA] = AT(CFI_RSP, 168) } },
				{ .kind = CFA_SIGNAL },
				true };

	(void)state;
	check_as(&c, /* is_signal_frame= */ true);

	c.rule.kind = CFA_UNSUPPORTED;
	c.is_lossless = false;
	check_as(&c, /* is_signal_frame= */ false);
	c.state.cfa_expression.offset = 152;
	check_as(&c, /* is_signal_frame= */ true);
	c.state.cfa_expression.offset = 160;
	c.state.cfa_expression.addend = 8;
	check_as(&c, /* is_signal_frame= */ true);
	c.state.cfa_expression.addend = 0;
	c.state.cfa_expression.reg = CFI_RBP;
	check_as(&c, /* is_signal_frame= */ true);
}

static void only_some_registers_are_followed(void **state)
{
	static const uint64_t others[] = {
		CFI_RAX, CFI_R10, 17, 32, 255, 256 + CFI_RBP, UINT64_MAX
	};

	(void)state;
	assert_int_equal(cfi_column_of(CFI_RBP), 0);
	assert_int_equal(cfi_column_of(CFI_R15), 5);
	assert_int_equal(cfi_column_of(CFI_RSP), CFI_COLUMN_SP);
	assert_int_equal(cfi_column_of(DWARF_REG_RA), CFI_COLUMN_RA);
	for (size_t i = 0; i < array_len(others); i++)
		assert_int_equal(cfi_column_of(others[i]), -1);
}

static void places_too_far_away_are_others(void **state)
{
	const struct dwarf_value far = { DWARF_VALUE_REGISTER, CFI_RBP, INT64_MAX, 0 };
	const struct dwarf_value word = { DWARF_VALUE_MEMORY, CFI_RBP, 8, 0 };
	const struct dwarf_value by_cfa = { DWARF_VALUE_REGISTER, DWARF_REG_CFA, -16, 0 };

	(void)state;
	assert_int_equal(cfi_place_from_cfa(CFI_PLACE_AT_CFA, 1LL << 31).kind, CFI_PLACE_OTHER);
	assert_int_equal(cfi_place_from_cfa(CFI_PLACE_AT_CFA, INT64_MIN).kind, CFI_PLACE_OTHER);
	assert_int_equal(cfi_place_at(&far).kind, CFI_PLACE_OTHER);
	assert_int_equal(cfi_place_at(&word).kind, CFI_PLACE_OTHER);
	assert_int_equal(cfi_place_at(&by_cfa).kind, CFI_PLACE_AT_CFA);
	assert_int_equal(cfi_place_at(&by_cfa).offset, -16);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(registers_are_found_by_the_cfa),
		cmocka_unit_test(realigned_stacks_have_registers_by_rbp),
		cmocka_unit_test(registers_at_other_places_are_lost),
		cmocka_unit_test(expressions_become_the_rules_they_are),
		cmocka_unit_test(states_without_a_rule_say_so),
		cmocka_unit_test(signal_frames_are_those_of_the_kernel),
		cmocka_unit_test(only_some_registers_are_followed),
		cmocka_unit_test(places_too_far_away_are_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
