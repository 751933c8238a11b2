/* SPDX-License-Identifier: Apache-2.0 */
/* Three opcodes, which make up nearly all instructions, have an operand in their lower 6 bits. The
 * others are in a table, with the forms of their operands and the function that runs them. */
#include "unwind/cfi/cfi_program.h"

#define MAX_REMEMBERED 16 /* compilers need one or two */
#define NR_OPCODES 64

enum primary_opcode {
	DW_CFA_advance_loc = 1,
	DW_CFA_offset = 2,
	DW_CFA_restore = 3,
};

struct machine {
	const struct cfi_section *section;
	const struct cfi_cie *cie;
	struct dwarf_cursor cursor;
	uint64_t address; /* from which on the state holds */
	uint64_t end; /* of the function */
	bool has_news; /* the state has changed since the last row */
	bool is_done; /* the rest is behind the function's end, or a row could not be added */
	struct cfi_state state;
	unsigned int nr_remembered;
	struct cfi_state remembered[MAX_REMEMBERED];

	/* NULL in a CIE, which has no rows. */
	struct row_builder *builder;
	struct unwind_losses *losses;
	int result;
};

/* Operands of an instruction, as they are written. */
struct operands {
	uint64_t first;
	uint64_t second;
	struct dwarf_cursor expression;
};

static int add_row(struct machine *machine)
{
	struct cfi_rule rule;

	if (!cfi_state_make_rule(&machine->state, machine->cie->is_signal_frame, &rule))
		machine->losses->nr_unsupported_rules++;
	return row_builder_add(machine->builder, machine->address, &rule);
}

static void finish_row(struct machine *machine)
{
	if (!machine->has_news || !machine->builder)
		return;
	machine->has_news = false;
	machine->result = add_row(machine);
	machine->is_done = machine->result < 0;
}

/* Goes on to a later address. A CIE has none. */
static void advance(struct machine *machine, uint64_t distance)
{
	if (distance == 0 || !machine->builder)
		return;
	finish_row(machine);
	if (distance >= machine->end - machine->address)
		machine->is_done = true;
	else
		machine->address += distance;
}

static void set_place(struct machine *machine, uint64_t reg, struct cfi_place place)
{
	int column = cfi_column_of(reg);

	if (column < 0)
		return;
	machine->state.places[column] = place;
	machine->has_news = true;
}

static void set_place_kind(struct machine *machine, uint64_t reg, enum cfi_place_kind kind)
{
	set_place(machine, reg, (struct cfi_place){ .kind = (uint8_t)kind });
}

static int64_t scale(const struct machine *machine, uint64_t number)
{
	return (int64_t)(number * (uint64_t)machine->cie->data_align);
}

static void set_cfa(struct machine *machine, uint64_t reg, int64_t offset)
{
	machine->state.cfa_register = reg;
	machine->state.cfa_offset = offset;
	machine->state.has_cfa_expression = false;
	machine->has_news = true;
}

static void run_nop(struct machine *machine, const struct operands *operands)
{
	(void)machine;
	(void)operands;
}

static void run_set_loc(struct machine *machine, const struct operands *operands)
{
	if (machine->builder && operands->first < machine->address)
		dwarf_cursor_fail(&machine->cursor);
	else
		advance(machine, operands->first - machine->address);
}

static void run_advance_loc(struct machine *machine, const struct operands *operands)
{
	uint64_t distance;

	if (__builtin_mul_overflow(operands->first, machine->cie->code_align, &distance))
		distance = UINT64_MAX;
	advance(machine, distance);
}

static void run_offset(struct machine *machine, const struct operands *operands)
{
	set_place(machine, operands->first,
		  cfi_place_from_cfa(CFI_PLACE_AT_CFA, scale(machine, operands->second)));
}

static void run_negative_offset(struct machine *machine, const struct operands *operands)
{
	set_place(machine, operands->first,
		  cfi_place_from_cfa(CFI_PLACE_AT_CFA, scale(machine, -operands->second)));
}

static void run_val_offset(struct machine *machine, const struct operands *operands)
{
	set_place(machine, operands->first,
		  cfi_place_from_cfa(CFI_PLACE_CFA_VALUE, scale(machine, operands->second)));
}

static void run_restore(struct machine *machine, const struct operands *operands)
{
	int column = cfi_column_of(operands->first);

	if (column >= 0)
		set_place(machine, operands->first, machine->cie->initial.places[column]);
}

static void run_undefined(struct machine *machine, const struct operands *operands)
{
	set_place_kind(machine, operands->first, CFI_PLACE_UNDEFINED);
}

static void run_same_value(struct machine *machine, const struct operands *operands)
{
	set_place_kind(machine, operands->first, CFI_PLACE_SAME);
}

