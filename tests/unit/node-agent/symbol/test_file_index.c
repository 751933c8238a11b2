/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/file_index.h"

#include "base/cleanup.h"
#include "unit.h"

static struct known_file *add(struct file_index *files, uint64_t inode, uint64_t last_use)
{
	const struct file_identity identity = { .inode = inode };
	struct known_file *file = NULL;

	assert_int_equal(file_index_add(files, &identity, &file), 0);
	file->last_use = last_use;
	return file;
}

static struct known_file *find(const struct file_index *files, uint64_t inode)
{
	const struct file_identity identity = { .inode = inode };

	return file_index_find(files, &identity);
}

static void fill(struct file_index *files)
{
	for (uint64_t i = 1; i <= FILE_INDEX_MAX; i++)
		add(files, i, i);
}

static void a_file_is_found_by_id_and_by_identity(void **state)
{
	_cleanup_(file_index_done) struct file_index files = { 0 };
	(void)state;

	assert_int_equal(add(&files, 10, 1)->id, 1);
	assert_int_equal(add(&files, 20, 2)->id, 2);
	assert_ptr_equal(file_index_get(&files, 2), find(&files, 20));
	assert_null(file_index_get(&files, 0));
	assert_null(file_index_get(&files, 3));
	assert_null(file_index_get(&files, 1 + FILE_INDEX_MAX));
	assert_null(file_index_get(&files, UINT32_MAX));
	assert_null(find(&files, 30));
}

static void files_that_differ_in_anything_are_two(void **state)
{
	static const struct file_identity identities[] = {
		{ 1, 2, 3, 4, 5 }, { 9, 2, 3, 4, 5 }, { 1, 9, 3, 4, 5 },
		{ 1, 2, 9, 4, 5 }, { 1, 2, 3, 9, 5 }, { 1, 2, 3, 4, 9 },
	};
	_cleanup_(file_index_done) struct file_index files = { 0 };
	struct known_file *file;
	(void)state;

	for (uint32_t i = 0; i < sizeof(identities) / sizeof(identities[0]); i++) {
		assert_null(file_index_find(&files, &identities[i]));
		assert_int_equal(file_index_add(&files, &identities[i], &file), 0);
		assert_int_equal(file_index_find(&files, &identities[i])->id, i + 1);
	}
}

static void the_least_recently_used_makes_room(void **state)
{
	_cleanup_(file_index_done) struct file_index files = { 0 };
	(void)state;

	fill(&files);
	file_index_get(&files, 1)->last_use = UINT64_MAX;
	file_index_get(&files, 2)->state = FILE_LOADING;
	assert_int_equal(file_index_next_victim(&files)->id, 3);
	assert_int_equal(add(&files, 1000000, 1000000)->id, 3 + FILE_INDEX_MAX);
	assert_null(file_index_get(&files, 3));
	assert_null(find(&files, 3));
	assert_int_equal(find(&files, 1000000)->id, 3 + FILE_INDEX_MAX);
	assert_non_null(find(&files, 1));
	assert_non_null(find(&files, 2));
}

static void ids_end_rather_than_repeat(void **state)
{
	_cleanup_(file_index_done) struct file_index files = { 0 };
	const struct file_identity identity = { .inode = 1000000 };
	struct known_file *file = NULL;
	(void)state;

	fill(&files);
	for (size_t i = 0; i < files.nr_slots; i++)
		files.slots[i].id += UINT32_MAX - FILE_INDEX_MAX + 1;
	files.slots[files.nr_slots - 1].id = UINT32_MAX - FILE_INDEX_MAX + 1;
	files.slots[5].id -= FILE_INDEX_MAX;
	assert_int_equal(file_index_add(&files, &identity, &file), 0);
	assert_int_equal(file->id, 6 + (UINT32_MAX - FILE_INDEX_MAX + 1));
	assert_int_equal(file_index_add(&files, &identity, &file), -ENOSPC);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_is_found_by_id_and_by_identity),
		cmocka_unit_test(files_that_differ_in_anything_are_two),
		cmocka_unit_test(the_least_recently_used_makes_room),
		cmocka_unit_test(ids_end_rather_than_repeat),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
