/* SPDX-License-Identifier: Apache-2.0 */
#include "process/mapping_list.h"

#include "base/cleanup.h"
#include "base/strbuf.h"
#include "torture.h"
#include "unit.h"

#include <string.h>

struct range {
	uint64_t start;
	uint64_t end;
	uint64_t file_offset;
	const char *path;
};

static int insert(struct mapping_list *list, const struct range *range)
{
	const struct mapped_file_key key = {
		.inode = range->path[0] == '/',
		.path = range->path,
		.path_len = strlen(range->path),
	};
	struct mapping mapping = {
		.start = range->start,
		.end = range->end,
		.file_offset = range->file_offset,
	};

	int r = mapped_files_take(list->files, &key, &mapping.file);
	if (r < 0)
		return r;
	r = mapping_list_insert(list, &mapping);
	mapped_file_unref(list->files, mapping.file);
	return r;
}

/* "10-20+0/a …" */
static void write_list(const struct mapping_list *list, struct strbuf *out)
{
	for (size_t i = 0; i < list->nr_items; i++) {
		const struct mapping *m = &list->items[i];

		strbuf_appendf(out, "%s%x-%x+%x%s", i ? " " : "", (unsigned int)m->start,
			       (unsigned int)m->end, (unsigned int)m->file_offset, m->file->path);
	}
}

static void assert_list(const struct mapping_list *list, const char *expected)
{
	_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max(4096);

	write_list(list, &text);
	assert_string_equal(strbuf_str(&text), expected);
}

static size_t count_files(const struct mapped_files *files)
{
	return files->index.nr_used;
}

struct insert_case {
	struct range range;
	const char *expected;
};

static void a_new_mapping_cuts_out_what_it_overlaps(void **state)
{
	static const struct insert_case cases[] = {
		{ { 0x10, 0x20, 0, "/n" }, "10-20+0/n 20-30+100/a 40-50+200/b 60-70+0[c]" },
		{ { 0x10, 0x28, 0, "/n" }, "10-28+0/n 28-30+108/a 40-50+200/b 60-70+0[c]" },
		{ { 0x20, 0x30, 0, "/n" }, "20-30+0/n 40-50+200/b 60-70+0[c]" },
		{ { 0x20, 0x24, 0, "/n" }, "20-24+0/n 24-30+104/a 40-50+200/b 60-70+0[c]" },
		{ { 0x24, 0x28, 0, "/n" },
		  "20-24+100/a 24-28+0/n 28-30+108/a 40-50+200/b 60-70+0[c]" },
		{ { 0x2c, 0x30, 0, "/n" }, "20-2c+100/a 2c-30+0/n 40-50+200/b 60-70+0[c]" },
		{ { 0x2c, 0x44, 0, "/n" }, "20-2c+100/a 2c-44+0/n 44-50+204/b 60-70+0[c]" },
		{ { 0x30, 0x40, 0, "/n" }, "20-30+100/a 30-40+0/n 40-50+200/b 60-70+0[c]" },
		{ { 0x50, 0x68, 0, "/n" }, "20-30+100/a 40-50+200/b 50-68+0/n 68-70+0[c]" },
		{ { 0x70, 0x80, 0, "/n" }, "20-30+100/a 40-50+200/b 60-70+0[c] 70-80+0/n" },
		{ { 0x00, 0x90, 0, "/n" }, "0-90+0/n" },
		{ { 0x40, 0x50, 0x200, "/b" }, "20-30+100/a 40-50+200/b 60-70+0[c]" },
	};
	static const struct range first[] = {
		{ 0x40, 0x50, 0x200, "/b" },
		{ 0x20, 0x30, 0x100, "/a" },
		{ 0x60, 0x70, 0, "[c]" },
	};
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		struct mapped_files files = { 0 };
		struct mapping_list *list;

		assert_int_equal(mapping_list_new(&files, &list), 0);
		for (size_t j = 0; j < array_len(first); j++)
			assert_int_equal(insert(list, &first[j]), 0);
		assert_int_equal(insert(list, &cases[i].range), 0);
		assert_list(list, cases[i].expected);
		mapping_list_unref(list);
		assert_int_equal(count_files(&files), 0);
		mapped_files_done(&files);
	}
}

