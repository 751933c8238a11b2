/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/cfi/cfi_program.h"

#include "cfi_bytes.h"
#include "row_recorder.h"
#include "unit.h"

#define N CFI_NOT_SAVED
#define L CFI_LOST
#define MAX_ROWS 5

#define START 0x1000
#define END 0x3000

/* A rule with the return address where it usually is. */
#define RULE(reg, offset, ...)                                                                     \
	{                                                                                          \
		CFA_REGISTER, (reg), 0, -1, (offset), 0,                                           \
		{                                                                                  \
			__VA_ARGS__                                                                \
		}                                                                                  \
	}
#define ENTRY RULE(CFI_RSP, 8, N, N, N, N, N, N)

struct program_case {
	struct byte_string program;
	struct recorded_row rows[MAX_ROWS]; /* up to one with the address 0 */
	uint64_t nr_unsupported;
	bool is_bad;
};

static struct dwarf_cursor over(struct byte_string bytes)
{
	return dwarf_cursor_over((const uint8_t *)bytes.data, bytes.len);
}

/* One with code steps of 1 and data steps of -8 bytes. */
static struct cfi_cie make_cie(struct byte_string program)
{
	const struct cfi_section section = { 0 };
	struct cfi_cie cie = { .code_align = 1, .data_align = -8 };

	assert_int_equal(cfi_program_run_initial(&section, over(program), &cie), 0);
	return cie;
}

static struct cfi_cie usual_cie(void)
{
	return make_cie((struct byte_string)BYTES("\x0c\x07\x08\x90\x01"));
}

static void check_with(const struct cfi_cie *cie, const struct program_case *c)
{
	const struct cfi_section section = { .data = (const uint8_t *)c->program.data };
	const struct cfi_fde fde = { .start = START, .end = END, .program = over(c->program) };
	struct row_builder builder = { .max_rows = MAX_ROWS };
	struct unwind_losses losses = { 0 };
	size_t nr_rows = 0;

	assert_int_equal(cfi_program_run(&section, cie, &fde, &builder, &losses),
			 c->is_bad ? -EBADMSG : 0);
	while (nr_rows < MAX_ROWS && c->rows[nr_rows].address != 0)
		nr_rows++;
	assert_int_equal(builder.nr_rows, nr_rows);
	for (size_t i = 0; i < nr_rows; i++) {
		assert_int_equal(builder.rows[i].address, c->rows[i].address);
		assert_memory_equal(&builder.rows[i].rule, &c->rows[i].rule,
				    sizeof(struct cfi_rule));
	}
	assert_int_equal(losses.nr_unsupported_rules, c->nr_unsupported);
}

static void check_all(const struct program_case *cases, size_t nr_cases)
{
	struct cfi_cie cie = usual_cie();

	for (size_t i = 0; i < nr_cases; i++)
		check_with(&cie, &cases[i]);
}

static void a_row_begins_where_something_has_changed(void **state)
{
	static const struct program_case cases[] = {
		{ BYTES(""), { { 0x1000, ENTRY } }, 0, false },
		{ BYTES("\x00\x00\x41\x00"), { { 0x1000, ENTRY } }, 0, false },
		/* push %rbp; mov %rsp,%rbp; … leave */
		{ BYTES("\x41\x0e\x10\x86\x02\x43\x0d\x06\x02\xf0\x0c\x07\x08"),
		  { { 0x1000, ENTRY },
		    { 0x1001, RULE(CFI_RSP, 16, -2, N, N, N, N, N) },
		    { 0x1004, RULE(CFI_RBP, 16, -2, N, N, N, N, N) },
		    { 0x10f4, RULE(CFI_RSP, 8, -2, N, N, N, N, N) } },
		  0,
		  false },
		/* Several changes at one address; arguments on the stack are no change. */
		{ BYTES("\x0e\x10\x40\x0e\x18\x44\x2e\x10\x44\x2d\x44\x0e\x08"),
		  { { 0x1000, RULE(CFI_RSP, 24, N, N, N, N, N, N) }, { 0x100c, ENTRY } },
		  0,
		  false },
		/* Rules of registers that are not followed are none. */
		{ BYTES("\x44\x91\x05\x44\x09\x00\x03\x44\x0a\x44\x07\x0a\x44\xc0"),
		  { { 0x1000, ENTRY } },
		  0,
		  false },
		/* Behind the end. */
		{ BYTES("\x44\x0e\x10\x03\x00\x20\x0e\x18\x44\x3f"),
		  { { 0x1000, ENTRY }, { 0x1004, RULE(CFI_RSP, 16, N, N, N, N, N, N) } },
		  0,
		  false },
	};

	(void)state;
	check_all(cases, array_len(cases));
}

