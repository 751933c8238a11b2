/* SPDX-License-Identifier: Apache-2.0 */
#include "store/dict_cache.h"

#include "base/text.h"
#include "store/stored_dict.h"

#include <stdlib.h>
#include <string.h>

#define MAX_ENTRIES 64
#define NR_IN_USE 2 /* callers may still borrow the two that were used last */

struct entry {
	char *path; /* owned */
	struct dict dict;
	struct stored_dict_end end;
	struct store_dict_size size; /* up to there: tells files of one name apart */
};

struct dict_cache {
	size_t max_bytes;
	struct entry *entries[MAX_ENTRIES]; /* owned; the one that was used last comes first */
	size_t nr;
};

int dict_cache_new(size_t max_bytes, struct dict_cache **ret_cache)
{
	struct dict_cache *cache = calloc(1, sizeof(*cache));

	if (!cache)
		return -ENOMEM;
	cache->max_bytes = max_bytes;
	*ret_cache = cache;
	return 0;
}

static void entry_free(struct entry *entry)
{
	if (!entry)
		return;
	dict_done(&entry->dict);
	free(entry->path);
	free(entry);
}
DEFINE_FREEP(struct entry, entry_free)

void dict_cache_free(struct dict_cache *cache)
{
	for (size_t i = 0; cache && i < cache->nr; i++)
		entry_free(cache->entries[i]);
	free(cache);
}

static void remove_entry(struct dict_cache *cache, size_t i)
{
	entry_free(cache->entries[i]);
	cache->nr--;
	for (; i < cache->nr; i++)
		cache->entries[i] = cache->entries[i + 1];
}

static void move_to_front(struct dict_cache *cache, size_t i)
{
	struct entry *entry = cache->entries[i];

	for (; i > 0; i--)
		cache->entries[i] = cache->entries[i - 1];
	cache->entries[0] = entry;
}

static int add_entry(struct dict_cache *cache, const char *path)
{
	_cleanup_(entry_freep) struct entry *entry = calloc(1, sizeof(*entry));

	if (!entry)
		return -ENOMEM;
	if (cache->nr == MAX_ENTRIES)
		remove_entry(cache, MAX_ENTRIES - 1);
	int r = dict_init(&entry->dict);
	if (r == 0)
		r = text_copy(path, &entry->path);
	if (r < 0)
		return r;
	entry->end.rows = dict_mark(&entry->dict);
	cache->entries[cache->nr++] = take_ptr(entry);
	move_to_front(cache, cache->nr - 1);
	return 0;
}

/* The least recently used ones give way to those in use. */
static void limit_bytes(struct dict_cache *cache)
{
	size_t sum = 0;

	for (size_t i = 0; i < cache->nr; i++) {
		sum += dict_bytes(&cache->entries[i]->dict);
		while (i >= NR_IN_USE && i < cache->nr && sum > cache->max_bytes)
			remove_entry(cache, cache->nr - 1);
	}
}

/* Returns whether the file begins with the parts that the entry has. */
static int is_of_file(const struct entry *entry, struct store_file *file)
{
	struct store_dict_size size = { 0 };

	int r = store_file_measure_dict(file, entry->end.number, &size);
	return r < 0 ? r
		     : size.nr_parts == entry->size.nr_parts &&
			       size.nr_bytes == entry->size.nr_bytes;
}

/* Makes the file's entry the first one. */
static int find_entry(struct dict_cache *cache, struct store_file *file, const char *path)
{
	for (size_t i = 0; i < cache->nr; i++) {
		if (strcmp(cache->entries[i]->path, path) != 0)
			continue;
		int r = is_of_file(cache->entries[i], file);
		if (r > 0)
			move_to_front(cache, i);
		else
			remove_entry(cache, i);
		if (r != 0)
			return r < 0 ? r : 0;
		break;
	}
	return add_entry(cache, path);
}

static int update(struct entry *entry, struct store_file *file, uint64_t last)
{
	dict_truncate(&entry->dict, &entry->end.rows);
	int r = stored_dict_continue(file, STORE_DICT_SAMPLES, last, &entry->dict, &entry->end);
	return r < 0 ? r : store_file_measure_dict(file, entry->end.number, &entry->size);
}

int dict_cache_get(struct dict_cache *cache, struct store_file *file, const char *path,
		   uint64_t last, struct dict **ret_dict)
{
	int r = find_entry(cache, file, path);

	if (r < 0)
		return r;
	r = update(cache->entries[0], file, last);
	if (r < 0) {
		remove_entry(cache, 0);
		return r;
	}
	limit_bytes(cache);
	*ret_dict = &cache->entries[0]->dict;
	return 0;
}
