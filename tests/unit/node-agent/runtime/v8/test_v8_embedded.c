/* SPDX-License-Identifier: Apache-2.0 */
/* In a file made by hand: a table of functions in read-only data, and much code with them. The
 * functions are those of a V8 in all but what they do. */
#include "runtime/v8/v8_embedded.h"

#include "runtime/v8/v8_bytecodes.h"
#include "runtime/v8/v8_values.h"
#include "runtime/v8/v8_version.h"

#include "base/cleanup.h"
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#define DATA 0x1000 /* offsets in the file */
#define DATA_BYTES 0x80000
#define TABLE (DATA + 0x41010) /* in the second part that is read, near its start */
#define VERSION (DATA + 0x3fff0) /* across the end of the first part */
#define SIZES (DATA + 0x100)
#define TEXT 0x81000
#define TEXT_BYTES (9 << 20)
#define CODE (TEXT + 0x53000)
#define FILE_BYTES (TEXT + TEXT_BYTES)
#define NR_BUILTINS 1200
#define NR_BYTECODES 200
#define PADDING 0xcc
#define INT 0x90

enum { NO_SECTION, SECTION_DATA, SECTION_NAMES, NR_SECTIONS };

struct builtin {
	uint32_t offset;
	uint32_t nr_bytes;
	uint32_t metadata;
};

struct head {
	Elf64_Ehdr header;
	Elf64_Phdr segment;
	Elf64_Shdr sections[NR_SECTIONS];
	char names[16];
};

/* Adds a function behind the last one, whose end it returns. */
static uint32_t add_builtin(uint8_t *bytes, struct builtin *builtin, uint32_t end)
{
	uint32_t nr_bytes = 500 + end / 32 % 7 * 40;

	*builtin = (struct builtin){ .offset = end, .nr_bytes = nr_bytes };
	memset(bytes + CODE + end, INT, nr_bytes);
	end += nr_bytes;
	while (end % 32 != 0)
		bytes[CODE + end++] = PADDING;
	return end;
}

static void put_head(uint8_t *bytes)
{
	const struct head head = {
		.header = { .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
					 ELFDATA2LSB, EV_CURRENT },
			    .e_type = ET_DYN,
			    .e_machine = EM_X86_64,
			    .e_version = EV_CURRENT,
			    .e_ehsize = sizeof(Elf64_Ehdr),
			    .e_phoff = offsetof(struct head, segment),
			    .e_phentsize = sizeof(Elf64_Phdr),
			    .e_phnum = 1,
			    .e_shoff = offsetof(struct head, sections),
			    .e_shentsize = sizeof(Elf64_Shdr),
			    .e_shnum = NR_SECTIONS,
			    .e_shstrndx = SECTION_NAMES },
		.segment = { .p_type = PT_LOAD,
			     .p_flags = PF_R | PF_X,
			     .p_offset = TEXT,
			     .p_vaddr = TEXT,
			     .p_filesz = TEXT_BYTES,
			     .p_memsz = TEXT_BYTES },
		.sections = { [SECTION_DATA] = { .sh_type = SHT_PROGBITS,
						 .sh_flags = SHF_ALLOC,
						 .sh_addr = DATA,
						 .sh_offset = DATA,
						 .sh_size = DATA_BYTES },
			      [SECTION_NAMES] = { .sh_type = SHT_STRTAB,
						  .sh_offset = offsetof(struct head, names),
						  .sh_size = sizeof(head.names) } },
	};

	memcpy(bytes, &head, sizeof(head));
}

/* Returns a file, which the caller frees, and the number of bytes of the functions. */
static uint8_t *make_file(uint32_t *ret_end)
{
	static const char version[] = "\0"
				      "15.0.245.2-rusty";
	uint8_t *bytes = calloc(1, FILE_BYTES);
	struct builtin *table;

	assert_non_null(bytes);
	put_head(bytes);
	table = (struct builtin *)(void *)(bytes + TABLE);
	*ret_end = 0;
	for (size_t i = 0; i < NR_BUILTINS; i++)
		*ret_end = add_builtin(bytes, &table[i], *ret_end);
	*ret_end = table[NR_BUILTINS - 1].offset + table[NR_BUILTINS - 1].nr_bytes;
	memcpy(bytes + VERSION, version, sizeof(version));
	return bytes;
}

static struct elf_reader read_file(const uint8_t *bytes)
{
	struct elf_reader reader = { .fd = -EBADF };

	assert_int_equal(elf_reader_init_bytes(&reader, bytes, FILE_BYTES), 0);
	return reader;
}

/* Searches the file and frees it. */
static int find(uint8_t *bytes, struct v8_embedded *ret_embedded)
{
	struct elf_reader reader = read_file(bytes);
	int r = v8_embedded_find(&reader, ret_embedded);

	elf_reader_done(&reader);
	free(bytes);
	return r;
}

static void builtins_are_found_by_their_table(void **state)
{
	struct v8_embedded embedded = { 0 };
	uint32_t end;
	(void)state;

	assert_int_equal(find(make_file(&end), &embedded), 0);
	assert_int_equal(embedded.start, CODE);
	assert_int_equal(embedded.end, CODE + end);
	assert_false(embedded.is_compressed);
}