static void run_register(struct machine *machine, const struct operands *operands)
{
	if (operands->first == operands->second)
		set_place_kind(machine, operands->first, CFI_PLACE_SAME);
	else if (operands->second >= NR_REGS)
		set_place_kind(machine, operands->first, CFI_PLACE_OTHER);
	else
		set_place(machine, operands->first,
			  (struct cfi_place){ .kind = CFI_PLACE_IN_REGISTER,
					      .reg = (uint8_t)operands->second });
}

static void run_remember_state(struct machine *machine, const struct operands *operands)
{
	(void)operands;
	if (machine->nr_remembered == MAX_REMEMBERED)
		dwarf_cursor_fail(&machine->cursor);
	else
		machine->remembered[machine->nr_remembered++] = machine->state;
}

static void run_restore_state(struct machine *machine, const struct operands *operands)
{
	(void)operands;
	if (machine->nr_remembered == 0) {
		dwarf_cursor_fail(&machine->cursor);
		return;
	}
	machine->state = machine->remembered[--machine->nr_remembered];
	machine->has_news = true;
}

static void run_def_cfa(struct machine *machine, const struct operands *operands)
{
	set_cfa(machine, operands->first, (int64_t)operands->second);
}

static void run_def_cfa_sf(struct machine *machine, const struct operands *operands)
{
	set_cfa(machine, operands->first, scale(machine, operands->second));
}

static void run_def_cfa_register(struct machine *machine, const struct operands *operands)
{
	set_cfa(machine, operands->first, machine->state.cfa_offset);
}

static void run_def_cfa_offset(struct machine *machine, const struct operands *operands)
{
	set_cfa(machine, machine->state.cfa_register, (int64_t)operands->first);
}

static void run_def_cfa_offset_sf(struct machine *machine, const struct operands *operands)
{
	set_cfa(machine, machine->state.cfa_register, scale(machine, operands->first));
}

static void run_def_cfa_expression(struct machine *machine, const struct operands *operands)
{
	machine->state.cfa_expression = dwarf_value_of(operands->expression, /* has_cfa= */ false);
	machine->state.has_cfa_expression = true;
	machine->has_news = true;
}

static void run_expression(struct machine *machine, const struct operands *operands)
{
	struct dwarf_value address = dwarf_value_of(operands->expression, /* has_cfa= */ true);

	set_place(machine, operands->first, cfi_place_at(&address));
}

static void run_val_expression(struct machine *machine, const struct operands *operands)
{
	struct dwarf_value value = dwarf_value_of(operands->expression, /* has_cfa= */ true);

	if (value.kind == DWARF_VALUE_REGISTER && value.reg == DWARF_REG_CFA)
		set_place(machine, operands->first,
			  cfi_place_from_cfa(CFI_PLACE_CFA_VALUE, value.offset));
	else
		set_place_kind(machine, operands->first, CFI_PLACE_OTHER);
}

enum operand_form {
	FORM_NONE,
	FORM_U8, /* numbers of so many bytes */
	FORM_U16 = 2,
	FORM_U32 = 4,
	FORM_U64 = 8,
	FORM_ULEB,
	FORM_SLEB,
	FORM_ADDRESS,
	FORM_BLOCK, /* an expression behind its length */
};

struct instruction {
	void (*run)(struct machine *machine, const struct operands *operands);
	uint8_t forms[2]; /* enum operand_form */
};

/* By opcode. Opcodes without a function are unknown, and so is their length. */
static const struct instruction instructions[NR_OPCODES] = {
	[0x00] = { .run = run_nop },
	[0x01] = { run_set_loc, { FORM_ADDRESS } },
	[0x02] = { run_advance_loc, { FORM_U8 } },
	[0x03] = { run_advance_loc, { FORM_U16 } },
	[0x04] = { run_advance_loc, { FORM_U32 } },
	[0x05] = { run_offset, { FORM_ULEB, FORM_ULEB } },
	[0x06] = { run_restore, { FORM_ULEB } },
	[0x07] = { run_undefined, { FORM_ULEB } },
	[0x08] = { run_same_value, { FORM_ULEB } },
	[0x09] = { run_register, { FORM_ULEB, FORM_ULEB } },
	[0x0a] = { .run = run_remember_state },
	[0x0b] = { .run = run_restore_state },
	[0x0c] = { run_def_cfa, { FORM_ULEB, FORM_ULEB } },
	[0x0d] = { run_def_cfa_register, { FORM_ULEB } },
	[0x0e] = { run_def_cfa_offset, { FORM_ULEB } },
	[0x0f] = { run_def_cfa_expression, { FORM_BLOCK } },
	[0x10] = { run_expression, { FORM_ULEB, FORM_BLOCK } },
	[0x11] = { run_offset, { FORM_ULEB, FORM_SLEB } },
	[0x12] = { run_def_cfa_sf, { FORM_ULEB, FORM_SLEB } },
	[0x13] = { run_def_cfa_offset_sf, { FORM_SLEB } },
	[0x14] = { run_val_offset, { FORM_ULEB, FORM_ULEB } },
	[0x15] = { run_val_offset, { FORM_ULEB, FORM_SLEB } },
	[0x16] = { run_val_expression, { FORM_ULEB, FORM_BLOCK } },
	[0x1d] = { run_advance_loc, { FORM_U64 } }, /* MIPS_advance_loc8 */
	/* These tell how arm64 has signed return addresses, which are read without signatures. */
	[0x2b] = { run_nop, { FORM_ULEB, FORM_SLEB } }, /* AARCH64_set_ra_state */
	[0x2c] = { .run = run_nop }, /* AARCH64_negate_ra_state_with_pc */
	[0x2d] = { .run = run_nop }, /* AARCH64_negate_ra_state; GNU_window_save, of SPARC */
	[0x2e] = { run_nop, { FORM_ULEB } }, /* GNU_args_size */
	[0x2f] = { run_negative_offset,
		   { FORM_ULEB, FORM_ULEB } }, /* GNU_negative_offset_extended */
};

