/* SPDX-License-Identifier: Apache-2.0 */
#include "elf/elf_allocators.h"

#include "base/cleanup.h"
#include "unit.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define ADDRESS 0x10000 /* of offset 0 */
#define NR_NAMES 4
#define SIZE_IN(parameter)                                                                         \
	(HEAP_USUAL_ARGUMENTS >> (HEAP_ARGUMENT_BITS * (parameter)) &                              \
	 ((1 << HEAP_ARGUMENT_BITS) - 1))

enum { DYN_SYMTAB, DYN_STRTAB, DYN_STRSZ, DYN_HASH, DYN_NULL, NR_DYNAMIC };

static const char strings[] = "\0malloc\0calloc\0_Znwm\0valloc";
static const uint32_t names[NR_NAMES] = { 1, 8, 15, 21 };
enum { MALLOC, CALLOC, NEW, VALLOC };

/* All symbols are in one bucket. Each function has 16 bytes of code. */
struct image {
	Elf64_Ehdr header;
	Elf64_Phdr segments[2];
	Elf64_Dyn dynamic[NR_DYNAMIC];
	Elf64_Sym symbols[1 + NR_NAMES];
	char strings[sizeof(strings)];
	struct {
		uint32_t nr_buckets, nr_chains, bucket, chains[1 + NR_NAMES];
	} hash;
	uint8_t code[NR_NAMES][16];
};

static void put_dynamic(struct image *image)
{
	const struct {
		int64_t tag;
		uint64_t value;
	} entries[] = {
		[DYN_SYMTAB] = { DT_SYMTAB, ADDRESS + offsetof(struct image, symbols) },
		[DYN_STRTAB] = { DT_STRTAB, ADDRESS + offsetof(struct image, strings) },
		[DYN_STRSZ] = { DT_STRSZ, sizeof(strings) },
		[DYN_HASH] = { DT_HASH, ADDRESS + offsetof(struct image, hash) },
	};

	for (size_t i = 0; i < array_len(entries); i++)
		image->dynamic[i] = (Elf64_Dyn){ .d_tag = entries[i].tag,
						 .d_un.d_val = entries[i].value };
}

static void put_symbols(struct image *image)
{
	memcpy(image->strings, strings, sizeof(strings));
	image->hash.nr_buckets = 1;
	image->hash.nr_chains = 1 + NR_NAMES;
	image->hash.bucket = 1;
	for (uint32_t i = 0; i < NR_NAMES; i++) {
		image->symbols[1 + i] = (Elf64_Sym){
			.st_name = names[i],
			.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
			.st_shndx = 1,
			.st_value = ADDRESS + offsetof(struct image, code[i]),
		};
		image->hash.chains[1 + i] = i + 1 < NR_NAMES ? i + 2 : 0;
		image->code[i][0] = 0x55; /* push %rbp */
	}
}

static struct image *make_image(void)
{
	static struct image image;

	image = (struct image){
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
		.segments = {
			{ .p_type = PT_LOAD, .p_vaddr = ADDRESS, .p_filesz = sizeof(struct image),
			  .p_memsz = sizeof(struct image) },
			{ .p_type = PT_DYNAMIC, .p_offset = offsetof(struct image, dynamic),
			  .p_vaddr = ADDRESS + offsetof(struct image, dynamic),
			  .p_filesz = sizeof(image.dynamic), .p_memsz = sizeof(image.dynamic) },
		},
	};
	put_dynamic(&image);
	put_symbols(&image);
	return &image;
}

static int find_in(int fd, struct heap_probes *probes)
{
	_cleanup_(elf_reader_done) struct elf_reader reader = { .fd = -EBADF };
	int r = elf_reader_init(&reader, fd);

	*probes = (struct heap_probes){ 0 };
	return r < 0 ? r : elf_allocators_find(&reader, probes);
}

static int find(const struct image *image, struct heap_probes *probes)
{
	_cleanup_close_ int fd = memfd_create("image", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, image, sizeof(*image)), sizeof(*image));
	return find_in(fd, probes);
}

static void functions_are_found_with_their_arguments(void **state)
{
	(void)state;
	struct image *image = make_image();
	struct heap_probes probes;

	image->code[CALLOC][0] = 0x48; /* mov: a slow one */
	assert_int_equal(find(image, &probes), 0);
	assert_int_equal(probes.nr, NR_NAMES);
	for (size_t i = 0; i < probes.nr; i++)
		assert_int_equal(probes.of[i].kind, HEAP_PROBE_CALL);
	assert_int_equal(probes.of[0].offset, offsetof(struct image, code[MALLOC]));
	assert_int_equal(probes.of[0].arguments, SIZE_IN(0));
	assert_int_equal(probes.of[1].offset, offsetof(struct image, code[CALLOC]));
	assert_int_equal(probes.of[1].arguments & ~HEAP_IS_SLOW,
			 SIZE_IN(1) | SIZE_IN(0) << HEAP_ARGUMENT_BITS | HEAP_HAS_FACTOR);
	assert_int_equal(probes.of[2].offset, offsetof(struct image, code[VALLOC]));
	assert_int_equal(probes.of[3].offset, offsetof(struct image, code[NEW]));
#if defined(__x86_64__)
	assert_true(probes.of[1].arguments & HEAP_IS_SLOW);
#endif
}