static void addresses_advance(void **state)
{
	static const struct program_case cases[] = {
		{ BYTES("\x7f\x0e\x10"),
		  { { 0x1000, ENTRY }, { 0x103f, RULE(CFI_RSP, 16, N, N, N, N, N, N) } },
		  0,
		  false },
		{ BYTES("\x02\xff\x0e\x10"),
		  { { 0x1000, ENTRY }, { 0x10ff, RULE(CFI_RSP, 16, N, N, N, N, N, N) } },
		  0,
		  false },
		{ BYTES("\x03\x34\x12\x0e\x10"),
		  { { 0x1000, ENTRY }, { 0x2234, RULE(CFI_RSP, 16, N, N, N, N, N, N) } },
		  0,
		  false },
		{ BYTES("\x04\x00\x10\x00\x00\x0e\x10"),
		  { { 0x1000, ENTRY }, { 0x2000, RULE(CFI_RSP, 16, N, N, N, N, N, N) } },
		  0,
		  false },
		{ BYTES("\x1d\x01\x00\x00\x00\x00\x00\x00\x00\x0e\x10"),
		  { { 0x1000, ENTRY }, { 0x1001, RULE(CFI_RSP, 16, N, N, N, N, N, N) } },
		  0,
		  false },
		{ BYTES("\x01\x08\x10\x00\x00\x00\x00\x00\x00\x0e\x10"),
		  { { 0x1000, ENTRY }, { 0x1008, RULE(CFI_RSP, 16, N, N, N, N, N, N) } },
		  0,
		  false },
		{ BYTES("\x1d\xff\xff\xff\xff\xff\xff\xff\xff\x0e\x10"),
		  { { 0x1000, ENTRY } },
		  0,
		  false },
		{ BYTES("\x01\x00\x30\x00\x00\x00\x00\x00\x00\x0e\x10"),
		  { { 0x1000, ENTRY } },
		  0,
		  false },
		/* Back. */
		{ BYTES("\x44\x01\x02\x10\x00\x00\x00\x00\x00\x00\x0e\x10"),
		  { { 0x1000, ENTRY }, { 0x1004, { .kind = CFA_UNSUPPORTED } } },
		  0,
		  true },
	};

	(void)state;
	check_all(cases, array_len(cases));
}

static void code_steps_multiply_distances(void **state)
{
	static const struct program_case cases[] = {
		{ BYTES("\x42\x0e\x10"),
		  { { 0x1000, ENTRY }, { 0x1008, RULE(CFI_RSP, 16, N, N, N, N, N, N) } },
		  0,
		  false },
		{ BYTES("\x1d\x01\x00\x00\x00\x00\x00\x00\x40\x0e\x10"),
		  { { 0x1000, ENTRY } },
		  0,
		  false },
	};
	struct cfi_cie cie = usual_cie();

	(void)state;
	cie.code_align = 4;
	for (size_t i = 0; i < array_len(cases); i++)
		check_with(&cie, &cases[i]);
}

