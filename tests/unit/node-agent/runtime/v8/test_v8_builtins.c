/* SPDX-License-Identifier: Apache-2.0 */
/* In a file made by hand: three sections of code, whose functions a table describes. */
#include "runtime/v8/v8_builtins.h"

#include "base/cleanup.h"
#include "runtime/v8/v8_values.h"
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#define ADDRESS 0x400000ULL /* of the first byte of the file */
#define FUNCTION_BYTES 0x40
#define TEXT 0x10000 /* offsets in the file */
#define SMALL_GAP 0x90000
#define BUILTINS (TEXT + 0x1000 + FUNCTION_BYTES)
#define BUILTINS_BYTES 0x100000
#define LAST (BUILTINS + BUILTINS_BYTES)
#define TEXT_END (LAST + SMALL_GAP + 0x1000)
#define OTHER_TEXT (TEXT_END + 0x200000) /* the space before it is no code */
#define FILE_BYTES (OTHER_TEXT + 0x1000)

enum { NO_SECTION, SECTION_TEXT, SECTION_OTHER, SECTION_NAMES, NR_SECTIONS };
enum { SEGMENT_LOAD, SEGMENT_TABLE, NR_SEGMENTS };

/* In the order of their addresses. */
static const uint32_t functions[] = { TEXT, TEXT + 0x400,     TEXT + 0x1000,
				      LAST, LAST + SMALL_GAP, OTHER_TEXT };

#define NR_FUNCTIONS array_len(functions)

struct description {
	uint32_t length;
	uint32_t cie;
	int32_t function;
	uint32_t function_bytes;
};

struct file {
	Elf64_Ehdr header;
	Elf64_Phdr segments[NR_SEGMENTS];
	Elf64_Shdr sections[NR_SECTIONS];
	char names[16];
	struct {
		uint8_t version;
		uint8_t encodings[3];
		int32_t eh_frame;
		uint32_t nr_functions;
		struct {
			int32_t function;
			int32_t description;
		} entries[array_len(functions)];
	} table;
	struct description descriptions[array_len(functions)];
	uint8_t rest[];
};

#define TABLE offsetof(struct file, table)

static void make_sections(struct file *file)
{
	file->sections[SECTION_TEXT] = (Elf64_Shdr){ .sh_type = SHT_PROGBITS,
						     .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
						     .sh_addr = ADDRESS + TEXT,
						     .sh_offset = TEXT,
						     .sh_size = TEXT_END - TEXT };
	file->sections[SECTION_OTHER] = (Elf64_Shdr){ .sh_type = SHT_PROGBITS,
						      .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
						      .sh_addr = ADDRESS + OTHER_TEXT,
						      .sh_offset = OTHER_TEXT,
						      .sh_size = FILE_BYTES - OTHER_TEXT };
	file->sections[SECTION_NAMES] = (Elf64_Shdr){ .sh_type = SHT_STRTAB,
						      .sh_offset = offsetof(struct file, names),
						      .sh_size = sizeof(file->names) };
}

static void make_table(struct file *file)
{
	const uint8_t encodings[] = { 0x1b, 0x03, 0x3b };

	file->table.version = 1;
	memcpy(file->table.encodings, encodings, sizeof(encodings));
	file->table.nr_functions = NR_FUNCTIONS;
	for (size_t i = 0; i < NR_FUNCTIONS; i++) {
		size_t offset = offsetof(struct file, descriptions) +
				i * sizeof(struct description);

		file->table.entries[i].function = (int32_t)((int64_t)functions[i] - (int64_t)TABLE);
		file->table.entries[i].description = (int32_t)((int64_t)offset - (int64_t)TABLE);
		file->descriptions[i] = (struct description){ .length = 20,
							      .cie = 24,
							      .function_bytes = FUNCTION_BYTES };
	}
}

/* The caller frees it. */
static struct file *make_file(void)
{
	struct file *file = calloc(1, FILE_BYTES);

	assert_non_null(file);
	file->header = (Elf64_Ehdr){
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
			     EV_CURRENT },
		.e_type = ET_DYN,
		.e_machine = EM_X86_64,
		.e_version = EV_CURRENT,
		.e_ehsize = sizeof(Elf64_Ehdr),
		.e_phoff = offsetof(struct file, segments),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = NR_SEGMENTS,
		.e_shoff = offsetof(struct file, sections),
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = NR_SECTIONS,
		.e_shstrndx = SECTION_NAMES,
	};
	file->segments[SEGMENT_LOAD] = (Elf64_Phdr){ .p_type = PT_LOAD,
						     .p_flags = PF_R | PF_X,
						     .p_vaddr = ADDRESS,
						     .p_filesz = FILE_BYTES,
						     .p_memsz = FILE_BYTES };
	file->segments[SEGMENT_TABLE] = (Elf64_Phdr){ .p_type = PT_GNU_EH_FRAME,
						      .p_flags = PF_R,
						      .p_vaddr = ADDRESS + TABLE,
						      .p_offset = TABLE,
						      .p_filesz = sizeof(file->table),
						      .p_memsz = sizeof(file->table) };
	make_sections(file);
	make_table(file);
	return file;
}

