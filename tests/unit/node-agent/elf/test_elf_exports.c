/* SPDX-License-Identifier: Apache-2.0 */
#include "elf/elf_exports.h"

#include "base/cleanup.h"
#include "base/fileio.h"
#include "unit.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#define ADDRESS 0x10000 /* of offset 0 */
#define BSS_BYTES 64
#define SHIFT 6

/* Symbols: 1 is undefined, the others are defined. Both are in one bucket. */
enum { UNDEFINED = 1, FIRST, SECOND, NR_SYMBOLS };
enum { DYN_SYMTAB, DYN_STRTAB, DYN_STRSZ, DYN_HASH, DYN_NULL, NR_DYNAMIC };

static const char strings[] = "\0_PyRuntime\0tls_symbol\0missing_here";
enum { NAME_RUNTIME = 1, NAME_TLS = 12, NAME_MISSING = 23 };

struct image {
	Elf64_Ehdr header;
	Elf64_Phdr segments[2];
	Elf64_Dyn dynamic[NR_DYNAMIC];
	Elf64_Sym symbols[NR_SYMBOLS];
	char strings[sizeof(strings)];
	struct {
		uint32_t nr_buckets, first, nr_bloom, shift;
		uint64_t bloom;
		uint32_t bucket, chains[NR_SYMBOLS - FIRST];
	} __attribute__((packed, aligned(8))) gnu_hash;
	struct {
		uint32_t nr_buckets, nr_chains, bucket, chains[NR_SYMBOLS];
	} hash;
};

static uint32_t gnu_hash(const char *name)
{
	uint32_t hash = 5381;

	while (*name)
		hash = hash * 33 + (uint8_t)*name++;
	return hash;
}

static void put_dynamic(struct image *image, bool is_gnu)
{
	image->dynamic[DYN_SYMTAB] = (Elf64_Dyn){
		.d_tag = DT_SYMTAB,
		.d_un.d_ptr = ADDRESS + offsetof(struct image, symbols),
	};
	image->dynamic[DYN_STRTAB] = (Elf64_Dyn){
		.d_tag = DT_STRTAB,
		.d_un.d_ptr = ADDRESS + offsetof(struct image, strings),
	};
	image->dynamic[DYN_STRSZ] = (Elf64_Dyn){
		.d_tag = DT_STRSZ,
		.d_un.d_val = sizeof(strings),
	};
	image->dynamic[DYN_HASH] = (Elf64_Dyn){
		.d_tag = is_gnu ? DT_GNU_HASH : DT_HASH,
		.d_un.d_ptr = ADDRESS + (is_gnu ? offsetof(struct image, gnu_hash)
						: offsetof(struct image, hash)),
	};
}

static void put_hashes(struct image *image)
{
	uint32_t first = gnu_hash("_PyRuntime"), second = gnu_hash("tls_symbol");

	image->gnu_hash.nr_buckets = 1;
	image->gnu_hash.first = FIRST;
	image->gnu_hash.nr_bloom = 1;
	image->gnu_hash.shift = SHIFT;
	image->gnu_hash.bloom = 1ULL << first % 64 | 1ULL << (first >> SHIFT) % 64 |
				1ULL << second % 64 | 1ULL << (second >> SHIFT) % 64;
	image->gnu_hash.bucket = FIRST;
	image->gnu_hash.chains[0] = first & ~1U;
	image->gnu_hash.chains[1] = second | 1;
	image->hash.nr_buckets = 1;
	image->hash.nr_chains = NR_SYMBOLS;
	image->hash.bucket = UNDEFINED;
	image->hash.chains[UNDEFINED] = FIRST;
	image->hash.chains[FIRST] = SECOND;
}

