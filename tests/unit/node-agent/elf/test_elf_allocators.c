/* SPDX-License-Identifier: Apache-2.0 */
#include "elf/elf_allocators.h"

#include "base/cleanup.h"
#include "export_image.h"
#include "unit.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define NR_FUNCTIONS 4
#define CODE_BYTES 16 /* of each function */
#define CODE(function) (offsetof(struct export_image, data) + CODE_BYTES * (function))
#define SIZE_IN(parameter)                                                                         \
	(HEAP_USUAL_ARGUMENTS >> (HEAP_ARGUMENT_BITS * (parameter)) &                              \
	 ((1 << HEAP_ARGUMENT_BITS) - 1))

enum { MALLOC, CALLOC, NEW, VALLOC };

static struct export_image image;

static uint8_t *code_of(int function)
{
	return image.data + CODE_BYTES * function;
}

static Elf64_Sym *symbol_of(int function)
{
	return &image.symbols[1 + function];
}

static void make_image(void)
{
	static const char *const names[NR_FUNCTIONS] = { "malloc", "calloc", "_Znwm", "valloc" };

	export_image_init(&image);
	for (int i = 0; i < NR_FUNCTIONS; i++) {
		export_image_add(&image, names[i], EXPORT_IMAGE_ADDRESS + CODE(i), CODE_BYTES);
		symbol_of(i)->st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
		code_of(i)[0] = 0x55; /* push %rbp */
	}
}

static int find_in(int fd, struct heap_probes *probes)
{
	_cleanup_(elf_reader_done) struct elf_reader reader = { .fd = -EBADF };
	int r = elf_reader_init(&reader, fd);

	*probes = (struct heap_probes){ 0 };
	return r < 0 ? r : elf_allocators_find(&reader, probes);
}

static int find(struct heap_probes *probes)
{
	_cleanup_close_ int fd = memfd_create("image", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, &image, sizeof(image)), sizeof(image));
	return find_in(fd, probes);
}

static void functions_are_found_with_their_arguments(void **state)
{
	(void)state;
	struct heap_probes probes;

	make_image();
	code_of(CALLOC)[0] = 0x48; /* mov: a slow one */
	assert_int_equal(find(&probes), 0);
	assert_int_equal(probes.nr, NR_FUNCTIONS);
	for (size_t i = 0; i < probes.nr; i++)
		assert_int_equal(probes.of[i].kind, HEAP_PROBE_CALL);
	assert_int_equal(probes.of[0].offset, CODE(MALLOC));
	assert_int_equal(probes.of[0].arguments, SIZE_IN(0));
	assert_int_equal(probes.of[1].offset, CODE(CALLOC));
	assert_int_equal(probes.of[1].arguments & ~HEAP_IS_SLOW,
			 SIZE_IN(1) | SIZE_IN(0) << HEAP_ARGUMENT_BITS | HEAP_HAS_FACTOR);
	assert_int_equal(probes.of[2].offset, CODE(VALLOC));
	assert_int_equal(probes.of[3].offset, CODE(NEW));
#if defined(__x86_64__)
	assert_true(probes.of[1].arguments & HEAP_IS_SLOW);
#endif
}

static void a_probe_is_behind_endbr64(void **state)
{
	(void)state;
	static const uint8_t code[] = { 0xf3, 0x0f, 0x1e, 0xfa, 0x41, 0x57 }; /* push %r15 */
	struct heap_probes probes;

	make_image();
	memcpy(code_of(MALLOC), code, sizeof(code));
	assert_int_equal(find(&probes), 0);
	assert_int_equal(probes.of[0].offset, CODE(MALLOC) + 4);
	assert_false(probes.of[0].arguments & HEAP_IS_SLOW);
}

/* Elsewhere, operator new calls malloc. */
static void operators_count_only_beside_malloc(void **state)
{
	(void)state;
	struct heap_probes probes;

	make_image();
	symbol_of(MALLOC)->st_shndx = SHN_UNDEF;
	assert_int_equal(find(&probes), 0);
	assert_int_equal(probes.nr, 2);
	assert_int_equal(probes.of[1].offset, CODE(VALLOC));
}

static void one_function_with_two_names_is_one(void **state)
{
	(void)state;
	struct heap_probes probes;

	make_image();
	symbol_of(VALLOC)->st_value = symbol_of(MALLOC)->st_value;
	assert_int_equal(find(&probes), 0);
	assert_int_equal(probes.nr, NR_FUNCTIONS - 1);
}

static void what_is_no_function_is_left_out(void **state)
{
	(void)state;
	struct heap_probes probes;

	make_image();
	symbol_of(CALLOC)->st_info = ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT);
	symbol_of(VALLOC)->st_info = ELF64_ST_INFO(STB_GLOBAL, STT_GNU_IFUNC);
	assert_int_equal(find(&probes), 0);
	assert_int_equal(probes.nr, 2);
	image.segments[1].p_type = PT_NULL; /* the file exports nothing */
	assert_int_equal(find(&probes), 0);
	assert_int_equal(probes.nr, 0);
}

static void malformed_files_are_refused(void **state)
{
	(void)state;
	struct heap_probes probes;

	make_image();
	symbol_of(MALLOC)->st_value = EXPORT_IMAGE_ADDRESS - 1;
	assert_int_equal(find(&probes), -EBADMSG);
	make_image();
	symbol_of(MALLOC)->st_value = EXPORT_IMAGE_ADDRESS + sizeof(image) - 1;
	assert_int_equal(find(&probes), -EBADMSG);
	make_image();
	image.hash.chains[1 + MALLOC] = 1 + VALLOC; /* a circle */
	symbol_of(MALLOC)->st_name = 0;
	assert_int_equal(find(&probes), -EBADMSG);
	make_image();
	image.dynamic[3].d_un.d_val = EXPORT_IMAGE_ADDRESS + sizeof(image);
	assert_int_equal(find(&probes), -EBADMSG);
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