static void an_address_is_found_in_its_mapping_only(void **state)
{
	struct mapped_files files = { 0 };
	struct mapping_list *list;
	(void)state;

	assert_null(mapping_list_find(NULL, 0x20));
	assert_int_equal(mapping_list_new(&files, &list), 0);
	assert_null(mapping_list_find(list, 0x20));
	assert_int_equal(insert(list, &(struct range){ 0x20, 0x30, 0, "/a" }), 0);
	assert_int_equal(insert(list, &(struct range){ 0x30, 0x40, 0, "/b" }), 0);
	assert_int_equal(insert(list, &(struct range){ 0x50, UINT64_MAX, 0, "/c" }), 0);

	assert_null(mapping_list_find(list, 0));
	assert_null(mapping_list_find(list, 0x1f));
	assert_string_equal(mapping_list_find(list, 0x20)->file->path, "/a");
	assert_string_equal(mapping_list_find(list, 0x2f)->file->path, "/a");
	assert_string_equal(mapping_list_find(list, 0x30)->file->path, "/b");
	assert_null(mapping_list_find(list, 0x40));
	assert_string_equal(mapping_list_find(list, 0x1000)->file->path, "/c");
	assert_null(mapping_list_find(list, UINT64_MAX));
	mapping_list_unref(list);
	mapped_files_done(&files);
}

static void a_shared_list_is_copied_before_it_changes(void **state)
{
	struct mapped_files files = { 0 };
	struct mapping_list *parent;
	(void)state;

	assert_int_equal(mapping_list_new(&files, &parent), 0);
	assert_int_equal(insert(parent, &(struct range){ 0x20, 0x30, 0, "/a" }), 0);
	struct mapping_list *child = mapping_list_ref(parent);
	assert_int_equal(mapping_list_make_own(&child), 0);
	assert_ptr_not_equal(child, parent);
	assert_int_equal(parent->nr_refs, 1);
	assert_int_equal(insert(child, &(struct range){ 0x20, 0x30, 0, "/b" }), 0);

	assert_list(parent, "20-30+0/a");
	assert_list(child, "20-30+0/b");
	struct mapping_list *same = child;
	assert_int_equal(mapping_list_make_own(&same), 0);
	assert_ptr_equal(same, child);
	mapping_list_unref(parent);
	assert_int_equal(count_files(&files), 1);
	mapping_list_unref(child);
	assert_int_equal(count_files(&files), 0);
	mapped_files_done(&files);
}

static void a_list_is_changed_by_what_is_mapped_and_by_nothing_else(void **state)
{
	struct mapped_files files = { 0 };
	struct mapping_list *list, *copy;
	(void)state;

	assert_int_equal(mapping_list_new(&files, &list), 0);
	assert_false(list->is_changed);
	assert_int_equal(insert(list, &(struct range){ 0x20, 0x30, 0, "/a" }), 0);
	assert_true(list->is_changed);
	uint64_t version = list->version;

	/* As the unwinder does when it has put the list into the arena. */
	list->is_changed = false;
	list->table = (struct mapping_table_place){ .unit = 1, .id = 2, .bytes = 3 };
	copy = mapping_list_ref(list);
	assert_int_equal(mapping_list_make_own(&copy), 0);
	assert_false(list->is_changed);
	assert_int_equal(list->table.unit, 1);
	assert_int_equal(copy->table.unit, 0);
	assert_int_equal(copy->table.id, 0);
	assert_int_not_equal(copy->version, version);
	uint64_t copy_version = copy->version;
	assert_int_equal(insert(copy, &(struct range){ 0x40, 0x50, 0, "/b" }), 0);
	assert_int_not_equal(copy->version, copy_version);
	assert_int_equal(list->version, version);
	assert_false(list->is_changed);
	assert_true(copy->is_changed);
	mapping_list_unref(copy);
	mapping_list_unref(list);
	mapped_files_done(&files);
}

/* What a watcher was told, in order: "L2" a list of two mappings, "/a" a file. */
static void write_list_gone(struct mapping_list *list, void *data)
{
	strbuf_appendf(data, " L%zu", list->nr_items);
}

static void write_file_gone(struct mapped_file *file, void *data)
{
	strbuf_appendf(data, " %s", file->path);
}