static struct image make_image(bool is_gnu)
{
	struct image image = {
		.header = {
			.e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
			.e_type = ET_DYN,
			.e_machine = EM_X86_64,
			.e_version = EV_CURRENT,
			.e_phoff = offsetof(struct image, segments),
			.e_ehsize = sizeof(Elf64_Ehdr),
			.e_phentsize = sizeof(Elf64_Phdr),
			.e_phnum = 2,
		},
		.segments = { {
			.p_type = PT_LOAD,
			.p_vaddr = ADDRESS,
			.p_filesz = sizeof(struct image),
			.p_memsz = sizeof(struct image) + BSS_BYTES,
		}, {
			.p_type = PT_DYNAMIC,
			.p_offset = offsetof(struct image, dynamic),
			.p_filesz = sizeof(image.dynamic),
		} },
		.symbols = {
			[UNDEFINED] = { .st_name = NAME_RUNTIME },
			[FIRST] = { .st_name = NAME_RUNTIME, .st_shndx = 1, .st_value = 0x1234,
				    .st_size = 99, .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT) },
			[SECOND] = { .st_name = NAME_TLS, .st_shndx = 1, .st_value = 8,
				     .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_TLS) },
		},
	};

	memcpy(image.strings, strings, sizeof(strings));
	put_dynamic(&image, is_gnu);
	put_hashes(&image);
	return image;
}

static int find(const struct image *image, const char *name, struct elf_export *ret_export)
{
	_cleanup_(elf_reader_done) struct elf_reader reader = { .fd = -EBADF };
	struct elf_exports exports;

	assert_int_equal(elf_reader_init_bytes(&reader, image, sizeof(*image)), 0);
	int r = elf_exports_init(&exports, &reader);
	return r < 0 ? r : elf_exports_find(&exports, name, ret_export);
}

static void finds_what_a_file_defines_by_both_tables(void **state)
{
	struct elf_export export = { 0 };
	(void)state;

	for (int is_gnu = 0; is_gnu < 2; is_gnu++) {
		struct image image = make_image(is_gnu);

		assert_int_equal(find(&image, "_PyRuntime", &export), 0);
		assert_int_equal(export.address, 0x1234);
		assert_int_equal(export.size, 99);
		assert_int_equal(export.type, STT_OBJECT);
		assert_int_equal(find(&image, "tls_symbol", &export), 0);
		assert_int_equal(export.address, 8);
		assert_int_equal(export.type, STT_TLS);
		assert_int_equal(find(&image, "missing_here", &export), -ENOENT);
		assert_int_equal(find(&image, "", &export), -ENOENT);
	}
}

static void what_a_file_only_uses_is_not_found(void **state)
{
	struct image image = make_image(false);
	struct elf_export export = { 0 };
	(void)state;

	image.symbols[FIRST].st_shndx = SHN_UNDEF;
	assert_int_equal(find(&image, "_PyRuntime", &export), -ENOENT);
}

static void a_file_without_tables_exports_nothing(void **state)
{
	struct image image = make_image(true);
	struct elf_export export = { 0 };
	(void)state;

	image.dynamic[DYN_HASH].d_tag = DT_DEBUG;
	assert_int_equal(find(&image, "_PyRuntime", &export), -ENOENT);
	image.segments[1].p_type = PT_NOTE;
	assert_int_equal(find(&image, "_PyRuntime", &export), -ENOENT);
}

static void a_filter_that_has_no_words_excludes_nothing(void **state)
{
	struct image image = make_image(true);
	struct elf_export export = { 0 };
	(void)state;

	/* The bucket and the chains then follow the header. */
	image.gnu_hash.nr_bloom = 0;
	memmove(&image.gnu_hash.bloom, &image.gnu_hash.bucket, 3 * sizeof(uint32_t));
	assert_int_equal(find(&image, "_PyRuntime", &export), 0);
}

static void damaged_tables_find_nothing(void **state)
{
	struct elf_export export = { 0 };
	struct image image;
	(void)state;

	image = make_image(true);
	image.gnu_hash.nr_bloom = UINT32_MAX;
	assert_true(find(&image, "_PyRuntime", &export) < 0);
	image = make_image(true);
	image.gnu_hash.nr_buckets = 0;
	assert_int_equal(find(&image, "_PyRuntime", &export), -ENOENT);
	image = make_image(true);
	image.gnu_hash.bucket = UINT32_MAX;
	assert_int_equal(find(&image, "_PyRuntime", &export), -EBADMSG);
	image = make_image(true);
	image.gnu_hash.bucket = FIRST - 1;
	assert_int_equal(find(&image, "_PyRuntime", &export), -EBADMSG);
	image = make_image(true);
	image.gnu_hash.shift = 1000;
	assert_int_equal(find(&image, "no such name", &export), -ENOENT);
	image = make_image(true);
	image.dynamic[DYN_HASH].d_un.d_ptr = UINT64_MAX;
	assert_int_equal(find(&image, "_PyRuntime", &export), -EBADMSG);
	image = make_image(true);
	image.dynamic[DYN_STRSZ].d_un.d_val = NAME_RUNTIME + 3;
	assert_int_equal(find(&image, "_PyRuntime", &export), -ENOENT);
	image = make_image(true);
	image.segments[1].p_filesz = (64 << 10) + 1;
	assert_int_equal(find(&image, "_PyRuntime", &export), -ENOSPC);
	image.segments[1].p_type = PT_NOTE;
	assert_int_equal(find(&image, "_PyRuntime", &export), -ENOENT);
}

