/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the row table of an ELF file, as the unwinder reads it: one line for each range of code in
 * which the same rule holds, in the notation of `readelf --debug-dump=frames-interp`:
 *
 *	START END CFA rbp rbx r12 r13 r14 r15 ra	(arm64: START END CFA x29 ra)
 *
 * Addresses are virtual ones. CFA: rsp+8; *(rbp-40)+0; plt(rsp+8,11), 8 more from byte 11 on; or
 * the name of a rule without one, in capitals. Registers: c-16, at CFA - 16; rbp-8; u, not saved;
 * lost; the return address also: in rcx, x30. Each byte of the code is looked up. */
#include "base/cleanup.h"
#include "tests/oracle/rows/registers.h"
#include "tests/unit/support/row_lookup.h"
#include "unwind/file/elf_rows.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define MAX_TABLE_BYTES ((size_t)256 << 20)
#define WORD_BYTES 8

static const char *const kinds[CFA_NR_KINDS] = {
#define X(NAME, WORDS) [CFA_##NAME] = #NAME,
	CFA_KINDS(X)
#undef X
};

/* Returns whether the rule has a CFA. */
static bool print_cfa(const struct cfi_rule *rule)
{
	const char *reg = registers[rule->reg % NR_REGS];

	switch (rule->kind) {
	case CFA_REGISTER:
		printf("%s%+d", reg, rule->offset);
		return true;
	case CFA_DEREF:
		printf("*(%s%+d)%+d", reg, rule->offset, (int16_t)rule->arg);
		return true;
	case CFA_PLT:
		printf("plt(%s%+d,%u)", reg, rule->offset, rule->arg);
		return true;
	default:
		printf("%s", kinds[rule->kind % CFA_NR_KINDS]);
		return false;
	}
}

/* Places below the stack pointer say nothing. */
static bool is_saved(const struct cfi_rule *rule, cfi_slot slot)
{
	bool is_by_sp = rule->kind == CFA_REGISTER && rule->reg == CFI_SP &&
			!(rule->flags & (CFI_SAVED_AT_RBP | CFI_SAVED_BELOW_SP));

	return slot != CFI_NOT_SAVED && !(is_by_sp && rule->offset + WORD_BYTES * slot < 0);
}

static void print_place(const struct cfi_rule *rule, cfi_slot slot)
{
	if (slot == CFI_LOST)
		printf(" lost");
	else if (!is_saved(rule, slot))
		printf(" u");
	else
		printf(" %s%+d", rule->flags & CFI_SAVED_AT_RBP ? registers[CFI_FP] : "c",
		       WORD_BYTES * slot);
}

static void print_range(uint64_t start, uint64_t end, const struct cfi_rule *rule)
{
	printf("%" PRIx64 " %" PRIx64 " ", start, end);
	if (print_cfa(rule)) {
		for (size_t i = 0; i < NR_SAVED_REGS; i++)
			print_place(rule, rule->saved[i]);
		if (rule->flags & CFI_RETURN_IN_REGISTER)
			printf(" %s", registers[rule->arg % NR_REGS]);
		else
			printf(" c%+d", WORD_BYTES * rule->return_address);
	}
	printf("\n");
}

static void print_segment(const void *table, const GElf_Phdr *segment)
{
	struct cfi_rule last = { 0 }, rule;
	uint64_t start = 0;

	for (uint64_t i = 0; i < segment->p_filesz; i++) {
		row_lookup(table, segment->p_offset + i, &rule);
		if (memcmp(&rule, &last, sizeof(rule)) == 0)
			continue;
		if (i > start)
			print_range(segment->p_vaddr + start, segment->p_vaddr + i, &last);
		start = i;
		last = rule;
	}
	print_range(segment->p_vaddr + start, segment->p_vaddr + segment->p_filesz, &last);
}

static int print_table(int fd, const void *table)
{
	_cleanup_(elf_reader_done) struct elf_reader reader = { 0 };
	int r = elf_reader_init(&reader, fd);

	for (size_t i = 0; r == 0 && i < reader.nr_segments; i++)
		if (reader.segments[i].p_type == PT_LOAD && reader.segments[i].p_flags & PF_X)
			print_segment(table, &reader.segments[i]);
	return r;
}

static int dump(const char *path)
{
	const struct elf_rows_opts opts = { .max_bytes = MAX_TABLE_BYTES };
	_cleanup_(row_table_bytes_done) struct row_table_bytes table = { 0 };
	_cleanup_(elf_rows_closep) struct elf_rows *rows = NULL;
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct elf_rows_stats stats;

	if (fd < 0)
		return -errno;
	int r = elf_rows_open(fd, &opts, &rows);
	if (r == 0)
		r = elf_rows_build(rows, &table, &stats);
	return r != 0 ? r : print_table(fd, table.data);
}

int main(int argc, char **argv)
{
	int r = argc == 2 ? dump(argv[1]) : -EINVAL;

	if (r < 0)
		fprintf(stderr, "rows_dump: %s\n", strerror(-r));
	return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