static void assert_told(struct strbuf *told, const char *expected)
{
	assert_string_equal(strbuf_str(told), expected);
	strbuf_clear(told);
}

static void a_watcher_sees_lists_go_before_their_files(void **state)
{
	_cleanup_(strbuf_done) struct strbuf told = strbuf_with_max(4096);
	struct mapped_files files = { .watcher = { write_file_gone, write_list_gone, &told } };
	struct mapping_list *list;
	(void)state;

	assert_int_equal(mapping_list_new(&files, &list), 0);
	assert_int_equal(insert(list, &(struct range){ 0x20, 0x30, 0, "/a" }), 0);
	assert_int_equal(insert(list, &(struct range){ 0x40, 0x50, 0, "/b" }), 0);
	assert_int_equal(insert(list, &(struct range){ 0x60, 0x70, 0, "/a" }), 0);
	assert_told(&told, "");
	assert_int_equal(insert(list, &(struct range){ 0x40, 0x50, 0, "/c" }), 0);
	assert_told(&told, " /b");
	assert_int_equal(insert(list, &(struct range){ 0x20, 0x30, 0, "/c" }), 0);
	assert_told(&told, "");

	struct mapping_list *copy = mapping_list_ref(list);
	assert_int_equal(mapping_list_make_own(&copy), 0);
	mapping_list_unref(mapping_list_ref(copy));
	mapping_list_unref(list);
	assert_told(&told, " L3");
	mapping_list_unref(copy);
	assert_told(&told, " L3 /c /a");
	mapped_files_done(&files);
}

/* What was found by the list before, such as where an address is, holds for the old file. */
static void a_list_with_another_file_is_another_state(void **state)
{
	const struct mapped_file_key key = { .inode = 1, .path = "/a", .path_len = 2 };
	struct mapped_file *file, *other;
	struct mapped_files files = { 0 };
	struct mapping_list *list;
	(void)state;

	assert_int_equal(mapping_list_new(&files, &list), 0);
	assert_int_equal(insert(list, &(struct range){ 0x20, 0x30, 0, "/a" }), 0);
	assert_int_equal(insert(list, &(struct range){ 0x40, 0x50, 0, "/b" }), 0);
	assert_int_equal(insert(list, &(struct range){ 0x60, 0x70, 0, "/a" }), 0);
	assert_int_equal(mapped_files_take(&files, &key, &file), 0);
	assert_int_equal(mapped_files_renew(&files, file, &other), 0);
	uint64_t version = list->version;
	list->is_changed = false;

	mapping_list_replace_file(list, file, other);
	assert_list(list, "20-30+0/a 40-50+0/b 60-70+0/a");
	assert_ptr_equal(list->items[0].file, other);
	assert_ptr_equal(list->items[2].file, other);
	assert_true(list->is_changed);
	assert_int_not_equal(list->version, version);

	version = list->version;
	list->is_changed = false;
	mapping_list_replace_file(list, file, other);
	assert_false(list->is_changed);
	assert_int_equal(list->version, version);
	mapped_file_unref(&files, file);
	mapped_file_unref(&files, other);
	mapping_list_unref(list);
	assert_int_equal(count_files(&files), 0);
	mapped_files_done(&files);
}

/* As when a program loads the new version of a plugin that it had unloaded. */
static void files_that_had_an_inode_one_after_the_other_are_two(void **state)
{
	const struct mapped_file_key from_maps = { .inode = 1, .path = "/a", .path_len = 2 };
	struct mapped_file_key from_event = from_maps;
	struct mapped_files files = { 0 };
	struct mapped_file *taken[5];
	(void)state;

	assert_int_equal(mapped_files_take(&files, &from_maps, &taken[0]), 0);
	for (uint32_t i = 1; i <= 2; i++) {
		from_event.generation = 100 - i;
		assert_int_equal(mapped_files_take(&files, &from_event, &taken[i]), 0);
		assert_ptr_not_equal(taken[i], taken[i - 1]);
	}
	assert_int_equal(mapped_files_take(&files, &from_event, &taken[3]), 0);
	assert_ptr_equal(taken[3], taken[2]);
	assert_int_equal(mapped_files_take(&files, &from_maps, &taken[4]), 0);
	assert_ptr_equal(taken[4], taken[2]);
	for (size_t i = 0; i < array_len(taken); i++)
		mapped_file_unref(&files, taken[i]);
	assert_int_equal(count_files(&files), 0);
	mapped_files_done(&files);
}

