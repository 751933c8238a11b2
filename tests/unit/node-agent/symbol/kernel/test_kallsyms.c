/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/kernel/kallsyms.h"

#include "base/fileio.h"
#include "base/strbuf.h"
#include "unit.h"

#include <fcntl.h>
#include <malloc.h>
#include <string.h>
#include <sys/mman.h>

static const char typical[] = "0000000000000000 A fixed_percpu_data\n"
			      "ffffffff81000000 T _stext\n"
			      "ffffffff81000000 T startup_64\n"
			      "ffffffff81000100 t local_alias\n"
			      "ffffffff81000100 W weak_alias\n"
			      "ffffffff81000100 T the_longer_global\n"
			      "ffffffff81000100 T the_global\n"
			      "ffffffff81000200 t after\n"
			      "ffffffff82000000 D some_data\n"
			      "ffffffffc0003000 t bpf_prog_6deef7357e7b4530_run\t[bpf]\n"
			      "ffffffffc0001000 t module_init\t[ext4]\n"
			      "ffffffffc0002000 T module_exit\t[ext4]\n"
			      "ffffffffc0005000 t trampoline\t[__builtin__ftrace]\n";

static int load(const char *text, size_t len, struct kallsyms **ret_kallsyms)
{
	_cleanup_close_ int fd = memfd_create("kallsyms", MFD_CLOEXEC);
	char path[32];

	assert_true(fd >= 0);
	assert_int_equal(fd_write_all(fd, text, len), 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return kallsyms_load(AT_FDCWD, path, ret_kallsyms);
}

static struct kallsyms *parse(const char *text)
{
	struct kallsyms *kallsyms = NULL;

	assert_int_equal(load(text, strlen(text), &kallsyms), 0);
	return kallsyms;
}

static void an_address_is_named_by_the_function_before_it(void **state)
{
	static const struct {
		uint64_t address;
		const char *name; /* NULL: none */
		const char *module;
	} cases[] = {
		{ 0, NULL, NULL },
		{ 0xffffffff80ffffff, NULL, NULL },
		{ 0xffffffff81000000, "_stext", "" },
		{ 0xffffffff810000ff, "_stext", "" },
		{ 0xffffffff81000100, "the_global", "" },
		{ 0xffffffff81000200, "after", "" },
		{ 0xffffffff811001ff, "after", "" },
		{ 0xffffffff81100200, NULL, NULL }, /* a megabyte is no function */
		{ 0xffffffff82000010, NULL, NULL }, /* data */
		{ 0xffffffffc0000fff, NULL, NULL },
		{ 0xffffffffc0001000, "module_init", "ext4" },
		{ 0xffffffffc0002fff, "module_exit", "ext4" },
		{ 0xffffffffc0003010, "bpf_prog_6deef7357e7b4530_run", "bpf" },
		{ 0xffffffffc0005000, "trampoline", "__builtin__ftrace" },
		{ UINT64_MAX, NULL, NULL },
	};
	_cleanup_(kallsyms_freep) struct kallsyms *kallsyms = parse(typical);
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		const char *module = NULL;
		const char *name = kallsyms_find(kallsyms, cases[i].address, &module);

		if (!cases[i].name) {
			assert_null(name);
			continue;
		}
		assert_string_equal(name, cases[i].name);
		assert_string_equal(module, cases[i].module);
	}
}

struct span {
	const char *name;
	uint64_t start, end;
};

static void check_next(const char *name, uint64_t start, uint64_t end, void *data)
{
	const struct span **next = data;

	assert_string_equal(name, (*next)->name);
	assert_int_equal(start, (*next)->start);
	assert_int_equal(end, (*next)->end);
	(*next)++;
}

static void functions_are_listed_with_their_ends(void **state)
{
	static const struct span spans[] = {
		{ "_stext", 0xffffffff81000000, 0xffffffff81000100 },
		{ "the_global", 0xffffffff81000100, 0xffffffff81000200 },
		{ "after", 0xffffffff81000200, 0xffffffff81100200 }, /* a megabyte is no function */
		{ "module_init", 0xffffffffc0001000, 0xffffffffc0002000 },
		{ "module_exit", 0xffffffffc0002000, 0xffffffffc0003000 },
		{ "bpf_prog_6deef7357e7b4530_run", 0xffffffffc0003000, 0xffffffffc0005000 },
		{ "trampoline", 0xffffffffc0005000, 0xffffffffc0105000 },
	};
	_cleanup_(kallsyms_freep) struct kallsyms *kallsyms = parse(typical);
	const struct span *next = spans;

	(void)state;
	kallsyms_each(kallsyms, check_next, &next);
	assert_ptr_equal(next, spans + array_len(spans));
}