static void a_probe_is_behind_endbr64(void **state)
{
	(void)state;
	static const uint8_t code[] = { 0xf3, 0x0f, 0x1e, 0xfa, 0x41, 0x57 }; /* push %r15 */
	struct image *image = make_image();
	struct heap_probes probes;

	memcpy(image->code[MALLOC], code, sizeof(code));
	assert_int_equal(find(image, &probes), 0);
	assert_int_equal(probes.of[0].offset, offsetof(struct image, code[MALLOC]) + 4);
	assert_false(probes.of[0].arguments & HEAP_IS_SLOW);
}

/* Elsewhere, operator new calls malloc. */
static void operators_count_only_beside_malloc(void **state)
{
	(void)state;
	struct image *image = make_image();
	struct heap_probes probes;

	image->symbols[1 + MALLOC].st_shndx = SHN_UNDEF;
	assert_int_equal(find(image, &probes), 0);
	assert_int_equal(probes.nr, 2);
	assert_int_equal(probes.of[1].offset, offsetof(struct image, code[VALLOC]));
}

static void one_function_with_two_names_is_one(void **state)
{
	(void)state;
	struct image *image = make_image();
	struct heap_probes probes;

	image->symbols[1 + VALLOC].st_value = image->symbols[1 + MALLOC].st_value;
	assert_int_equal(find(image, &probes), 0);
	assert_int_equal(probes.nr, NR_NAMES - 1);
}

static void what_is_no_function_is_left_out(void **state)
{
	(void)state;
	struct image *image = make_image();
	struct heap_probes probes;

	image->symbols[1 + CALLOC].st_info = ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT);
	image->symbols[1 + VALLOC].st_info = ELF64_ST_INFO(STB_GLOBAL, STT_GNU_IFUNC);
	assert_int_equal(find(image, &probes), 0);
	assert_int_equal(probes.nr, 2);
	image->segments[1].p_type = PT_NULL; /* the file exports nothing */
	assert_int_equal(find(image, &probes), 0);
	assert_int_equal(probes.nr, 0);
}

static void malformed_files_are_refused(void **state)
{
	(void)state;
	struct heap_probes probes;
	struct image *image = make_image();

	image->symbols[1 + MALLOC].st_value = ADDRESS - 1;
	assert_int_equal(find(image, &probes), -EBADMSG);
	image = make_image();
	image->symbols[1 + MALLOC].st_value = ADDRESS + sizeof(*image) - 1;
	assert_int_equal(find(image, &probes), -EBADMSG);
	image = make_image();
	image->hash.chains[1 + VALLOC] = 1; /* a circle */
	image->symbols[1 + VALLOC].st_name = 0;
	assert_int_equal(find(image, &probes), -EBADMSG);
	image = make_image();
	image->dynamic[DYN_HASH].d_un.d_val = ADDRESS + sizeof(*image);
	assert_int_equal(find(image, &probes), -EBADMSG);
}

static void the_c_library_has_all(void **state)
{
	(void)state;
	Dl_info info;
	struct heap_probes probes;
	uint8_t code[8];

	if (dladdr(dlsym(RTLD_DEFAULT, "gnu_get_libc_version"), &info) == 0)
		skip();
	_cleanup_close_ int fd = open(info.dli_fname, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(find_in(fd, &probes), 0);
	assert_in_range(probes.nr, 6, 8);
	void *library = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
	assert_non_null(library);
	const char *function = dlsym(library, "malloc");
	assert_non_null(function);
	assert_int_equal(pread(fd, code, sizeof(code), (off_t)probes.of[0].offset), sizeof(code));
	assert_true(memcmp(code, function, sizeof(code)) == 0 ||
		    memcmp(code, function + 4, sizeof(code)) == 0);
	dlclose(library);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_are_found_with_their_arguments),
		cmocka_unit_test(a_probe_is_behind_endbr64),
		cmocka_unit_test(operators_count_only_beside_malloc),
		cmocka_unit_test(one_function_with_two_names_is_one),
		cmocka_unit_test(what_is_no_function_is_left_out),
		cmocka_unit_test(malformed_files_are_refused),
		cmocka_unit_test(the_c_library_has_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
