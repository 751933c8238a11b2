/* SPDX-License-Identifier: Apache-2.0 */
/* Call frame information of arm64: what its rules and instructions mean there. What is the same
 * on x86-64 is in test_cfi_state.c and test_cfi_program.c. */
#include "unwind/cfi/cfi_program.h"

#include "cfi_bytes.h"
#include "row_recorder.h"
#include "unit.h"

#define N CFI_NOT_SAVED
#define L CFI_LOST
#define MAX_ROWS 4

#define START 0x1000
#define END 0x3000

/* Rules with the return address at a slot, and in a register. */
#define SAVED(cfa_reg, cfa_offset, ra, fp)                                                         \
	{                                                                                          \
		.kind = CFA_REGISTER, .reg = (cfa_reg), .offset = (cfa_offset),                    \
		.return_address = (ra), .saved = {                                                 \
			(fp)                                                                       \
		}                                                                                  \
	}
#define IN_REGISTER(cfa_offset, return_reg, fp)                                                    \
	{                                                                                          \
		.kind = CFA_REGISTER, .reg = CFI_SP, .flags = CFI_RETURN_IN_REGISTER,              \
		.offset = (cfa_offset), .arg = (return_reg), .saved = {                            \
			(fp)                                                                       \
		}                                                                                  \
	}
#define LEAF IN_REGISTER(0, CFI_LR, N)

struct program_case {
	struct byte_string program;
	struct recorded_row
		rows[MAX_ROWS]; /* behind the one at START, up to one with the address 0 */
	uint64_t nr_unsupported;
	bool is_bad;
};

static struct dwarf_cursor over(struct byte_string bytes)
{
	return dwarf_cursor_over((const uint8_t *)bytes.data, bytes.len);
}

/* CFA = sp + 0; code steps of 4 and data steps of -8 bytes. */
static struct cfi_cie usual_cie(void)
{
	const struct cfi_section section = { 0 };
	struct cfi_cie cie = { .code_align = 4, .data_align = -8 };

	assert_int_equal(cfi_program_run_initial(
				 &section, over((struct byte_string)BYTES("\x0c\x1f\x00")), &cie),
			 0);
	return cie;
}

static void check(const struct program_case *c)
{
	static const struct recorded_row first = { START, LEAF };
	const struct cfi_section section = { .data = (const uint8_t *)c->program.data };
	const struct cfi_fde fde = { .start = START, .end = END, .program = over(c->program) };
	struct row_builder builder = { .max_rows = MAX_ROWS + 1 };
	struct unwind_losses losses = { 0 };
	struct cfi_cie cie = usual_cie();
	size_t nr_rows = 0;

	assert_int_equal(cfi_program_run(&section, &cie, &fde, &builder, &losses),
			 c->is_bad ? -EBADMSG : 0);
	while (nr_rows < MAX_ROWS && c->rows[nr_rows].address != 0)
		nr_rows++;
	assert_int_equal(builder.nr_rows, nr_rows + 1);
	for (size_t i = 0; i <= nr_rows; i++) {
		const struct recorded_row *expected = i == 0 ? &first : &c->rows[i - 1];

		assert_int_equal(builder.rows[i].address, expected->address);
		assert_memory_equal(&builder.rows[i].rule, &expected->rule,
				    sizeof(struct cfi_rule));
	}
	assert_int_equal(losses.nr_unsupported_rules, c->nr_unsupported);
}

static void check_all(const struct program_case *cases, size_t nr_cases)
{
	for (size_t i = 0; i < nr_cases; i++)
		check(&cases[i]);
}