static void the_cfa_is_defined_in_many_ways(void **state)
{
	static const struct program_case cases[] = {
		{ BYTES("\x0c\x0a\x20"),
		  { { 0x1000, RULE(CFI_R10, 32, N, N, N, N, N, N) } },
		  0,
		  false },
		{ BYTES("\x0d\x06"), { { 0x1000, RULE(CFI_RBP, 8, N, N, N, N, N, N) } }, 0, false },
		{ BYTES("\x0e\x80\x01"),
		  { { 0x1000, RULE(CFI_RSP, 128, N, N, N, N, N, N) } },
		  0,
		  false },
		{ BYTES("\x12\x06\x7e"),
		  { { 0x1000, RULE(CFI_RBP, 16, N, N, N, N, N, N) } },
		  0,
		  false },
		{ BYTES("\x13\x02"),
		  { { 0x1000, RULE(CFI_RSP, -16, N, N, N, N, N, N) } },
		  0,
		  false },
		{ BYTES("\x0f\x02\x76\x18"),
		  { { 0x1000, RULE(CFI_RBP, 24, N, N, N, N, N, N) } },
		  0,
		  false },
		{ BYTES("\x0f\x05\x77\x28\x06\x23\x08"),
		  { { 0x1000, { CFA_DEREF, CFI_RSP, 0, -1, 40, 8, { N, N, N, N, N, N } } } },
		  0,
		  false },
		{ BYTES("\x0f\x0b\x77\x08\x80\x00\x3f\x1a\x3b\x2a\x33\x24\x22"),
		  { { 0x1000, { CFA_PLT, CFI_RSP, 0, -1, 8, 11, { N, N, N, N, N, N } } } },
		  0,
		  false },
		/* What an expression does not say stays as it was before it. */
		{ BYTES("\x0e\x20\x0f\x03\x76\x78\x06\x0d\x06"),
		  { { 0x1000, RULE(CFI_RBP, 32, N, N, N, N, N, N) } },
		  0,
		  false },
		{ BYTES("\x0f\x01\x12"), { { 0x1000, { .kind = CFA_UNSUPPORTED } } }, 1, false },
		{ BYTES("\x0f\x00"), { { 0x1000, { .kind = CFA_UNSUPPORTED } } }, 1, false },
		{ BYTES("\x0c\x11\x08"), { { 0x1000, { .kind = CFA_UNSUPPORTED } } }, 1, false },
		{ BYTES("\x0e\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"),
		  { { 0x1000, RULE(CFI_RSP, -1, N, N, N, N, N, N) } },
		  0,
		  false },
		{ BYTES("\x0e\xff\xff\xff\xff\xff\x01"),
		  { { 0x1000, { .kind = CFA_UNSUPPORTED } } },
		  1,
		  false },
	};

	(void)state;
	check_all(cases, array_len(cases));
}

