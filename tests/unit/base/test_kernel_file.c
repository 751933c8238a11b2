/* SPDX-License-Identifier: Apache-2.0 */
#include "base/kernel_file.h"

#include "base/cleanup.h"
#include "base/fileio.h"
#include "remove_tree.h"

#include <string.h>

#include "unit.h"

static char dir[] = "/tmp/flamelet-doctor-files-XXXXXX";

static void write_file(const char *text)
{
	char path[64];

	snprintf(path, sizeof(path), "%s/f", dir);
	assert_int_equal(file_write_atomic(path, text, strlen(text)), 0);
}

static void a_line_is_found_by_its_beginning(void **state)
{
	static const struct {
		const char *text;
		const char *value; /* NULL: no such line */
	} cases[] = {
		{ "Key:\tvalue\n", "value" },
		{ "Other:\t1\nKey:  two words \t\nKey: 2\n", "two words" },
		{ "Key:value", "value" },
		{ "Key:", "" },
		{ "Key:\n", "" },
		{ "Key: \t \nx", "" },
		{ "Key", NULL },
		{ "xKey: 1\n", NULL },
		{ " Key: 1\n", NULL },
		{ "\n\n", NULL },
		{ "", NULL },
	};

	(void)state;
	for (size_t i = 0; i < array_len(cases); i++) {
		_cleanup_(strbuf_done) struct strbuf value = strbuf_with_max(100);

		write_file(cases[i].text);
		int r = kernel_file_read_line(dir, "f", "Key:", &value);
		assert_int_equal(r, cases[i].value ? 0 : -ENOENT);
		assert_string_equal(strbuf_str(&value), cases[i].value ? cases[i].value : "");
	}
}

static void a_file_is_read_as_far_as_there_is_room(void **state)
{
	_cleanup_(strbuf_done) struct strbuf head = strbuf_with_max(100);
	_cleanup_(strbuf_done) struct strbuf none = strbuf_with_max(100);
	_cleanup_(strbuf_done) struct strbuf value = strbuf_with_max(2);
	char long_dir[5000];

	(void)state;
	write_file("Key:\tvalue\n");
	assert_int_equal(kernel_file_read_head(dir, "f", &head), 0);
	assert_string_equal(strbuf_str(&head), "Key:\tvalue\n");
	assert_int_equal(kernel_file_read_head(dir, "g", &none), -ENOENT);
	assert_int_equal(kernel_file_read_line(dir, "f", "Key:", &value), -ENOSPC);
	memset(long_dir, 'x', sizeof(long_dir) - 1);
	long_dir[sizeof(long_dir) - 1] = '\0';
	assert_int_equal(kernel_file_read_head(long_dir, "f", &none), -ENAMETOOLONG);
}

static int make_dir(void **state)
{
	(void)state;
	return mkdtemp(dir) ? 0 : -1;
}

static int remove_dir(void **state)
{
	(void)state;
	remove_tree(dir);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_line_is_found_by_its_beginning),
		cmocka_unit_test(a_file_is_read_as_far_as_there_is_room),
	};

	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
