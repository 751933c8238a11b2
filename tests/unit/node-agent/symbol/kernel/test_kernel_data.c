/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/kernel/kernel_data.h"

#include "base/cleanup.h"
#include "base/fileio.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "unit.h"

static int load(const char *text, struct kernel_data **ret_data)
{
	_cleanup_close_ int fd = memfd_create("kallsyms", MFD_CLOEXEC);
	char path[32];

	assert_true(fd >= 0);
	assert_int_equal(fd_write_all(fd, text, strlen(text)), 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return kernel_data_new(AT_FDCWD, path, ret_data);
}

static void an_address_is_in_the_variable_before_it(void **state)
{
	static const struct {
		uint64_t address;
		const char *name; /* NULL: none */
		uint64_t offset;
	} cases[] = {
		{ 0xffffffff82000fff, NULL, 0 },
		{ 0xffffffff82001000, "tasklist_lock", 0 },
		{ 0xffffffff82001008, "tasklist_lock", 8 },
		{ 0xffffffff82001040, "rcu_state", 0 },
		{ 0xffffffff82001048, "rcu_state", 8 },
		{ 0xffffffff82005040, NULL, 0 }, /* too far behind it */
		{ 0xffffffffc0001010, "ext4_lock", 0x10 },
	};
	_cleanup_(kernel_data_freep) struct kernel_data *data = NULL;

	(void)state;
	assert_int_equal(load("0000000000000000 D fixed_percpu_data\n"
			      "ffffffff81000000 T _stext\n"
			      "not a line\n"
			      "ffffffff82001040 b rcu_state\n"
			      "ffffffff82001000 D tasklist_lock\n"
			      "ffffffff82001044 r a_constant\n"
			      "ffffffffc0001000 d ext4_lock\t[ext4]",
			      &data),
			 0);
	for (size_t i = 0; i < array_len(cases); i++) {
		uint64_t offset = 0;
		const char *name = kernel_data_find(data, cases[i].address, &offset);

		if (cases[i].name)
			assert_string_equal(name, cases[i].name);
		else
			assert_null(name);
		assert_int_equal(offset, cases[i].offset);
	}
}

static void without_variables_none_is_found(void **state)
{
	static const char *const texts[] = {
		"", "0000000000000000 D hidden\n0000000000000000 b hidden_too\n", "\n\n"
	};
	uint64_t offset;

	(void)state;
	for (size_t i = 0; i < array_len(texts); i++) {
		_cleanup_(kernel_data_freep) struct kernel_data *data = NULL;

		assert_int_equal(load(texts[i], &data), 0);
		assert_null(kernel_data_find(data, 0xffffffff82001000, &offset));
	}
}

static void a_file_that_cannot_be_read_is_an_error(void **state)
{
	struct kernel_data *data = NULL;

	(void)state;
	assert_int_equal(kernel_data_new(AT_FDCWD, "/nonexistent", &data), -ENOENT);
	assert_null(data);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_address_is_in_the_variable_before_it),
		cmocka_unit_test(without_variables_none_is_found),
		cmocka_unit_test(a_file_that_cannot_be_read_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