static void malformed_lines_are_skipped(void **state)
{
	static const char *const lines[] = {
		"",
		" ",
		"T name",
		"xyz T name",
		"-1 T name",
		"0x1000 T name",
		"11111111111111111 T name", /* 17 digits */
		"ffffffff81000008",
		"ffffffff81000008 ",
		"ffffffff81000008 T",
		"ffffffff81000008 T ",
		"ffffffff81000008 TT name",
		"ffffffff81000008 T \t[mod]",
		"ffffffff81000008 T name\t",
		"ffffffff81000008 T name\t[]",
		"ffffffff81000008 T name\t[mod",
		"ffffffff81000008 T name\tmod]",
		"ffffffff81000008 T name\t[mod] ",
	};
	(void)state;

	for (size_t i = 0; i < array_len(lines); i++) {
		struct strbuf text = strbuf_with_max(1024);

		strbuf_appendf(&text, "ffffffff81000000 T good\n%s\nffffffff81000010 T well\n",
			       lines[i]);
		_cleanup_(kallsyms_freep) struct kallsyms *kallsyms = parse(strbuf_str(&text));

		assert_string_equal(kallsyms_find(kallsyms, 0xffffffff81000008, NULL), "good");
		assert_string_equal(kallsyms_find(kallsyms, 0xffffffff81000010, NULL), "well");
		assert_null(kallsyms_find(kallsyms, 0x1000, NULL));
		assert_null(kallsyms_find(kallsyms, 0x1111111111111111, NULL));
		assert_null(kallsyms_find(kallsyms, UINT64_MAX, NULL));
		strbuf_done(&text);
	}
}

static void hidden_addresses_are_a_lack_of_permission(void **state)
{
	static const char text[] = "0000000000000000 T _stext\n0000000000000000 t x\n";
	struct kallsyms *kallsyms = NULL;
	(void)state;

	assert_int_equal(load(text, strlen(text), &kallsyms), -EPERM);
	assert_int_equal(load("junk\n", 5, &kallsyms), -EBADMSG);
	assert_int_equal(load("", 0, &kallsyms), -EBADMSG);
	assert_int_equal(load("\0\n", 2, &kallsyms), -EBADMSG);
	assert_null(kallsyms);
}

static void a_last_line_without_newline_counts(void **state)
{
	_cleanup_(kallsyms_freep) struct kallsyms *kallsyms = parse("1000 T one\n2000 T two");
	(void)state;

	assert_string_equal(kallsyms_find(kallsyms, 0x2000, NULL), "two");
}

static void too_many_modules_are_refused(void **state)
{
	_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max(1 << 20);
	struct kallsyms *kallsyms = NULL;
	(void)state;

	for (unsigned int i = 0; i < 5000; i++)
		strbuf_appendf(&text, "%x t f\t[m%u]\n", i * 16 + 16, i);
	assert_int_equal(load(text.data, text.len, &kallsyms), -ENOSPC);
	assert_null(kallsyms);
}

static void a_missing_file_is_not_found(void **state)
{
	struct kallsyms *kallsyms = NULL;
	(void)state;

	assert_int_equal(kallsyms_load(AT_FDCWD, "/nonexistent", &kallsyms), -ENOENT);
	assert_int_equal(kallsyms_load(AT_FDCWD, "/", &kallsyms), -EISDIR);
	assert_null(kallsyms);
}

static size_t heap_bytes(void)
{
	struct mallinfo2 info = mallinfo2();

	return info.uordblks + info.hblkhd;
}

static void this_kernel_loads_into_a_few_megabytes(void **state)
{
	_cleanup_(kallsyms_freep) struct kallsyms *kallsyms = NULL;
	const char *module = NULL;
	size_t before = heap_bytes();
	(void)state;

	int r = kallsyms_load(AT_FDCWD, "/proc/kallsyms", &kallsyms);
	if (r == -EPERM || r == -ENOENT)
		skip(); /* this machine hides its kernel's addresses */
	assert_int_equal(r, 0);
	assert_true(heap_bytes() - before < (size_t)32 << 20);
	assert_null(kallsyms_find(kallsyms, 0x1000, &module));
}

/* A file of many reads, with a line longer than any buffer in the middle. */
static void lines_across_reads_are_whole(void **state)
{
	char path[] = "/tmp/test_kallsyms.XXXXXX";
	_cleanup_(kallsyms_freep) struct kallsyms *kallsyms = NULL;
	_cleanup_close_ int fd = mkostemp(path, O_CLOEXEC);
	(void)state;

	assert_true(fd >= 0);
	for (unsigned int i = 1; i <= 20000; i++) {
		if (i == 10000)
			for (int j = 0; j < 200000; j++)
				assert_int_equal(write(fd, "x", 1), 1);
		assert_true(dprintf(fd, "%x T function_%u\n", i * 16, i) > 0);
	}

	int r = kallsyms_load(AT_FDCWD, path, &kallsyms);
	unlink(path);
	assert_int_equal(r, 0);
	for (unsigned int i = 1; i <= 20000; i++) {
		char name[32];

		snprintf(name, sizeof(name), "function_%u", i == 10000 ? 9999 : i);
		assert_string_equal(kallsyms_find(kallsyms, i * 16, NULL), name);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_address_is_named_by_the_function_before_it),
		cmocka_unit_test(functions_are_listed_with_their_ends),
		cmocka_unit_test(malformed_lines_are_skipped),
		cmocka_unit_test(hidden_addresses_are_a_lack_of_permission),
		cmocka_unit_test(a_last_line_without_newline_counts),
		cmocka_unit_test(too_many_modules_are_refused),
		cmocka_unit_test(a_missing_file_is_not_found),
		cmocka_unit_test(this_kernel_loads_into_a_few_megabytes),
		cmocka_unit_test(lines_across_reads_are_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