static void registers_are_saved_in_many_ways(void **state)
{
	static const struct program_case cases[] = {
		{ BYTES("\x86\x02\x83\x03"),
		  { { 0x1000, RULE(CFI_RSP, 8, -2, -3, N, N, N, N) } },
		  0,
		  false },
		{ BYTES("\x05\x0c\x04\x05\x8d\x00\x05"),
		  { { 0x1000, RULE(CFI_RSP, 8, N, N, -4, -5, N, N) } },
		  0,
		  false },
		{ BYTES("\x11\x0e\x03\x11\x0f\x7e"),
		  { { 0x1000, RULE(CFI_RSP, 8, N, N, N, N, -3, 2) } },
		  0,
		  false },
		{ BYTES("\x2f\x06\x02"),
		  { { 0x1000, RULE(CFI_RSP, 8, 2, N, N, N, N, N) } },
		  0,
		  false },
		{ BYTES("\x86\x02\x08\x06\x83\x03\xc3"), { { 0x1000, ENTRY } }, 0, false },
		{ BYTES("\x86\x02\x06\x06"), { { 0x1000, ENTRY } }, 0, false },
		{ BYTES("\x09\x06\x06"), { { 0x1000, ENTRY } }, 0, false },
		{ BYTES("\x14\x07\x00"), { { 0x1000, ENTRY } }, 0, false },
		{ BYTES("\x15\x07\x00"), { { 0x1000, ENTRY } }, 0, false },
		{ BYTES("\x16\x07\x00"), { { 0x1000, ENTRY } }, 0, false },
		{ BYTES("\x10\x06\x02\x40\x1c"),
		  { { 0x1000, RULE(CFI_RSP, 8, -2, N, N, N, N, N) } },
		  0,
		  false },
		{ BYTES("\x10\x06\x02\x77\x08"),
		  { { 0x1000, RULE(CFI_RSP, 8, 0, N, N, N, N, N) } },
		  0,
		  false },
		{ BYTES("\x0f\x03\x76\x78\x06\x10\x06\x02\x76\x00\x10\x03\x02\x76\x70"),
		  { { 0x1000,
		      { CFA_DEREF,
			CFI_RBP,
			CFI_SAVED_AT_RBP,
			-1,
			-8,
			0,
			{ 0, -2, N, N, N, N } } } },
		  0,
		  false },
		{ BYTES("\x90\x03"),
		  { { 0x1000, { CFA_REGISTER, CFI_RSP, 0, -3, 8, 0, { N, N, N, N, N, N } } } },
		  0,
		  false },
		{ BYTES("\x07\x10"), { { 0x1000, { .kind = CFA_END } } }, 0, false },
	};

	(void)state;
	check_all(cases, array_len(cases));
}

/* The end of libgcc's _Unwind_Resume(): pop %rcx; jmp *%rcx. */
static void a_return_address_may_be_in_a_register(void **state)
{
	static const struct program_case program = {
		BYTES("\x0e\x00\x09\x10\x02"),
		{ { 0x1000,
		    { .kind = CFA_REGISTER,
		      .reg = CFI_RSP,
		      .flags = CFI_RETURN_IN_REGISTER,
		      .arg = CFI_RCX,
		      .saved = { N, N, N, N, N, N } } } },
		0,
		false,
	};

	(void)state;
	check_all(&program, 1);
}

static void what_has_no_rule_is_counted(void **state)
{
	static const struct program_case cases[] = {
		{ BYTES("\x07\x03"), { { 0x1000, RULE(CFI_RSP, 8, N, L, N, N, N, N) } }, 1, false },
		{ BYTES("\x09\x03\x08"),
		  { { 0x1000, RULE(CFI_RSP, 8, N, L, N, N, N, N) } },
		  1,
		  false },
		{ BYTES("\x14\x03\x01"),
		  { { 0x1000, RULE(CFI_RSP, 8, N, L, N, N, N, N) } },
		  1,
		  false },
		{ BYTES("\x16\x03\x02\x76\x00"),
		  { { 0x1000, RULE(CFI_RSP, 8, N, L, N, N, N, N) } },
		  1,
		  false },
		{ BYTES("\x10\x03\x03\x76\x00\x06"),
		  { { 0x1000, RULE(CFI_RSP, 8, N, L, N, N, N, N) } },
		  1,
		  false },
		{ BYTES("\x83\x80\x01"),
		  { { 0x1000, RULE(CFI_RSP, 8, N, L, N, N, N, N) } },
		  1,
		  false },
		/* (CFA - 8 & -64) - 192, as Intel's compiler has it. */
		{ BYTES("\x10\x0d\x0e\x38\x1c\x0d\xc0\xff\xff\xff\x1a\x0d\x40\xff\xff\xff\x22"),
		  { { 0x1000, RULE(CFI_RSP, 8, N, N, N, L, N, N) } },
		  1,
		  false },
		{ BYTES("\x09\x10\x12"), { { 0x1000, { .kind = CFA_UNSUPPORTED } } }, 1, false },
		{ BYTES("\x08\x10"), { { 0x1000, { .kind = CFA_UNSUPPORTED } } }, 1, false },
		{ BYTES("\x10\x10\x02\x76\x08"),
		  { { 0x1000, { .kind = CFA_UNSUPPORTED } } },
		  1,
		  false },
		{ BYTES("\x09\x07\x08"), { { 0x1000, { .kind = CFA_UNSUPPORTED } } }, 1, false },
		{ BYTES("\x87\x02"), { { 0x1000, { .kind = CFA_UNSUPPORTED } } }, 1, false },
		/* Once for each row. */
		{ BYTES("\x07\x03\x44\x0e\x10\x44\xc3"),
		  { { 0x1000, RULE(CFI_RSP, 8, N, L, N, N, N, N) },
		    { 0x1004, RULE(CFI_RSP, 16, N, L, N, N, N, N) },
		    { 0x1008, RULE(CFI_RSP, 16, N, N, N, N, N, N) } },
		  2,
		  false },
	};

	(void)state;
	check_all(cases, array_len(cases));
}

