/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the debug information of this program: where() is called from inlined functions and returns
 * the address of its call. */
#include "symbol/dwarf/dwarf_lines.h"

#include "base/cleanup.h"
#include "base/fileio.h"
#include "lines_answer.h"
#include "symbol/worker/symbol_worker.h"
#include "unit.h"

#include <dirent.h>
#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>

#define MAX_BYTES ((size_t)1 << 20)
#define MAX_FILE_BYTES ((size_t)256 << 20)
#define inlined static inline __attribute__((always_inline))

struct spot {
	uint64_t address;
	uint32_t line;
};

static int load_base(struct dl_phdr_info *info, size_t size, void *ret_base)
{
	(void)size;
	*(uint64_t *)ret_base = info->dlpi_addr;
	return 1;
}

/* Returns the virtual address of its call. */
__attribute__((noinline)) static uint64_t where(void)
{
	uint64_t base = 0;

	dl_iterate_phdr(load_base, &base);
	return (uintptr_t)__builtin_return_address(0) - 1 - base;
}

/* Prevents the compiler from making a jump of the call before. */
inlined uint64_t as_it_is(uint64_t address)
{
	__asm__ volatile("" : "+r"(address));
	return address;
}

inlined uint64_t here(void)
{
	return as_it_is(where());
}

inlined struct spot inner(void)
{
	return (struct spot){ .line = __LINE__, .address = as_it_is(where()) };
}

enum { INNER_STARTS = __LINE__ - 5 };

inlined struct spot middle(void)
{
	struct spot spot = inner();

	return spot;
}

enum { MIDDLE_CALLS = __LINE__ - 5 };

__attribute__((noinline)) static struct spot outer(void)
{
	struct spot spot = middle();

	return spot;
}

enum { OUTER_CALLS = __LINE__ - 5 };

/* Calls nested deeper than SYMBOL_MAX_LINES. */
#define LEVEL(n, next)                                                                             \
	inlined uint64_t level_##n(void)                                                           \
	{                                                                                          \
		return next();                                                                     \
	}
