/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/elf/elf_symbols.h"

#include "base/fileio.h"
#include "function_count.h"
#include "unit.h"

#include <elf.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>

#define MAX_BYTES ((size_t)1 << 20)
#define TEXT_ADDRESS 0x401000
#define TEXT_OFFSET 0x1000
#define TEXT_BYTES 0x1000

enum { SECTION_NULL, SECTION_TEXT, SECTION_SYMTAB, SECTION_STRTAB, NR_SECTIONS };

/* A whole file, small enough to be damaged byte by byte. */
struct image {
	Elf64_Ehdr header;
	Elf64_Phdr segments[2];
	struct {
		Elf64_Nhdr header;
		char name[4];
		unsigned char id[8];
	} note;
	Elf64_Sym symbols[16];
	char strings[160];
	Elf64_Shdr sections[NR_SECTIONS];
};

static const char strings[] = "\0alpha\0beta\0weak_one\0global_one\0global_longer\0local\0data\0"
			      "outer\0inner\0label\0open_end\0loop\0$x.1\0.part\0hidden";

#define NR_FUNCTIONS 7

static uint32_t string_offset(const char *name)
{
	for (size_t i = 1; i < sizeof(strings); i += strlen(strings + i) + 1)
		if (strcmp(strings + i, name) == 0)
			return (uint32_t)i;
	return 0;
}

static Elf64_Sym symbol(const char *name, unsigned char bind, unsigned char type, uint64_t delta,
			uint64_t size)
{
	return (Elf64_Sym){
		.st_name = string_offset(name),
		.st_info = ELF64_ST_INFO(bind, type),
		.st_shndx = SECTION_TEXT,
		.st_value = TEXT_ADDRESS + delta,
		.st_size = size,
	};
}

static void fill_symbols(struct image *image)
{
	const Elf64_Sym symbols[] = {
		symbol("", STB_LOCAL, STT_NOTYPE, 0, 0),
		symbol("beta", STB_LOCAL, STT_FUNC, 0x100, 0x10),
		symbol("alpha", STB_GLOBAL, STT_FUNC, 0, 0x80),
		symbol("local", STB_LOCAL, STT_FUNC, 0x200, 0x10),
		symbol("weak_one", STB_WEAK, STT_FUNC, 0x200, 0x10),
		symbol("global_longer", STB_GLOBAL, STT_FUNC, 0x200, 0x10),
		symbol("global_one", STB_GLOBAL, STT_FUNC, 0x200, 0),
		symbol("data", STB_GLOBAL, STT_OBJECT, 0x300, 0x10),
		symbol("outer", STB_GLOBAL, STT_GNU_IFUNC, 0x400, 0x100),
		symbol("inner", STB_LOCAL, STT_NOTYPE, 0x440, 0x10),
		symbol("label", STB_GLOBAL, STT_NOTYPE, 0x600, 0),
		symbol("open_end", STB_GLOBAL, STT_FUNC, 0x800, 0),
		symbol("loop", STB_LOCAL, STT_NOTYPE, 0x900, 0),
		symbol("$x.1", STB_LOCAL, STT_NOTYPE, 0x620, 0),
		symbol(".part", STB_LOCAL, STT_NOTYPE, 0x640, 0),
		symbol("hidden", STB_LOCAL, STT_NOTYPE, 0x660, 0),
	};

	memcpy(image->symbols, symbols, sizeof(symbols));
	image->symbols[15].st_other = STV_HIDDEN;
	memcpy(image->strings, strings, sizeof(strings));
}

static void fill_sections(struct image *image)
{
	image->sections[SECTION_TEXT] = (Elf64_Shdr){
		.sh_type = SHT_PROGBITS,
		.sh_flags = SHF_ALLOC | SHF_EXECINSTR,
		.sh_addr = TEXT_ADDRESS,
		.sh_offset = TEXT_OFFSET,
		.sh_size = TEXT_BYTES,
	};
	image->sections[SECTION_SYMTAB] = (Elf64_Shdr){
		.sh_type = SHT_SYMTAB,
		.sh_offset = offsetof(struct image, symbols),
		.sh_size = sizeof(image->symbols),
		.sh_link = SECTION_STRTAB,
		.sh_entsize = sizeof(Elf64_Sym),
	};
	image->sections[SECTION_STRTAB] = (Elf64_Shdr){
		.sh_type = SHT_STRTAB,
		.sh_offset = offsetof(struct image, strings),
		.sh_size = sizeof(image->strings),
	};
}