static uint64_t read_operand(struct machine *machine, uint8_t form, struct operands *operands)
{
	struct dwarf_cursor *cursor = &machine->cursor;

	switch (form) {
	case FORM_U8:
	case FORM_U16:
	case FORM_U32:
	case FORM_U64:
		return dwarf_cursor_fixed(cursor, form);
	case FORM_ULEB:
		return dwarf_cursor_uleb(cursor);
	case FORM_SLEB:
		return (uint64_t)dwarf_cursor_sleb(cursor);
	case FORM_ADDRESS:
		return dwarf_cursor_pointer(cursor, machine->cie->pointer_encoding,
					    machine->section);
	case FORM_BLOCK:
		operands->expression = dwarf_cursor_take(cursor, dwarf_cursor_uleb(cursor));
		return 0;
	default:
		return 0;
	}
}

static void run_from_table(struct machine *machine, const struct instruction *instruction)
{
	struct operands operands = { 0 };

	if (!instruction->run) {
		dwarf_cursor_fail(&machine->cursor);
		return;
	}
	operands.first = read_operand(machine, instruction->forms[0], &operands);
	operands.second = read_operand(machine, instruction->forms[1], &operands);
	if (!machine->cursor.is_bad)
		instruction->run(machine, &operands);
}

static void run_instruction(struct machine *machine)
{
	uint8_t byte = dwarf_cursor_u8(&machine->cursor);
	struct operands operands = { .first = byte & (NR_OPCODES - 1) };

	switch (byte / NR_OPCODES) {
	case DW_CFA_advance_loc:
		run_advance_loc(machine, &operands);
		return;
	case DW_CFA_offset:
		operands.second = dwarf_cursor_uleb(&machine->cursor);
		if (!machine->cursor.is_bad)
			run_offset(machine, &operands);
		return;
	case DW_CFA_restore:
		run_restore(machine, &operands);
		return;
	default:
		run_from_table(machine, &instructions[byte]);
	}
}

static int run(struct machine *machine)
{
	while (!machine->is_done && machine->cursor.pos < machine->cursor.end)
		run_instruction(machine);
	if (machine->cursor.is_bad)
		return -EBADMSG;
	finish_row(machine);
	return machine->result;
}

/* Leaves the remembered states as they are, because they are large and need not be set. */
static void begin(struct machine *machine, const struct cfi_section *section,
		  const struct cfi_cie *cie, struct dwarf_cursor program)
{
	machine->section = section;
	machine->cie = cie;
	machine->cursor = program;
	machine->state = cie->initial;
	machine->nr_remembered = 0;
	machine->has_news = true;
	machine->is_done = false;
	machine->builder = NULL;
	machine->losses = NULL;
	machine->result = 0;
	machine->address = 0;
	machine->end = 0;
}

int cfi_program_run_initial(const struct cfi_section *section, struct dwarf_cursor program,
			    struct cfi_cie *cie)
{
	struct machine machine;

	begin(&machine, section, cie, program);
	int r = run(&machine);
	if (r < 0)
		return r;
	cie->initial = machine.state;
	return 0;
}

/* Adds a row that says that nothing is known from the damaged instruction on. */
static int add_damaged_row(const struct machine *machine)
{
	static const struct cfi_rule unsupported = { .kind = CFA_UNSUPPORTED };

	return row_builder_add(machine->builder, machine->address, &unsupported);
}

int cfi_program_run(const struct cfi_section *section, const struct cfi_cie *cie,
		    const struct cfi_fde *fde, struct row_builder *builder,
		    struct unwind_losses *losses)
{
	struct machine machine;

	begin(&machine, section, cie, fde->program);
	machine.builder = builder;
	machine.losses = losses;
	machine.address = fde->start;
	machine.end = fde->end;

	int r = run(&machine);
	if (r != -EBADMSG)
		return r;
	r = add_damaged_row(&machine);
	return r < 0 ? r : -EBADMSG;
}