/* As where the functions that are used most come first. */
static void the_table_may_be_in_another_order(void **state)
{
	struct v8_embedded embedded = { 0 };
	struct builtin *table, builtin;
	uint32_t end;
	uint8_t *bytes = make_file(&end);
	(void)state;

	table = (struct builtin *)(void *)(bytes + TABLE);
	for (size_t i = 3; i < NR_BUILTINS / 2; i++) {
		builtin = table[i];
		table[i] = table[NR_BUILTINS - i];
		table[NR_BUILTINS - i] = builtin;
	}
	assert_int_equal(find(bytes, &embedded), 0);
	assert_int_equal(embedded.start, CODE);
	assert_int_equal(embedded.end, CODE + end);
}

static void code_tells_whether_pointers_are_compressed(void **state)
{
	static const uint8_t uses[][3] = { { 0x49, 0x03, 0xc6 }, { 0x4d, 0x0b, 0xc6 } };
	struct v8_embedded embedded = { 0 };
	uint32_t end;
	(void)state;

	for (size_t i = 0; i < array_len(uses); i++) {
		uint8_t *bytes = make_file(&end);

		for (uint32_t at = 0; at + 256 < end; at += 256)
			memcpy(bytes + CODE + at, uses[i], sizeof(uses[i]));
		assert_int_equal(find(bytes, &embedded), 0);
		assert_true(embedded.is_compressed);
	}
}

/* Puts an instruction into each function. */
static void put_instructions(uint8_t *bytes, uint32_t end, uint32_t step, const uint8_t *code,
			     size_t len)
{
	for (uint32_t at = 128; at + 256 < end; at += step)
		memcpy(bytes + CODE + at, code, len);
}

static void code_tells_where_the_trusted_cage_is(void **state)
{
	/* or 0x250(%r13), %rcx; add 0x48(%r13), %r9 */
	static const struct {
		uint8_t code[7];
		uint8_t len;
		uint16_t offset;
	} uses[] = { { { 0x49, 0x0b, 0x8d, 0x50, 2, 0, 0 }, 7, 0x250 },
		     { { 0x4d, 0x03, 0x4d, 0x48 }, 4, 0x48 } };
	struct v8_embedded embedded = { 0 };
	uint32_t end;
	(void)state;

	for (size_t i = 0; i < array_len(uses); i++) {
		uint8_t *bytes = make_file(&end);

		put_instructions(bytes, end, 4096, uses[i].code, uses[i].len);
		assert_int_equal(find(bytes, &embedded), 0);
		assert_int_equal(embedded.trusted_cage, uses[i].offset);
	}
}

static void other_words_of_the_isolate_are_no_cage(void **state)
{
	/* Not aligned, too far, below the isolate, in another register, and a move. */
	static const uint8_t others[][7] = {
		{ 0x49, 0x0b, 0x8d, 0x51, 2, 0, 0 },	   { 0x49, 0x0b, 0x8d, 0, 0, 2, 0 },
		{ 0x49, 0x0b, 0x4d, 0xf8, INT, INT, INT }, { 0x48, 0x0b, 0x8d, 0x50, 2, 0, 0 },
		{ 0x49, 0x8b, 0x8d, 0x50, 2, 0, 0 },
	};
	static const uint8_t seldom[] = { 0x49, 0x0b, 0x8d, 0x50, 2, 0, 0 };
	struct v8_embedded embedded = { 0 };
	uint32_t end;
	(void)state;

	for (size_t i = 0; i <= array_len(others); i++) {
		uint8_t *bytes = make_file(&end);

		if (i < array_len(others))
			put_instructions(bytes, end, 4096, others[i], sizeof(others[i]));
		else
			put_instructions(bytes, end, 1 << 16, seldom, sizeof(seldom));
		assert_int_equal(find(bytes, &embedded), 0);
		assert_int_equal(embedded.trusted_cage, 0);
	}
}

static void files_with_little_code_are_not_searched(void **state)
{
	struct v8_embedded embedded;
	uint32_t end;
	uint8_t *bytes = make_file(&end);
	(void)state;

	((struct head *)(void *)bytes)->segment.p_filesz = 7 << 20;
	assert_int_equal(find(bytes, &embedded), -ENOENT);
}

static void other_files_have_no_builtins(void **state)
{
	struct v8_embedded embedded;
	uint32_t end;
	uint8_t *bytes = make_file(&end);
	(void)state;

	/* A table, but no such code. */
	memset(bytes + CODE, INT, end);
	assert_int_equal(find(bytes, &embedded), -ENOENT);
	/* Too short a table. */
	bytes = make_file(&end);
	memset(bytes + TABLE + 900 * sizeof(struct builtin), 0, sizeof(struct builtin));
	assert_int_equal(find(bytes, &embedded), -ENOENT);
	/* Functions that lie on each other. */
	bytes = make_file(&end);
	for (size_t i = 3; i < NR_BUILTINS; i++)
		((struct builtin *)(void *)(bytes + TABLE))[i].offset = 0;
	assert_int_equal(find(bytes, &embedded), -ENOENT);
	/* The data can be written. */
	bytes = make_file(&end);
	((struct head *)(void *)bytes)->sections[SECTION_DATA].sh_flags |= SHF_WRITE;
	assert_int_equal(find(bytes, &embedded), -ENOENT);
}