static struct image make_image(void)
{
	struct image image = {
		.header = {
			.e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
			.e_type = ET_EXEC,
			.e_machine = EM_X86_64,
			.e_phoff = offsetof(struct image, segments),
			.e_phentsize = sizeof(Elf64_Phdr),
			.e_phnum = 2,
			.e_shoff = offsetof(struct image, sections),
			.e_shentsize = sizeof(Elf64_Shdr),
			.e_shnum = NR_SECTIONS,
		},
		.segments = {
			{ .p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_offset = TEXT_OFFSET,
			  .p_vaddr = TEXT_ADDRESS, .p_filesz = TEXT_BYTES },
			{ .p_type = PT_NOTE, .p_offset = offsetof(struct image, note),
			  .p_filesz = sizeof(image.note), .p_align = 4 },
		},
		.note = {
			.header = { .n_namesz = 4, .n_descsz = 8, .n_type = NT_GNU_BUILD_ID },
			.name = "GNU",
			.id = { 0xde, 0xad, 0xbe, 0xef, 0, 1, 2, 0xff },
		},
	};

	fill_symbols(&image);
	fill_sections(&image);
	return image;
}

static int file_with(const void *data, size_t len)
{
	int fd = memfd_create("image", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(fd_write_all(fd, data, len), 0);
	return fd;
}

static int load(const void *data, size_t len, size_t max_bytes, struct elf_symbols **ret_symbols)
{
	_cleanup_close_ int fd = file_with(data, len);

	return elf_symbols_load(fd, max_bytes, ret_symbols);
}

static struct elf_symbols *load_image(const struct image *image)
{
	struct elf_symbols *symbols = NULL;

	assert_int_equal(load(image, sizeof(*image), MAX_BYTES, &symbols), 0);
	return symbols;
}

static void an_address_is_named_by_the_function_that_holds_it(void **state)
{
	static const struct {
		uint64_t delta;
		const char *name; /* NULL: none */
		uint64_t start;
	} cases[] = {
		{ 0, "alpha", 0 },
		{ 0x7f, "alpha", 0 },
		{ 0x80, NULL, 0 }, /* padding belongs to nobody */
		{ 0xff, NULL, 0 },
		{ 0x100, "beta", 0x100 },
		{ 0x200, "global_one", 0x200 }, /* global, shortest; size from its alias */
		{ 0x20f, "global_one", 0x200 },
		{ 0x210, NULL, 0 },
		{ 0x300, NULL, 0 }, /* data */
		{ 0x400, "outer", 0x400 },
		{ 0x440, "inner", 0x440 },
		{ 0x450, "outer", 0x400 }, /* behind the inner one */
		{ 0x500, NULL, 0 },
		{ 0x5ff, NULL, 0 },
		{ 0x600, "label", 0x600 }, /* in no function; up to the next one */
		{ 0x7ff, "label", 0x600 },
		{ 0x800, "open_end", 0x800 },
		{ 0x900, "open_end", 0x800 }, /* a label in a function */
		{ TEXT_BYTES - 1, "open_end", 0x800 }, /* to the end of the section */
		{ TEXT_BYTES, NULL, 0 },
		{ (uint64_t)-1, NULL, 0 },
		{ UINT32_MAX, NULL, 0 },
		{ UINT64_MAX - TEXT_ADDRESS, NULL, 0 },
	};
	struct image image = make_image();
	_cleanup_(elf_symbols_freep) struct elf_symbols *symbols = load_image(&image);
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		struct elf_symbol found = { 0 };
		int r = elf_symbols_find(symbols, TEXT_ADDRESS + cases[i].delta, &found);

		assert_int_equal(r, cases[i].name ? 0 : -ENOENT);
		if (!cases[i].name)
			continue;
		assert_string_equal(found.name, cases[i].name);
		assert_int_equal(found.address, TEXT_ADDRESS + cases[i].start);
	}
	assert_int_equal(function_count(symbols), NR_FUNCTIONS);
}

static void a_file_offset_becomes_a_virtual_address(void **state)
{
	struct image image = make_image();
	_cleanup_(elf_symbols_freep) struct elf_symbols *symbols = load_image(&image);
	uint64_t address = 0;
	(void)state;

	assert_int_equal(elf_symbols_address_of(symbols, TEXT_OFFSET + 5, &address), 0);
	assert_int_equal(address, TEXT_ADDRESS + 5);
	assert_int_equal(elf_symbols_address_of(symbols, TEXT_OFFSET - 1, &address), -ENOENT);
	assert_int_equal(elf_symbols_address_of(symbols, TEXT_OFFSET + TEXT_BYTES, &address),
			 -ENOENT);
}