/* Reads and frees the file. */
static void check(struct file *file, uint64_t start, uint64_t end)
{
	_cleanup_(elf_reader_done) struct elf_reader reader = { .fd = -EBADF };
	struct elf_exports exports = { .reader = &reader };
	struct runtime_file found = { 0 };

	assert_int_equal(elf_reader_init_bytes(&reader, file, FILE_BYTES), 0);
	assert_int_equal(v8_builtins_find(&exports, &found), 0);
	assert_int_equal(found.values[V8_BUILTINS_START], start);
	assert_int_equal(found.values[V8_BUILTINS_END], end);
	free(file);
}

static void builtins_are_behind_the_function_before_the_largest_gap(void **state)
{
	(void)state;
	check(make_file(), BUILTINS, LAST);
}

/* Programs have their code at other addresses than in the file. */
static void the_place_is_told_by_offset(void **state)
{
	struct file *file = make_file();
	(void)state;

	file->segments[SEGMENT_LOAD].p_vaddr += 0x2000;
	file->segments[SEGMENT_TABLE].p_vaddr += 0x2000;
	file->sections[SECTION_TEXT].sh_addr += 0x2000;
	file->sections[SECTION_OTHER].sh_addr += 0x2000;
	check(file, BUILTINS, LAST);
}

static void small_gaps_are_no_builtins(void **state)
{
	struct file *file = make_file();
	(void)state;

	file->table.entries[3].function -= BUILTINS_BYTES - 0x1000;
	file->table.entries[4].function -= BUILTINS_BYTES - 0x1000 + 0x20000;
	check(file, 0, 0);
}

static void data_between_sections_is_no_gap(void **state)
{
	struct file *file = make_file();
	(void)state;

	file->sections[SECTION_TEXT].sh_size = 0x1100;
	check(file, 0, 0);
	file = make_file();
	file->sections[SECTION_TEXT].sh_flags = SHF_ALLOC;
	check(file, 0, 0);
}

static void files_without_a_sorted_table_have_none(void **state)
{
	struct file *file = make_file();
	(void)state;

	file->segments[SEGMENT_TABLE].p_type = PT_NOTE;
	check(file, 0, 0);
	for (size_t i = 1; i < 3; i++) {
		file = make_file();
		file->table.encodings[i] = 0xff;
		check(file, 0, 0);
	}
	for (uint32_t nr = 0; nr < 2; nr++) {
		file = make_file();
		file->table.nr_functions = nr;
		check(file, 0, 0);
	}
}

static void damaged_tables_have_none(void **state)
{
	static const uint32_t numbers[] = { 4U << 20, (4U << 20) + 1, UINT32_MAX };
	struct file *file;
	(void)state;

	for (size_t i = 0; i < array_len(numbers); i++) {
		file = make_file();
		file->table.nr_functions = numbers[i];
		check(file, 0, 0);
	}
	file = make_file();
	file->segments[SEGMENT_TABLE].p_vaddr = ADDRESS + FILE_BYTES - 4;
	check(file, 0, 0);
	file = make_file();
	file->segments[SEGMENT_TABLE].p_vaddr = UINT64_MAX - 3;
	check(file, 0, 0);
	/* The description of the function before the gap. */
	file = make_file();
	file->table.entries[2].description = INT32_MAX;
	check(file, 0, 0);
	file = make_file();
	file->descriptions[2].function_bytes = UINT32_MAX;
	check(file, 0, 0);
	file = make_file();
	file->descriptions[2].function_bytes = BUILTINS_BYTES;
	check(file, 0, 0);
}

static void a_table_out_of_order_has_gaps_in_its_code_alone(void **state)
{
	struct file *file = make_file();
	(void)state;

	file->table.entries[2].function = INT32_MIN;
	file->table.entries[3].function = INT32_MAX;
	file->table.entries[4].function = INT32_MIN;
	check(file, 0, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(builtins_are_behind_the_function_before_the_largest_gap),
		cmocka_unit_test(the_place_is_told_by_offset),
		cmocka_unit_test(small_gaps_are_no_builtins),
		cmocka_unit_test(data_between_sections_is_no_gap),
		cmocka_unit_test(files_without_a_sorted_table_have_none),
		cmocka_unit_test(damaged_tables_have_none),
		cmocka_unit_test(a_table_out_of_order_has_gaps_in_its_code_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