static void lr_has_the_return_address_until_it_is_saved(void **state)
{
	static const struct program_case cases[] = {
		/* stp x29,x30,[sp,#-32]!; …; ldp x29,x30,[sp],#32 */
		{ .program = BYTES("\x41\x0e\x20\x9d\x04\x9e\x03\x44\xde\xdd\x0e\x00"),
		  .rows = { { START + 4, SAVED(CFI_SP, 32, -3, -4) }, { START + 20, LEAF } } },
		/* sub sp,sp,#272; stp x29,x30,[sp,#256] */
		{ .program = BYTES("\x41\x0e\x90\x02\x43\x9d\x02\x9e\x01"),
		  .rows = { { START + 4, IN_REGISTER(272, CFI_LR, N) },
			    { START + 16, SAVED(CFI_SP, 272, -1, -2) } } },
		/* lr alone; then said to be the same. */
		{ .program = BYTES("\x41\x0e\x10\x9e\x02\x41\x08\x1e"),
		  .rows = { { START + 4, SAVED(CFI_SP, 16, -2, N) },
			    { START + 8, IN_REGISTER(16, CFI_LR, N) } } },
		/* By fp, with sp anywhere. */
		{ .program = BYTES("\x41\x0e\x20\x9d\x04\x9e\x03\x41\x0d\x1d"),
		  .rows = { { START + 4, SAVED(CFI_SP, 32, -3, -4) },
			    { START + 8, SAVED(CFI_FP, 32, -3, -4) } } },
		/* In another register, as in the millicode of GCC. */
		{ .program = BYTES("\x41\x09\x1e\x0f"),
		  .rows = { { START + 4, IN_REGISTER(0, 15, N) } } },
		/* There is none: the first frame. */
		{ .program = BYTES("\x41\x07\x1e"),
		  .rows = { { START + 4, { .kind = CFA_END } } } },
	};

	(void)state;
	check_all(cases, array_len(cases));
}

static void signatures_and_other_registers_make_no_rows(void **state)
{
	static const struct program_case cases[] = {
		/* paciasp: the three instructions there are about it. */
		{ .program = BYTES("\x41\x2d\x41\x2c\x41\x2b\x01\x7c\x41\x0e\x10"),
		  .rows = { { START + 16, IN_REGISTER(16, CFI_LR, N) } } },
		/* RA_SIGN_STATE; x19, x28; d8 */
		{ .program = BYTES("\x41\x07\x22\x41\x16\x22\x01\x31\x41\x93\x02\x41\x9c\x03\x41"
				   "\x05\x48\x04"),
		  .rows = { { 0 } } },
	};

	(void)state;
	check_all(cases, array_len(cases));
}

static void slots_reach_far(void **state)
{
	static const struct program_case cases[] = {
		/* lr at CFA - 8 * 32766, fp below it. */
		{ .program = BYTES("\x41\x0e\xf8\xff\x0f\x05\x1e\xfe\xff\x01\x05\x1d\xff\xff\x01"),
		  .rows = { { START + 4, SAVED(CFI_SP, 262136, -32766, -32767) } } },
		/* fp is too far away, then lr too. */
		{ .program = BYTES("\x41\x0e\x80\x80\x10\x05\x1d\x80\x80\x02\x05\x1e\xff\xff\x01"),
		  .rows = { { START + 4, SAVED(CFI_SP, 262144, -32767, L) } },
		  .nr_unsupported = 1 },
		{ .program = BYTES("\x41\x0e\x90\x80\x10\x05\x1d\x82\x80\x02\x05\x1e\x81\x80\x02"),
		  .rows = { { START + 4, { .kind = CFA_UNSUPPORTED } } },
		  .nr_unsupported = 1 },
		/* No multiple of 8. */
		{ .program = BYTES("\x41\x10\x1e\x02\x23\x04"),
		  .rows = { { START + 4, { .kind = CFA_UNSUPPORTED } } },
		  .nr_unsupported = 1 },
	};

	(void)state;
	check_all(cases, array_len(cases));
}

