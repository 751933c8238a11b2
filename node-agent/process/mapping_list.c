/* SPDX-License-Identifier: Apache-2.0 */
#include "process/mapping_list.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/search.h"

#include <stdlib.h>
#include <string.h>

/* Makes room for so many mappings, and accounts for it. */
static int reserve(struct mapping_list *list, size_t nr_items)
{
	size_t cap_before = list->cap_items;

	int r = array_grow(list->items, list->cap_items, nr_items, MAPPING_LIST_MAX);
	list->files->nr_bytes += (list->cap_items - cap_before) * sizeof(*list->items);
	return r;
}

int mapping_list_new(struct mapped_files *files, struct mapping_list **ret_list)
{
	struct mapping_list *list = calloc(1, sizeof(*list));

	if (!list)
		return -ENOMEM;
	list->files = files;
	list->nr_refs = 1;
	list->version = ++files->last_version;
	*ret_list = list;
	return 0;
}

struct mapping_list *mapping_list_ref(struct mapping_list *list)
{
	list->nr_refs++;
	return list;
}

void mapping_list_unref(struct mapping_list *list)
{
	if (!list || --list->nr_refs > 0)
		return;
	if (list->files->watcher.list_gone)
		list->files->watcher.list_gone(list, list->files->watcher.data);
	for (size_t i = 0; i < list->nr_items; i++)
		mapped_file_unref(list->files, list->items[i].file);
	list->files->nr_bytes -= list->cap_items * sizeof(*list->items);
	free(list->items);
	free(list->runtimes);
	free(list);
}

int mapping_list_set_runtimes(struct mapping_list *list, const struct runtime_descriptor *runtimes,
			      size_t nr_runtimes)
{
	struct runtime_descriptor *copy = NULL;

	if (nr_runtimes > RUNTIME_MAX_OF_PROCESS)
		return -ENOSPC;
	if (nr_runtimes > 0) {
		copy = calloc(nr_runtimes, sizeof(*copy));
		if (!copy)
			return -ENOMEM;
		memcpy(copy, runtimes, nr_runtimes * sizeof(*copy));
	}
	free(list->runtimes);
	list->runtimes = copy;
	list->nr_runtimes = nr_runtimes;
	list->is_changed = true;
	return 0;
}

int mapping_list_make_own(struct mapping_list **list)
{
	_cleanup_(mapping_list_unrefp) struct mapping_list *copy = NULL;
	struct mapping_list *shared = *list;

	if (shared->nr_refs == 1)
		return 0;
	int r = mapping_list_new(shared->files, &copy);
	if (r < 0)
		return r;
	r = reserve(copy, shared->nr_items);
	if (r < 0)
		return r;
	for (size_t i = 0; i < shared->nr_items; i++) {
		copy->items[i] = shared->items[i];
		mapped_file_ref(copy->items[i].file);
	}
	copy->nr_items = shared->nr_items;
	r = mapping_list_set_runtimes(copy, shared->runtimes, shared->nr_runtimes);
	if (r < 0)
		return r;
	mapping_list_unref(shared);
	*list = take_ptr(copy);
	return 0;
}

/* Returns the number of mappings that end at or before an address: the index of the
 * first one that does not. */
static size_t count_below(const struct mapping_list *list, uint64_t address)
{
	return search_count(list->nr_items, i, list->items[i].end <= address);
}

static struct mapping part_after(const struct mapping *mapping, uint64_t start)
{
	struct mapping part = *mapping;

	if (part.file->inode)
		part.file_offset += start - part.start;
	part.start = start;
	return part;
}

static void mark_changed(struct mapping_list *list)
{
	list->version = ++list->files->last_version;
	list->is_changed = true;
}

/* Puts `pieces` in the place of the items [first, last). References are taken before old ones are
 * dropped: a piece may be all that is left of an old item. */
static int replace(struct mapping_list *list, size_t first, size_t last,
		   const struct mapping *pieces, size_t nr_pieces)
{
	size_t nr_items = list->nr_items - (last - first) + nr_pieces;

	int r = reserve(list, nr_items);
	if (r < 0)
		return r;
	for (size_t i = 0; i < nr_pieces; i++)
		mapped_file_ref(pieces[i].file);
	for (size_t i = first; i < last; i++)
		mapped_file_unref(list->files, list->items[i].file);
	memmove(list->items + first + nr_pieces, list->items + last,
		(list->nr_items - last) * sizeof(*list->items));
	memcpy(list->items + first, pieces, nr_pieces * sizeof(*pieces));
	list->nr_items = nr_items;
	mark_changed(list);
	return 0;
}

int mapping_list_insert(struct mapping_list *list, const struct mapping *mapping)
{
	struct mapping pieces[3];
	size_t nr_pieces = 0;

	size_t first = count_below(list, mapping->start);
	size_t last = first;
	while (last < list->nr_items && list->items[last].start < mapping->end)
		last++;

	if (first < last && list->items[first].start < mapping->start) {
		pieces[nr_pieces] = list->items[first];
		pieces[nr_pieces++].end = mapping->start;
	}
	pieces[nr_pieces++] = *mapping;
	if (first < last && list->items[last - 1].end > mapping->end)
		pieces[nr_pieces++] = part_after(&list->items[last - 1], mapping->end);
	return replace(list, first, last, pieces, nr_pieces);
}

void mapping_list_replace_file(struct mapping_list *list, struct mapped_file *file,
			       struct mapped_file *other)
{
	size_t nr_replaced = 0;

	for (size_t i = 0; i < list->nr_items; i++) {
		if (list->items[i].file != file)
			continue;
		list->items[i].file = mapped_file_ref(other);
		nr_replaced++;
	}
	if (nr_replaced > 0)
		mark_changed(list);
	for (size_t i = 0; i < nr_replaced; i++)
		mapped_file_unref(list->files, file);
}

const struct mapping *mapping_list_find(const struct mapping_list *list, uint64_t address)
{
	if (!list)
		return NULL;

	size_t i = count_below(list, address);
	if (i == list->nr_items || list->items[i].start > address)
		return NULL;
	return &list->items[i];
}
