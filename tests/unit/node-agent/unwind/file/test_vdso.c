/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/file/elf_rows.h"

#include "base/cleanup.h"
#include "unit.h"

static void the_vdso_has_rows(void **state)
{
	const struct elf_rows_opts opts = { .max_bytes = (size_t)1 << 20 };
	_cleanup_(elf_rows_closep) struct elf_rows *rows = NULL;
	_cleanup_(row_table_bytes_done) struct row_table_bytes table = { 0 };
	_cleanup_close_ int fd = -EBADF;
	struct elf_rows_stats stats;
	(void)state;

	if (elf_rows_open_vdso(&fd) < 0)
		skip();
	assert_int_equal(elf_rows_open(fd, &opts, &rows), 0);
	assert_int_equal(elf_rows_build(rows, &table, &stats), 0);
	assert_true(stats.nr_functions > 1);
	assert_int_equal(stats.losses.nr_bad_entries, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(the_vdso_has_rows) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