#define LEVELS(n, next)                                                                            \
	LEVEL(n##0, next)                                                                          \
	LEVEL(n##1, level_##n##0)                                                                  \
	LEVEL(n##2, level_##n##1)                                                                  \
	LEVEL(n##3, level_##n##2)                                                                  \
	LEVEL(n##4, level_##n##3)                                                                  \
	LEVEL(n##5, level_##n##4)                                                                  \
	LEVEL(n##6, level_##n##5)                                                                  \
	LEVEL(n##7, level_##n##6)                                                                  \
	LEVEL(n##8, level_##n##7)                                                                  \
	LEVEL(n##9, level_##n##8)
LEVELS(1, here)
LEVELS(2, level_19)
LEVELS(3, level_29)
LEVELS(4, level_39)
LEVELS(5, level_49)
LEVELS(6, level_59)
LEVELS(7, level_69)

__attribute__((noinline)) static uint64_t below_levels(void)
{
	return level_79();
}

static int open_self(void)
{
	return open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
}

static int memory_file(const void *bytes, size_t len)
{
	int fd = memfd_create("file", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(fd_write_all(fd, bytes, len), 0);
	return fd;
}

static struct dwarf_lines *open_lines(void)
{
	_cleanup_close_ int fd = open_self();
	struct dwarf_lines *lines = NULL;

	assert_int_equal(dwarf_lines_open(fd, -1, &lines), 0);
	return lines;
}

static void resolve(const uint64_t *addresses, size_t nr, struct lines_answer *answer)
{
	_cleanup_(dwarf_lines_closep) struct dwarf_lines *lines = open_lines();

	lines_answer_ask(answer, lines, addresses, nr);
}

static void assert_line(const struct lines_answer *answer, size_t number, const char *name,
			uint32_t line)
{
	const struct symbol_line *found = &answer->lines[number];

	assert_string_equal(found->system_name, name);
	assert_string_equal(found->filename, __FILE__);
	assert_int_equal(found->line, line);
	assert_int_equal(answer->language, LANGUAGE_UNKNOWN);
}

static void an_address_has_the_inlined_functions_and_their_caller(void **state)
{
	(void)state;
	_cleanup_(lines_answer_done) struct lines_answer answer = { 0 };
	struct spot spot = outer();

	resolve(&spot.address, 1, &answer);
	assert_int_equal(lines_answer_find(&answer, spot.address), 3);
	assert_line(&answer, 0, "inner", spot.line);
	assert_line(&answer, 1, "middle", MIDDLE_CALLS);
	assert_line(&answer, 2, "outer", OUTER_CALLS);
	assert_int_equal(answer.lines[0].start_line, INNER_STARTS);
}

static void other_addresses_of_the_unit_are_answered_too(void **state)
{
	(void)state;
	_cleanup_(lines_answer_done) struct lines_answer answer = { 0 };
	const uint64_t address = below_levels();

	resolve(&address, 1, &answer);
	assert_int_equal(answer.added.nr_units, 1);
	assert_int_equal(lines_answer_find(&answer, outer().address), 3);
}

static void each_unit_is_there_once(void **state)
{
	(void)state;
	_cleanup_(lines_answer_done) struct lines_answer answer = { 0 };
	const uint64_t spot = outer().address;
	const uint64_t addresses[] = { UINT64_MAX, spot, below_levels(), 0, spot, 1 };
	static const int nr_lines[] = { -ENOENT, 3, SYMBOL_MAX_LINES, -ENOENT, 3, 0 };

	resolve(addresses, 6, &answer);
	assert_int_equal(answer.added.nr_units, 2); /* a unit and the code before it */
	assert_int_equal(answer.added.nr_left_out, 0);
	for (size_t i = 0; i < 6; i++)
		assert_int_equal(lines_answer_find(&answer, addresses[i]), nr_lines[i]);
}

static void of_too_many_inlined_functions_the_outermost_is_kept(void **state)
{
	(void)state;
	_cleanup_(lines_answer_done) struct lines_answer answer = { 0 };
	const uint64_t address = below_levels();

	resolve(&address, 1, &answer);
	assert_int_equal(lines_answer_find(&answer, address), SYMBOL_MAX_LINES);
	assert_string_equal(answer.lines[0].system_name, "here");
	assert_string_equal(answer.lines[SYMBOL_MAX_LINES - 2].system_name, "level_71");
	assert_string_equal(answer.lines[SYMBOL_MAX_LINES - 1].system_name, "below_levels");
}

static void no_addresses_are_an_empty_answer(void **state)
{
	(void)state;
	_cleanup_(lines_answer_done) struct lines_answer answer = { 0 };

	resolve(NULL, 0, &answer);
	assert_int_equal(answer.table.nr_bytes, 0);
}

/* A unit that does not fit is written without content. If even that does not fit, it is missing. */
static void a_unit_that_has_no_room_is_left_out(void **state)
{
	(void)state;
	_cleanup_(dwarf_lines_closep) struct dwarf_lines *lines = open_lines();
	const uint64_t address = outer().address;
	size_t nr_told = 0;

	for (size_t max = 0; max < 200; max += 9) {
		_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(max);
		_cleanup_(lines_answer_done) struct lines_answer answer = { 0 };

		assert_int_equal(dwarf_lines_write(lines, &address, 1, &out), 0);
		assert_int_equal(strbuf_error(&out), 0);
		assert_int_equal(lines_table_add(&answer.table, out.data, out.len, &answer.added),
				 0);
		assert_int_equal(answer.added.nr_units, 0);
		assert_int_equal(lines_answer_find(&answer, address), out.len > 0 ? 0 : -ENOENT);
		nr_told += answer.added.nr_left_out;
	}
	assert_true(nr_told > 0);
}

static void files_other_than_elf_are_refused(void **state)
{
	(void)state;
	static const char *const contents[] = { "", "\x7f", "\177ELF", "!<arch>\n", "some text" };
	struct dwarf_lines *lines = NULL;

	for (size_t i = 0; i < sizeof(contents) / sizeof(contents[0]); i++) {
		_cleanup_close_ int fd = memory_file(contents[i], strlen(contents[i]));

		assert_int_equal(dwarf_lines_open(fd, -1, &lines), -EBADMSG);
	}
	assert_int_equal(dwarf_lines_open(-1, -1, &lines), -EBADF);
}

static void a_file_without_debug_information_is_reported(void **state)
{
	(void)state;
	const ElfW(Ehdr) header = {
		.e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
		.e_type = ET_DYN,
		.e_version = EV_CURRENT,
		.e_ehsize = sizeof(header),
	};
	_cleanup_close_ int fd = memory_file(&header, sizeof(header));
	struct dwarf_lines *lines = NULL;

	assert_int_equal(dwarf_lines_open(fd, -1, &lines), -ENOENT);
}

static void a_truncated_file_does_no_harm(void **state)
{
	(void)state;
	_cleanup_(strbuf_done) struct strbuf bytes = strbuf_with_max(MAX_FILE_BYTES);
	const uint64_t address = outer().address;

	assert_int_equal(file_read_at(AT_FDCWD, "/proc/self/exe", &bytes), 0);
	for (size_t eighths = 0; eighths < 8; eighths++) {
		_cleanup_close_ int fd = memory_file(bytes.data, bytes.len / 8 * eighths);
		_cleanup_(dwarf_lines_closep) struct dwarf_lines *lines = NULL;
		_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(MAX_BYTES);

		if (dwarf_lines_open(fd, -1, &lines) == 0)
			assert_int_equal(dwarf_lines_write(lines, &address, 1, &out), 0);
	}
}

static void a_supplementary_file_nothing_refers_to_is_not_used(void **state)
{
	(void)state;
	_cleanup_close_ int fd = open_self();
	_cleanup_close_ int text = memory_file("text", 4);
	_cleanup_(dwarf_lines_closep) struct dwarf_lines *one = NULL;
	_cleanup_(dwarf_lines_closep) struct dwarf_lines *other = NULL;

	assert_int_equal(dwarf_lines_open(fd, fd, &one), 0);
	assert_int_equal(dwarf_lines_open(fd, text, &other), 0);
}

static size_t count_descriptors(void)
{
	_cleanup_closedir_ DIR *dir = opendir("/proc/self/fd");
	size_t nr = 0;

	assert_non_null(dir);
	while (readdir(dir))
		nr++;
	return nr;
}

static int ask_worker(uint64_t key, int fd, struct strbuf *reply)
{
	uint64_t address = outer().address;
	const struct worker_call call = {
		.request = { .kind = SYMBOL_REQUEST_LINES,
			     .nr_bytes = sizeof(address),
			     .key = key,
			     .max_bytes = MAX_BYTES },
		.bytes = (char *)&address,
		.nr_fds = 1,
		.fds = { fd },
	};

	strbuf_clear(reply);
	return symbol_worker_lines(&call, reply);
}

static void the_worker_opens_a_file_once_and_keeps_few_open(void **state)
{
	(void)state;
	_cleanup_(strbuf_done) struct strbuf reply = strbuf_with_max(MAX_BYTES);
	_cleanup_close_ int fd = open_self();
	size_t nr_descriptors = count_descriptors();

	assert_int_equal(ask_worker(1, fd, &reply), 0);
	assert_int_equal(ask_worker(1, -1, &reply), 0);
	for (uint64_t key = 1; key <= 18; key++)
		assert_int_equal(ask_worker(key, fd, &reply), 0);
	assert_true(count_descriptors() <= nr_descriptors + 16);
	assert_int_equal(ask_worker(18, -1, &reply), 0);
	assert_int_equal(ask_worker(1, -1, &reply), -EBADF);
}

static void the_worker_closes_the_least_recently_used_file(void **state)
{
	(void)state;
	_cleanup_(strbuf_done) struct strbuf reply = strbuf_with_max(MAX_BYTES);
	_cleanup_close_ int fd = open_self();

	for (uint64_t key = 101; key <= 116; key++)
		assert_int_equal(ask_worker(key, fd, &reply), 0);
	assert_int_equal(ask_worker(101, -1, &reply), 0);
	assert_int_equal(ask_worker(117, fd, &reply), 0);
	assert_int_equal(ask_worker(101, -1, &reply), 0);
	assert_int_equal(ask_worker(102, -1, &reply), -EBADF);
}

static void the_worker_refuses_other_files(void **state)
{
	(void)state;
	_cleanup_(strbuf_done) struct strbuf reply = strbuf_with_max(MAX_BYTES);
	_cleanup_close_ int text = memory_file("text", 4);
	_cleanup_close_ int fd = open_self();

	assert_int_equal(ask_worker(201, text, &reply), -EBADMSG);
	assert_int_equal(ask_worker(201, fd, &reply), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_address_has_the_inlined_functions_and_their_caller),
		cmocka_unit_test(other_addresses_of_the_unit_are_answered_too),
		cmocka_unit_test(each_unit_is_there_once),
		cmocka_unit_test(of_too_many_inlined_functions_the_outermost_is_kept),
		cmocka_unit_test(no_addresses_are_an_empty_answer),
		cmocka_unit_test(a_unit_that_has_no_room_is_left_out),
		cmocka_unit_test(files_other_than_elf_are_refused),
		cmocka_unit_test(a_file_without_debug_information_is_reported),
		cmocka_unit_test(a_truncated_file_does_no_harm),
		cmocka_unit_test(a_supplementary_file_nothing_refers_to_is_not_used),
		cmocka_unit_test(the_worker_opens_a_file_once_and_keeps_few_open),
		cmocka_unit_test(the_worker_closes_the_least_recently_used_file),
		cmocka_unit_test(the_worker_refuses_other_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
