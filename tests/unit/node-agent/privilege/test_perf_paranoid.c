/* SPDX-License-Identifier: Apache-2.0 */
#include "privilege/perf_paranoid.h"

#include "base/cleanup.h"
#include "base/fileio.h"
#include "remove_tree.h"
#include "unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define BYTES(literal) literal, sizeof(literal) - 1

static char dir[] = "/tmp/flamelet-paranoid-XXXXXX";
static char path[64];

static int make_dir(void **state)
{
	(void)state;
	if (!mkdtemp(dir))
		return -1;
	snprintf(path, sizeof(path), "%s/paranoid", dir);
	return 0;
}

static int remove_dir(void **state)
{
	(void)state;
	remove_tree(dir);
	return 0;
}

static void assert_content(const char *text)
{
	_cleanup_(strbuf_done) struct strbuf content = strbuf_with_max(256);

	assert_int_equal(file_read_at(AT_FDCWD, path, &content), 0);
	assert_string_equal(strbuf_str(&content), text);
}

static void only_a_higher_number_is_lowered(void **state)
{
	static const struct {
		const char *text;
		int before;
		const char *after;
	} cases[] = {
		{ "3\n", 3, "2\n" }, { "4", 4, "2\n" }, { "2\n", 2, "2\n" },
		{ "1\n", 1, "1\n" }, { "0", 0, "0" },	{ "-1\n", -1, "-1\n" },
	};
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(256);
		int before;

		assert_int_equal(file_write_atomic(path, cases[i].text, strlen(cases[i].text)), 0);
		assert_int_equal(perf_paranoid_allow(path, &before, &message), 0);
		assert_int_equal(before, cases[i].before);
		assert_int_equal(message.len, 0);
		assert_content(cases[i].after);
	}
}

/* Compares the beginning only: a file of procfs ends where the new text does, another file keeps
 * the rest of the old one. */
static void what_is_not_2_after_the_writing_is_an_error(void **state)
{
	_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(256);
	int before;
	(void)state;

	assert_int_equal(file_write_atomic(path, "2147483647", 10), 0);
	assert_int_equal(perf_paranoid_allow(path, &before, &message), -EBADMSG);
	assert_non_null(strstr(message.data, " is 2147483647 and cannot be changed"));
}

static void what_is_no_number_stays_as_it_is(void **state)
{
	static const struct {
		const char *text;
		size_t len;
	} cases[] = {
		{ BYTES("") },		 { BYTES("\n") },
		{ BYTES("three") },	 { BYTES("3 4") },
		{ BYTES("3\n4\n") },	 { BYTES("+3") },
		{ BYTES("--3") },	 { BYTES(" 3") },
		{ BYTES("-") },		 { BYTES("3\0") },
		{ BYTES("2147483648") }, { BYTES("99999999999999999999999999") },
		{ BYTES("0x3\n") },	 { BYTES("33333333333333333333333333333333333333333333") },
	};
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(256);
		int before;

		assert_int_equal(file_write_atomic(path, cases[i].text, cases[i].len), 0);
		assert_int_equal(perf_paranoid_allow(path, &before, &message), -EBADMSG);
		assert_non_null(strstr(message.data, ": its content is not a number"));
		assert_content(cases[i].text);
	}
}

static void only_a_regular_file_is_touched(void **state)
{
	char fifo[64], link[64];
	const struct {
		const char *path;
		int error;
		const char *words;
	} cases[] = {
		{ fifo, -EINVAL, "not a regular file" },
		{ link, -ELOOP, "not a regular file" },
		{ dir, -EINVAL, "not a regular file" },
		{ "/dev/null", -EINVAL, "not a regular file" },
		{ "/nonexistent/file", -ENOENT, "mount the node's /proc/sys/kernel" },
	};
	(void)state;

	snprintf(fifo, sizeof(fifo), "%s/fifo", dir);
	snprintf(link, sizeof(link), "%s/link", dir);
	assert_int_equal(file_write_atomic(path, "3\n", 2), 0);
	assert_int_equal(mkfifo(fifo, 0600), 0);
	assert_int_equal(symlink(path, link), 0);
	for (size_t i = 0; i < array_len(cases); i++) {
		_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(256);
		int before;

		assert_int_equal(perf_paranoid_allow(cases[i].path, &before, &message),
				 cases[i].error);
		assert_non_null(strstr(message.data, cases[i].words));
	}
	assert_content("3\n");
}

/* Uses a number that not even root can change. */
static void what_cannot_be_written_is_explained(void **state)
{
	static const char read_only[] = "/proc/sys/kernel/ngroups_max";
	_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(256);
	int before;
	(void)state;

	if (access(read_only, R_OK) < 0)
		skip(); /* no procfs */
	int r = perf_paranoid_allow(read_only, &before, &message);
	assert_true(r == -EACCES || r == -EROFS || r == -EPERM);
	assert_non_null(strstr(message.data, "mount it writable"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_a_higher_number_is_lowered),
		cmocka_unit_test(what_is_not_2_after_the_writing_is_an_error),
		cmocka_unit_test(what_is_no_number_stays_as_it_is),
		cmocka_unit_test(only_a_regular_file_is_touched),
		cmocka_unit_test(what_cannot_be_written_is_explained),
	};

	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