static void the_build_id_is_hexadecimal(void **state)
{
	struct image image = make_image();
	_cleanup_(elf_symbols_freep) struct elf_symbols *symbols = load_image(&image);
	(void)state;

	assert_string_equal(elf_symbols_info(symbols)->build_id, "deadbeef000102ff");
}

static void dropping_the_names_keeps_the_rest(void **state)
{
	struct image image = make_image();
	_cleanup_(elf_symbols_freep) struct elf_symbols *symbols = load_image(&image);
	struct elf_symbol found;
	uint64_t address = 0;
	(void)state;

	elf_symbols_drop_names(symbols);
	assert_int_equal(elf_symbols_find(symbols, TEXT_ADDRESS, &found), -ENOENT);
	assert_int_equal(elf_symbols_address_of(symbols, TEXT_OFFSET, &address), 0);
	assert_string_equal(elf_symbols_info(symbols)->build_id, "deadbeef000102ff");
}

static void a_file_without_sections_has_segments_and_build_id(void **state)
{
	struct image image = make_image();
	uint64_t address = 0;
	(void)state;

	image.header.e_shoff = 0;
	image.header.e_shnum = 0;
	_cleanup_(elf_symbols_freep) struct elf_symbols *symbols = load_image(&image);
	assert_int_equal(function_count(symbols), 0);
	assert_int_equal(elf_symbols_address_of(symbols, TEXT_OFFSET, &address), 0);
	assert_string_equal(elf_symbols_info(symbols)->build_id, "deadbeef000102ff");
}

static void a_table_over_the_budget_is_refused(void **state)
{
	struct image image = make_image();
	struct elf_symbols *symbols = NULL;
	(void)state;

	assert_int_equal(load(&image, sizeof(image), 64, &symbols), -ENOSPC);
	assert_int_equal(load(&image, sizeof(image), 130, &symbols), -ENOSPC);
	assert_null(symbols);
}

/* One field of the image, set to something it must not be. */
struct damage {
	size_t offset;
	size_t bytes;
	uint64_t value;
	int result;
};

#define FIELD(member) offsetof(struct image, member), sizeof(((struct image *)0)->member)
#define SECTION(number, member)                                                                    \
	offsetof(struct image, sections) + (number) * sizeof(Elf64_Shdr) +                         \
		offsetof(Elf64_Shdr, member),                                                      \
		sizeof(((Elf64_Shdr *)0)->member)

static void absurd_headers_are_refused(void **state)
{
	static const struct damage cases[] = {
		{ FIELD(header.e_ident[0]), 0, -EBADMSG },
		{ FIELD(header.e_ident[EI_CLASS]), 7, -EBADMSG },
		{ FIELD(header.e_ident[EI_DATA]), ELFDATA2MSB, -EBADMSG },
		{ FIELD(header.e_phoff), UINT64_MAX, -EBADMSG },
		{ FIELD(header.e_phnum), UINT16_MAX, -EBADMSG },
		{ FIELD(header.e_phnum), 200, -EBADMSG },
		{ FIELD(header.e_phentsize), 1, -EBADMSG },
		{ FIELD(header.e_shoff), UINT64_MAX - 8, -EBADMSG },
		{ FIELD(header.e_shoff), 1, 0 },
		{ FIELD(header.e_shnum), UINT16_MAX, -EBADMSG },
		{ FIELD(header.e_shentsize), 0, -EBADMSG },
		{ SECTION(SECTION_SYMTAB, sh_offset), UINT64_MAX, -EBADMSG },
		{ SECTION(SECTION_SYMTAB, sh_size), UINT64_MAX, -EBADMSG },
		{ SECTION(SECTION_SYMTAB, sh_size), 1, 0 },
		{ SECTION(SECTION_SYMTAB, sh_link), UINT32_MAX, -EBADMSG },
		{ SECTION(SECTION_SYMTAB, sh_link), SECTION_SYMTAB, -EBADMSG },
		{ SECTION(SECTION_SYMTAB, sh_link), SECTION_TEXT, -EBADMSG },
		{ SECTION(SECTION_STRTAB, sh_offset), UINT64_MAX - 1, -EBADMSG },
		{ SECTION(SECTION_STRTAB, sh_size), UINT64_MAX, -EBADMSG },
		{ SECTION(SECTION_STRTAB, sh_size), 0, 0 },
		{ SECTION(SECTION_TEXT, sh_size), UINT64_MAX, 0 },
		{ SECTION(SECTION_TEXT, sh_addr), 0, 0 },
		{ FIELD(segments[1].p_filesz), UINT64_MAX, 0 },
		{ FIELD(segments[1].p_offset), UINT64_MAX, 0 },
		{ FIELD(note.header.n_namesz), UINT32_MAX, 0 },
		{ FIELD(note.header.n_descsz), UINT32_MAX, 0 },
		{ FIELD(symbols[1].st_name), UINT32_MAX, 0 },
		{ FIELD(symbols[1].st_value), UINT64_MAX, 0 },
		{ FIELD(symbols[1].st_size), UINT64_MAX, 0 },
	};
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		_cleanup_(elf_symbols_freep) struct elf_symbols *symbols = NULL;
		struct image image = make_image();

		memcpy((char *)&image + cases[i].offset, &cases[i].value, cases[i].bytes);
		assert_int_equal(load(&image, sizeof(image), MAX_BYTES, &symbols), cases[i].result);
	}
}