static void equal_files_are_one_and_rows_are_used_again(void **state)
{
	const struct mapped_file_key a = { .inode = 1, .path = "/a", .path_len = 2 };
	const struct mapped_file_key others[] = {
		{ .inode = 2, .path = "/a", .path_len = 2 },
		{ .inode = 1, .dev_major = 1, .path = "/a", .path_len = 2 },
		{ .inode = 1, .dev_minor = 1, .path = "/a", .path_len = 2 },
		{ .inode = 1, .path = "/a", .path_len = 1 },
	};
	struct mapped_files files = { 0 };
	struct mapped_file *first, *second;
	(void)state;

	assert_int_equal(mapped_files_take(&files, &a, &first), 0);
	assert_int_equal(mapped_files_take(&files, &a, &second), 0);
	assert_ptr_equal(first, second);
	for (size_t i = 0; i < array_len(others); i++) {
		assert_int_equal(mapped_files_take(&files, &others[i], &second), 0);
		assert_ptr_not_equal(first, second);
		mapped_file_unref(&files, second);
	}
	assert_int_equal(files.nr_rows, 2);
	mapped_file_unref(&files, first);
	assert_int_equal(count_files(&files), 1);
	mapped_file_unref(&files, first);
	assert_int_equal(count_files(&files), 0);
	mapped_files_done(&files);
}

static void a_full_list_refuses_more_but_still_replaces(void **state)
{
	struct mapped_files files = { 0 };
	struct mapping_list *list;
	(void)state;

	assert_int_equal(mapping_list_new(&files, &list), 0);
	for (uint64_t i = 0; i < MAPPING_LIST_MAX; i++)
		assert_int_equal(insert(list, &(struct range){ 32 * i, 32 * i + 16, 0, "/a" }), 0);
	assert_int_equal(insert(list, &(struct range){ 16, 20, 0, "/b" }), -ENOSPC);
	assert_int_equal(insert(list, &(struct range){ 4, 8, 0, "/b" }), -ENOSPC);
	assert_int_equal(list->nr_items, MAPPING_LIST_MAX);
	assert_int_equal(insert(list, &(struct range){ 0, 16, 0, "/b" }), 0);
	assert_string_equal(mapping_list_find(list, 0)->file->path, "/b");
	mapping_list_unref(list);
	mapped_files_done(&files);
}

static void fill_and_share(struct mapped_files *files)
{
	struct mapping_list *list;

	if (mapping_list_new(files, &list) < 0)
		return;
	for (uint64_t i = 0; i < 40; i++) {
		char path[8];

		snprintf(path, sizeof(path), "/%u", (unsigned int)i);
		if (insert(list, &(struct range){ 16 * i, 16 * i + 24, 0, path }) < 0)
			break;
	}
	struct mapping_list *child = mapping_list_ref(list);
	if (mapping_list_make_own(&child) < 0)
		assert_ptr_equal(child, list);
	mapping_list_unref(child);
	mapping_list_unref(list);
	assert_int_equal(count_files(files), 0);
}

static void nothing_leaks_when_memory_runs_out(void **state)
{
	(void)state;
	for (unsigned int n = 1;; n++) {
		struct mapped_files files = { 0 };

		torture_begin(n);
		fill_and_share(&files);
		bool has_failed = torture_end();
		mapped_files_done(&files);
		if (!has_failed)
			break;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_new_mapping_cuts_out_what_it_overlaps),
		cmocka_unit_test(an_address_is_found_in_its_mapping_only),
		cmocka_unit_test(a_shared_list_is_copied_before_it_changes),
		cmocka_unit_test(a_list_is_changed_by_what_is_mapped_and_by_nothing_else),
		cmocka_unit_test(a_watcher_sees_lists_go_before_their_files),
		cmocka_unit_test(a_list_with_another_file_is_another_state),
		cmocka_unit_test(files_that_had_an_inode_one_after_the_other_are_two),
		cmocka_unit_test(equal_files_are_one_and_rows_are_used_again),
		cmocka_unit_test(a_full_list_refuses_more_but_still_replaces),
		cmocka_unit_test(nothing_leaks_when_memory_runs_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