static void states_are_remembered(void **state)
{
	static const struct program_case cases[] = {
		{ BYTES("\x86\x02\x0a\x44\xc6\x0e\x20\x44\x0b"),
		  { { 0x1000, RULE(CFI_RSP, 8, -2, N, N, N, N, N) },
		    { 0x1004, RULE(CFI_RSP, 32, N, N, N, N, N, N) },
		    { 0x1008, RULE(CFI_RSP, 8, -2, N, N, N, N, N) } },
		  0,
		  false },
		{ BYTES("\x0a\x0e\x10\x0a\x0e\x18\x44\x0b\x44\x0b"),
		  { { 0x1000, RULE(CFI_RSP, 24, N, N, N, N, N, N) },
		    { 0x1004, RULE(CFI_RSP, 16, N, N, N, N, N, N) },
		    { 0x1008, ENTRY } },
		  0,
		  false },
		/* 16 states, and one more. */
		{ BYTES("\x0a\x0a\x0a\x0a\x0a\x0a\x0a\x0a\x0a\x0a\x0a\x0a\x0a\x0a\x0a\x0a"),
		  { { 0x1000, ENTRY } },
		  0,
		  false },
		{ BYTES("\x0a\x0a\x0a\x0a\x0a\x0a\x0a\x0a\x0a\x0a\x0a\x0a\x0a\x0a\x0a\x0a\x0a"),
		  { { 0x1000, { .kind = CFA_UNSUPPORTED } } },
		  0,
		  true },
		{ BYTES("\x44\x0b"),
		  { { 0x1000, ENTRY }, { 0x1004, { .kind = CFA_UNSUPPORTED } } },
		  0,
		  true },
	};

	(void)state;
	check_all(cases, array_len(cases));
}

static void registers_are_restored_to_what_the_cie_says(void **state)
{
	static const struct program_case c = { BYTES("\x07\x03\x86\x02\x44\xc3\xc6"),
					       { { 0x1000, RULE(CFI_RSP, 8, -2, L, N, N, N, N) },
						 { 0x1004, RULE(CFI_RSP, 8, N, -8, N, N, N, N) } },
					       1,
					       false };
	/* The advance in it means nothing. */
	struct cfi_cie cie = make_cie(
		(struct byte_string)BYTES("\x0c\x07\x08\x90\x01\x44\x01\0\0\0\0\0\0\0\0\x83\x08"));

	(void)state;
	check_with(&cie, &c);
}

