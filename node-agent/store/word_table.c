/* SPDX-License-Identifier: Apache-2.0 */
#include "store/word_table.h"

#include "base/array.h"
#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

void word_table_done(struct word_table *table)
{
	free(table->words);
	free(table->ends);
	htable_done(&table->index);
	*table = (struct word_table){ .width = table->width };
}

struct word_row word_table_get(const struct word_table *table, uint32_t id)
{
	struct word_row row;
	size_t start = word_table_find(table, id, &row.nr);

	row.words = table->words + start;
	return row;
}

static uint32_t hash_row(const uint32_t *words, size_t nr)
{
	return hash_bytes(nr ? (const void *)words : "", nr * sizeof(*words));
}

uint32_t *word_table_append(struct word_table *table, size_t nr)
{
	if (array_grow(table->words, table->cap_words, table->nr_words + nr + 1,
		       WORD_TABLE_MAX_WORDS) < 0)
		return NULL;
	if (!table->width) {
		if (array_grow(table->ends, table->cap_ends, table->nr_rows + 1,
			       WORD_TABLE_MAX_WORDS) < 0)
			return NULL;
		table->ends[table->nr_rows] = (uint32_t)(table->nr_words + nr);
	}
	uint32_t *words = table->words + table->nr_words;
	table->nr_words += nr;
	table->nr_rows++;
	return words;
}

uint32_t *word_table_extend(struct word_table *table, size_t nr_rows)
{
	size_t nr = nr_rows * table->width;

	if (array_grow(table->words, table->cap_words, table->nr_words + nr + 1,
		       WORD_TABLE_MAX_WORDS) < 0)
		return NULL;
	uint32_t *words = table->words + table->nr_words;
	table->nr_words += nr;
	table->nr_rows += nr_rows;
	return words;
}

static int find(const struct word_table *table, uint32_t hash, const uint32_t *words, size_t nr,
		uint32_t *ret_id)
{
	struct htable_iter it = htable_lookup(&table->index, hash);

	for (uint32_t id; htable_next(&it, &id);) {
		struct word_row row = word_table_get(table, id);

		if (row.nr == nr &&
		    (nr == 0 || memcmp(row.words, words, nr * sizeof(*words)) == 0)) {
			*ret_id = id;
			return 0;
		}
	}
	return -ENOENT;
}

/* Asks the CPU to fetch what find() reads: the index first, then the rows of that hash. */
static void prefetch_rows(const struct word_table *table, const uint32_t *hashes, size_t nr)
{
	uint32_t ids[WORD_TABLE_BATCH];
	size_t nr_ids = 0, len;

	for (size_t i = 0; i < nr; i++) {
		struct htable_iter it = htable_lookup(&table->index, hashes[i]);

		if (!htable_next(&it, &ids[nr_ids]))
			continue;
		if (table->width == 0 && ids[nr_ids] > 0)
			__builtin_prefetch(&table->ends[ids[nr_ids] - 1]);
		nr_ids++;
	}
	for (size_t i = 0; i < nr_ids; i++)
		__builtin_prefetch(table->words + word_table_find(table, ids[i], &len));
}

void word_table_find_all(const struct word_table *table, const uint32_t *words,
			 const size_t *starts, size_t nr, uint32_t *ret_ids)
{
	uint32_t hashes[WORD_TABLE_BATCH];

	for (size_t i = 0; i < nr; i++) {
		hashes[i] = hash_row(words + starts[i], starts[i + 1] - starts[i]);
		htable_prefetch(&table->index, hashes[i]);
	}
	prefetch_rows(table, hashes, nr);
	for (size_t i = 0; i < nr; i++)
		if (find(table, hashes[i], words + starts[i], starts[i + 1] - starts[i],
			 &ret_ids[i]) < 0)
			ret_ids[i] = WORD_TABLE_NONE;
}

int word_table_add(struct word_table *table, const uint32_t *words, size_t nr, uint32_t *ret_id)
{
	uint32_t hash = hash_row(words, nr);
	uint32_t id = (uint32_t)table->nr_rows;

	if (find(table, hash, words, nr, ret_id) == 0)
		return 0;
	int r = htable_add(&table->index, hash, id);
	if (r < 0)
		return r;
	uint32_t *copy = word_table_append(table, nr);
	if (!copy) {
		htable_remove(&table->index, hash, id);
		return table->nr_words + nr < WORD_TABLE_MAX_WORDS ? -ENOMEM : -ENOSPC;
	}
	if (nr)
		memcpy(copy, words, nr * sizeof(*words));
	*ret_id = id;
	return 0;
}

void word_table_truncate(struct word_table *table, size_t nr_rows)
{
	while (table->nr_rows > nr_rows) {
		uint32_t last = (uint32_t)table->nr_rows - 1;
		struct word_row row = word_table_get(table, last);

		if (table->index.nr_used > 0)
			htable_remove(&table->index, hash_row(row.words, row.nr), last);
		table->nr_rows--;
		table->nr_words -= row.nr;
	}
}

size_t word_table_bytes(const struct word_table *table)
{
	return table->cap_words * sizeof(*table->words) + table->cap_ends * sizeof(*table->ends) +
	       table->index.nr_slots * sizeof(*table->index.slots);
}