static void a_section_count_in_section_0_is_bounded(void **state)
{
	struct image image = make_image();
	struct elf_symbols *symbols = NULL;
	(void)state;

	image.header.e_shnum = 0;
	image.sections[SECTION_NULL].sh_size = UINT64_C(1) << 40;
	assert_int_equal(load(&image, sizeof(image), MAX_BYTES, &symbols), -EBADMSG);

	image.sections[SECTION_NULL].sh_size = NR_SECTIONS;
	assert_int_equal(load(&image, sizeof(image), MAX_BYTES, &symbols), 0);
	assert_int_equal(function_count(symbols), NR_FUNCTIONS);
	elf_symbols_free(symbols);
}

static void a_file_cut_anywhere_is_refused(void **state)
{
	struct image image = make_image();
	(void)state;

	for (size_t len = 0; len < sizeof(image); len++) {
		struct elf_symbols *symbols = NULL;

		assert_int_equal(load(&image, len, MAX_BYTES, &symbols), -EBADMSG);
	}
}

static void a_file_too_large_for_a_program_is_refused(void **state)
{
	struct image image = make_image();
	_cleanup_close_ int fd = file_with(&image, sizeof(image));
	struct elf_symbols *symbols = NULL;
	(void)state;

	assert_int_equal(ftruncate(fd, (off_t)1 << 36), 0);
	assert_int_equal(elf_symbols_load(fd, MAX_BYTES, &symbols), 0);
	elf_symbols_free(symbols);
	symbols = NULL;
	assert_int_equal(ftruncate(fd, ((off_t)1 << 36) + 1), 0);
	assert_int_equal(elf_symbols_load(fd, MAX_BYTES, &symbols), -EBADMSG);
	assert_null(symbols);
}

/* A file whose owner changes it all the time. */
struct changing_file {
	int fd;
	struct image image;
	off_t large; /* sparse */
	atomic_bool is_over;
};

/* Announces ten million sections, takes it back, and truncates the file now and then. */
static void *keep_changing(void *data)
{
	struct changing_file *file = data;
	const Elf64_Half none = 0;
	const size_t count = offsetof(struct image, header.e_shnum);

	for (unsigned int i = 1; !atomic_load(&file->is_over); i++) {
		assert_int_equal(pwrite(file->fd, &none, sizeof(none), (off_t)count), sizeof(none));
		assert_int_equal(
			pwrite(file->fd, &file->image.header.e_shnum, sizeof(none), (off_t)count),
			sizeof(none));
		if (i % 64 > 0)
			continue;
		assert_int_equal(ftruncate(file->fd, (off_t)sizeof(file->image.header)), 0);
		assert_int_equal(pwrite(file->fd, &file->image, sizeof(file->image), 0),
				 sizeof(file->image));
		assert_int_equal(ftruncate(file->fd, file->large), 0);
	}
	return NULL;
}