static void a_damaged_program_ends_in_a_row_that_says_so(void **state)
{
	static const struct byte_string damages[] = {
		BYTES("\x02"),
		BYTES("\x03\x01"),
		BYTES("\x04\x01\x02\x03"),
		BYTES("\x1d\x01\x02\x03\x04\x05\x06\x07"),
		BYTES("\x01\x00\x10\x00"),
		BYTES("\x86"),
		BYTES("\x86\x80"),
		BYTES("\x05\x06"),
		BYTES("\x05"),
		BYTES("\x06"),
		BYTES("\x07"),
		BYTES("\x08"),
		BYTES("\x09\x06"),
		BYTES("\x0c\x07"),
		BYTES("\x0d"),
		BYTES("\x0e"),
		BYTES("\x0e\xff"),
		BYTES("\x0f"),
		BYTES("\x0f\x05\x77\x08"),
		BYTES("\x0f\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"),
		BYTES("\x10\x06\x02\x76"),
		BYTES("\x11\x06"),
		BYTES("\x12\x06"),
		BYTES("\x13"),
		BYTES("\x14\x06"),
		BYTES("\x15\x06\x80"),
		BYTES("\x16\x06"),
		BYTES("\x2e"),
		BYTES("\x2f\x06"),
		BYTES("\x17"),
		BYTES("\x1c"),
		BYTES("\x2a"),
		BYTES("\x30"),
		BYTES("\x3f"),
	};
	struct cfi_cie cie = usual_cie();

	(void)state;
	for (size_t i = 0; i < array_len(damages); i++) {
		struct program_case c = {
			.rows = { { 0x1000, ENTRY }, { 0x1004, { .kind = CFA_UNSUPPORTED } } },
			.is_bad = true,
		};
		char program[32] = "\x44\x0e\x10";

		memcpy(program + 3, damages[i].data, damages[i].len);
		c.program = (struct byte_string){ program, 3 + damages[i].len };
		check_with(&cie, &c);
	}
}

static void damaged_cies_are_refused(void **state)
{
	static const struct byte_string damages[] = {
		BYTES("\x0c\x07"), BYTES("\x0b"), BYTES("\x3f"), BYTES("\x0f\x7f"), BYTES("\x02"),
	};

	(void)state;
	for (size_t i = 0; i < array_len(damages); i++) {
		const struct cfi_section section = { 0 };
		struct cfi_cie cie = { .data_align = -8 };

		assert_int_equal(cfi_program_run_initial(&section, over(damages[i]), &cie),
				 -EBADMSG);
		assert_int_equal(cie.initial.cfa_offset, 0);
	}
}

static void the_builder_may_refuse(void **state)
{
	static const struct byte_string programs[] = {
		BYTES("\x44\x0e\x10\x44\x0e\x18\x44\x0e\x20"), /* between */
		BYTES("\x44\x0e\x10"), /* at the end */
		BYTES("\x44\x3f"), /* in the row about the damage */
	};
	const struct cfi_section section = { 0 };
	struct cfi_cie cie = usual_cie();

	(void)state;
	for (size_t i = 0; i < array_len(programs); i++) {
		const struct cfi_fde fde = { START, END, over(programs[i]) };
		struct row_builder builder = { .max_rows = 1 };
		struct unwind_losses losses = { 0 };

		assert_int_equal(cfi_program_run(&section, &cie, &fde, &builder, &losses), -ENOSPC);
		assert_int_equal(builder.nr_rows, 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_row_begins_where_something_has_changed),
		cmocka_unit_test(addresses_advance),
		cmocka_unit_test(code_steps_multiply_distances),
		cmocka_unit_test(the_cfa_is_defined_in_many_ways),
		cmocka_unit_test(registers_are_saved_in_many_ways),
		cmocka_unit_test(a_return_address_may_be_in_a_register),
		cmocka_unit_test(what_has_no_rule_is_counted),
		cmocka_unit_test(states_are_remembered),
		cmocka_unit_test(registers_are_restored_to_what_the_cie_says),
		cmocka_unit_test(a_damaged_program_ends_in_a_row_that_says_so),
		cmocka_unit_test(damaged_cies_are_refused),
		cmocka_unit_test(the_builder_may_refuse),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