static void damaged_programs_end_in_a_row_that_says_so(void **state)
{
	static const struct byte_string programs[] = {
		BYTES("\x41\x2b"), /* operands of AARCH64_set_ra_state are missing */
		BYTES("\x41\x2b\x01"), BYTES("\x41\x2b\x01\x80"), BYTES("\x41\x2a"), /* not known */
		BYTES("\x41\x9e"),     BYTES("\x41\x09\x1e"),
	};

	(void)state;
	for (size_t i = 0; i < array_len(programs); i++)
		check(&(struct program_case){
			.program = programs[i],
			.rows = { { START + 4, { .kind = CFA_UNSUPPORTED } } },
			.is_bad = true,
		});
}

static void check_state(const struct cfi_state *state, bool is_signal_frame, enum cfa_kind kind)
{
	struct cfi_rule rule;

	(void)cfi_state_make_rule(state, is_signal_frame, &rule);
	assert_int_equal(rule.kind, kind);
}

/* As in the vDSO of Linux before 5.8. */
static void signal_frames_are_marked_and_counted_from_fp(void **state)
{
	struct cfi_state frame = {
		.cfa_register = CFI_FP,
		.places = { [CFI_COLUMN_FP] = { .kind = CFI_PLACE_AT_CFA },
			    [CFI_COLUMN_RA] = { .kind = CFI_PLACE_AT_CFA, .offset = 8 } },
	};

	(void)state;
	check_state(&frame, true, CFA_SIGNAL);
	check_state(&frame, false, CFA_REGISTER);
	frame.cfa_offset = 16;
	check_state(&frame, true, CFA_REGISTER);
	frame.cfa_offset = 0;
	frame.cfa_register = CFI_SP;
	check_state(&frame, true, CFA_REGISTER);
}

/* x86-64's PLTs look at the column of the return address, which is no program counter here. */
static void there_are_no_plt_expressions(void **state)
{
	static const uint8_t expression[] = { 0x8f, 0x08, 0x8e, 0x00, 0x3f, 0x1a,
					      0x3b, 0x2a, 0x33, 0x24, 0x22 };

	(void)state;
	assert_int_equal(
		dwarf_value_of(dwarf_cursor_over(expression, sizeof(expression)), false).kind,
		DWARF_VALUE_UNKNOWN);
}

static void the_column_of_lr_is_that_of_the_return_address(void **state)
{
	static const struct {
		struct byte_string cie;
		int result;
	} cases[] = {
		{ BYTES("\x01zR\0\x04\x78\x1e\x01\x1b\x0c\x1f\x00"), 0 },
		{ BYTES("\x01zRB\0\x04\x78\x1e\x01\x1b\x0c\x1f\x00"), 0 }, /* signed with key B */
		{ BYTES("\x01zR\0\x04\x78\x10\x01\x1b\x0c\x1f\x00"), -EBADMSG }, /* x86-64's */
		{ BYTES("\x01zR\0\x04\x78\x20\x01\x1b\x0c\x1f\x00"), -EBADMSG },
		{ BYTES("\x01zR\0\x04\x78\x1f\x01\x1b\x0c\x1f\x00"), -EBADMSG },
	};

	(void)state;
	for (size_t i = 0; i < array_len(cases); i++) {
		struct cfi_bytes bytes = { 0 };
		struct dwarf_cursor program;
		struct cfi_entry entry;
		struct cfi_cie cie;

		cfi_bytes_entry(&bytes, 0, cases[i].cie);

		const struct cfi_section section = cfi_bytes_section(&bytes);
		struct cfi_entries entries = { .section = &section };
		assert_true(cfi_entries_next(&entries, &entry));
		assert_int_equal(cfi_cie_parse(&section, &entry, &cie, &program), cases[i].result);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lr_has_the_return_address_until_it_is_saved),
		cmocka_unit_test(signatures_and_other_registers_make_no_rows),
		cmocka_unit_test(slots_reach_far),
		cmocka_unit_test(damaged_programs_end_in_a_row_that_says_so),
		cmocka_unit_test(signal_frames_are_marked_and_counted_from_fp),
		cmocka_unit_test(there_are_no_plt_expressions),
		cmocka_unit_test(the_column_of_lr_is_that_of_the_return_address),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