static void chains_that_never_end_are_given_up(void **state)
{
	struct image image = make_image(false);
	struct elf_export export = { 0 };
	(void)state;

	image.hash.chains[SECOND] = UNDEFINED;
	assert_int_equal(find(&image, "missing_here", &export), -EBADMSG);
	image.hash.chains[SECOND] = UINT32_MAX;
	assert_int_equal(find(&image, "missing_here", &export), -EBADMSG);
}

static void reads_a_segment_with_its_zeroes_behind_the_file(void **state)
{
	_cleanup_(elf_reader_done) struct elf_reader reader = { .fd = -EBADF };
	struct image image = make_image(true);
	const uint8_t zeroes[8] = { 0 };
	struct elf_exports exports;
	uint64_t end = ADDRESS + sizeof(image);
	uint8_t bytes[16];
	(void)state;

	assert_int_equal(elf_reader_init_bytes(&reader, &image, sizeof(image)), 0);
	assert_int_equal(elf_exports_init(&exports, &reader), 0);
	assert_int_equal(elf_exports_read(&exports, ADDRESS, bytes, 4), 0);
	assert_memory_equal(bytes, ELFMAG, 4);
	assert_int_equal(elf_exports_read(&exports, end - 8, bytes, 16), 0);
	assert_memory_equal(bytes, (const char *)&image + sizeof(image) - 8, 8);
	assert_memory_equal(bytes + 8, zeroes, 8);
	assert_int_equal(elf_exports_read(&exports, end + BSS_BYTES - 8, bytes, 8), 0);
	assert_memory_equal(bytes, zeroes, 8);
	assert_int_equal(elf_exports_read(&exports, end + BSS_BYTES - 8, bytes, 9), -ENOENT);
	assert_int_equal(elf_exports_read(&exports, ADDRESS - 1, bytes, 1), -ENOENT);
	assert_int_equal(elf_exports_read(&exports, UINT64_MAX, bytes, 2), -ENOENT);
}

/* A symbol with versions, of a library that the linker of this machine has made. */
static void finds_symbols_of_the_c_library_where_they_are(void **state)
{
	_cleanup_(elf_reader_done) struct elf_reader reader = { .fd = -EBADF };
	static const char *const names[] = { "fopen", "qsort", "pthread_create", "getenv" };
	_cleanup_close_ int fd = -EBADF;
	struct elf_exports exports;
	struct elf_export export = { 0 };
	void *library;
	Dl_info info;
	(void)state;

	/* A sanitizer may have put functions of its own before those of the library. */
	library = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD);
	assert_non_null(library);
	assert_true(dladdr(dlsym(library, "qsort"), &info));
	fd = open(info.dli_fname, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(elf_reader_init(&reader, fd), 0);
	assert_int_equal(elf_exports_init(&exports, &reader), 0);
	for (size_t i = 0; i < array_len(names); i++) {
		const char *address = dlsym(library, names[i]);

		assert_int_equal(elf_exports_find(&exports, names[i], &export), 0);
		assert_ptr_equal((const char *)info.dli_fbase + export.address, address);
		assert_true(export.size > 0);
	}
	assert_int_equal(elf_exports_find(&exports, "_PyRuntime", &export), -ENOENT);
	dlclose(library);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_what_a_file_defines_by_both_tables),
		cmocka_unit_test(what_a_file_only_uses_is_not_found),
		cmocka_unit_test(a_file_without_tables_exports_nothing),
		cmocka_unit_test(a_filter_that_has_no_words_excludes_nothing),
		cmocka_unit_test(damaged_tables_find_nothing),
		cmocka_unit_test(chains_that_never_end_are_given_up),
		cmocka_unit_test(reads_a_segment_with_its_zeroes_behind_the_file),
		cmocka_unit_test(finds_symbols_of_the_c_library_where_they_are),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