static void damaged_files_have_no_builtins(void **state)
{
	static const uint64_t sizes[] = { 0, 4, UINT64_MAX, FILE_BYTES };
	struct v8_embedded embedded;
	uint32_t end;
	(void)state;

	for (size_t i = 0; i < array_len(sizes); i++) {
		uint8_t *bytes = make_file(&end);
		struct head *head = (struct head *)(void *)bytes;

		head->segment.p_offset = sizes[i];
		head->sections[SECTION_DATA].sh_offset = FILE_BYTES - 2048;
		head->sections[SECTION_DATA].sh_size = sizes[i];
		assert_int_equal(find(bytes, &embedded), -ENOENT);
	}
}

static uint32_t find_version(const char *text, size_t len)
{
	uint32_t end, version;
	uint8_t *bytes = make_file(&end);

	memset(bytes + VERSION, 0, 32);
	memcpy(bytes + VERSION + 1, text, len);
	struct elf_reader reader = read_file(bytes);
	assert_int_equal(v8_version_in_data(&reader, &version), 0);
	elf_reader_done(&reader);
	free(bytes);
	return version;
}

static void a_version_is_found_among_texts(void **state)
{
	static const char *const others[] = { "15.0.245",    "15.0.245.2rusty", "9.4.146.24",
					      "15.10.245.2", "15.00000.245.2",	"256.0.245.2",
					      "15..245.2",   "x15.0.245.2",	"15.0.245.",
					      "10.0.0000000" };
	(void)state;

	assert_int_equal(find_version("15.0.245.2-rusty", 16), 15 << 24 | 2 << 8);
	assert_int_equal(find_version("14.7.173.18", 11), 14 << 24 | 7 << 16 | 18 << 8);
	for (size_t i = 0; i < array_len(others); i++)
		assert_int_equal(find_version(others[i], strlen(others[i])), 0);
}

/* The first sizes are those of V8 13.6 and later. */
static const uint8_t narrow[] = { 1, 1, 1, 1, 1, 2, 3, 4, 5, 5, 6, 2,
				  1, 2, 1, 1, 1, 1, 1, 2, 4, 4, 4, 2 };
static const uint8_t wide[] = { 1, 1, 1, 1, 1, 3, 5, 7, 9, 7, 9, 3,
				1, 3, 1, 1, 1, 1, 1, 3, 7, 7, 7, 3 };

static void find_sizes(const uint8_t *rows, uint32_t nr_bytes, struct runtime_file *file)
{
	uint32_t end;
	uint8_t *bytes = make_file(&end);

	memcpy(bytes + SIZES, rows, nr_bytes);
	struct elf_reader reader = read_file(bytes);
	assert_int_equal(v8_bytecodes_in_data(&reader, file), 0);
	elf_reader_done(&reader);
	free(bytes);
}

static void sizes_of_bytecodes_are_found_by_the_first_ones(void **state)
{
	uint8_t rows[2 * NR_BYTECODES];
	struct runtime_file file = { 0 };
	(void)state;

	memset(rows, 1, sizeof(rows));
	memcpy(rows, narrow, sizeof(narrow));
	memcpy(rows + NR_BYTECODES, wide, sizeof(wide));
	find_sizes(rows, sizeof(rows), &file);
	assert_int_equal(file.values[V8_NR_BYTECODES], NR_BYTECODES);
	const uint8_t *sizes = (const uint8_t *)&file.values[V8_BYTECODE_SIZES];
	assert_int_equal(sizes[5], 0x12);
	assert_int_equal(sizes[NR_BYTECODES - 1], 0x01);
}

static void other_sizes_are_not_taken(void **state)
{
	uint8_t rows[2 * NR_BYTECODES];
	struct runtime_file file = { 0 };
	(void)state;

	memset(rows, 1, sizeof(rows));
	memcpy(rows, narrow, sizeof(narrow));
	find_sizes(rows, sizeof(rows), &file);
	assert_int_equal(file.values[V8_NR_BYTECODES], 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(builtins_are_found_by_their_table),
		cmocka_unit_test(the_table_may_be_in_another_order),
		cmocka_unit_test(code_tells_whether_pointers_are_compressed),
		cmocka_unit_test(code_tells_where_the_trusted_cage_is),
		cmocka_unit_test(other_words_of_the_isolate_are_no_cage),
		cmocka_unit_test(files_with_little_code_are_not_searched),
		cmocka_unit_test(other_files_have_no_builtins),
		cmocka_unit_test(damaged_files_have_no_builtins),
		cmocka_unit_test(a_version_is_found_among_texts),
		cmocka_unit_test(sizes_of_bytecodes_are_found_by_the_first_ones),
		cmocka_unit_test(other_sizes_are_not_taken),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