static void a_file_that_changes_while_it_is_read_does_no_harm(void **state)
{
	struct changing_file file = { .image = make_image() };
	struct rusage usage;
	pthread_t thread;
	(void)state;

	file.image.sections[SECTION_NULL].sh_size = 10000000;
	file.large = (off_t)(sizeof(file.image) + 10000000 * sizeof(Elf64_Shdr));
	file.fd = file_with(&file.image, sizeof(file.image));
	assert_int_equal(ftruncate(file.fd, file.large), 0);
	assert_int_equal(pthread_create(&thread, NULL, keep_changing, &file), 0);
	for (int i = 0; i < 5000; i++) {
		_cleanup_(elf_symbols_freep) struct elf_symbols *symbols = NULL;
		int r = elf_symbols_load(file.fd, MAX_BYTES, &symbols);

		assert_true(r == 0 || r == -EBADMSG);
		assert_true(r < 0 || function_count(symbols) <= NR_FUNCTIONS);
	}
	atomic_store(&file.is_over, true);
	pthread_join(thread, NULL);
	close(file.fd);

	assert_int_equal(getrusage(RUSAGE_SELF, &usage), 0);
	assert_true(usage.ru_maxrss < 1 << 20); /* KB; ten million sections take 2 GB */
}

static void any_changed_byte_leaves_a_sound_table_or_none(void **state)
{
	static const unsigned char values[] = { 0, 1, 0x7f, 0x80, 0xff };
	struct image image = make_image();
	(void)state;

	for (size_t i = 0; i < sizeof(image) * array_len(values); i++) {
		_cleanup_(elf_symbols_freep) struct elf_symbols *symbols = NULL;
		struct image changed = image;
		struct elf_symbol found = { 0 };

		((unsigned char *)&changed)[i / array_len(values)] = values[i % array_len(values)];
		if (load(&changed, sizeof(changed), MAX_BYTES, &symbols) < 0)
			continue;
		for (uint64_t delta = 0; delta < TEXT_BYTES; delta += 0x40)
			if (elf_symbols_find(symbols, TEXT_ADDRESS + delta, &found) == 0)
				assert_true(strlen(found.name) < sizeof(strings));
	}
}

static void only_regular_files_are_read(void **state)
{
	struct elf_symbols *symbols = NULL;
	int pipe_fds[2];
	(void)state;

	_cleanup_close_ int dir_fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(elf_symbols_load(dir_fd, MAX_BYTES, &symbols), -EBADMSG);
	assert_int_equal(pipe2(pipe_fds, O_CLOEXEC), 0);
	assert_int_equal(elf_symbols_load(pipe_fds[0], MAX_BYTES, &symbols), -EBADMSG);
	close(pipe_fds[0]);
	close(pipe_fds[1]);
	assert_int_equal(elf_symbols_load(-1, MAX_BYTES, &symbols), -EBADF);
	assert_null(symbols);
}

static void this_program_finds_itself(void **state)
{
	_cleanup_(elf_symbols_freep) struct elf_symbols *symbols = NULL;
	_cleanup_close_ int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	bool is_found = false;
	(void)state;

	assert_int_equal(elf_symbols_load(fd, (size_t)64 << 20, &symbols), 0);
	for (uint64_t offset = 0; offset < 1 << 22 && !is_found; offset += 4) {
		struct elf_symbol found;
		uint64_t address;

		is_found = elf_symbols_address_of(symbols, offset, &address) == 0 &&
			   elf_symbols_find(symbols, address, &found) == 0 &&
			   strcmp(found.name, __func__) == 0;
	}
	assert_true(is_found);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_address_is_named_by_the_function_that_holds_it),
		cmocka_unit_test(a_file_offset_becomes_a_virtual_address),
		cmocka_unit_test(the_build_id_is_hexadecimal),
		cmocka_unit_test(dropping_the_names_keeps_the_rest),
		cmocka_unit_test(a_file_without_sections_has_segments_and_build_id),
		cmocka_unit_test(a_table_over_the_budget_is_refused),
		cmocka_unit_test(absurd_headers_are_refused),
		cmocka_unit_test(a_section_count_in_section_0_is_bounded),
		cmocka_unit_test(a_file_cut_anywhere_is_refused),
		cmocka_unit_test(a_file_too_large_for_a_program_is_refused),
		cmocka_unit_test(a_file_that_changes_while_it_is_read_does_no_harm),
		cmocka_unit_test(any_changed_byte_leaves_a_sound_table_or_none),
		cmocka_unit_test(only_regular_files_are_read),
		cmocka_unit_test(this_program_finds_itself),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
