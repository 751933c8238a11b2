/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/tables/table_store.h"

#include "base/array.h"
#include "base/hash.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define MAX_TABLES 65536

void table_store_done(struct table_store *store)
{
	free(store->tables);
	htable_done(&store->by_key);
	*store = (struct table_store){ 0 };
}

static uint32_t hash_key(const struct elf_rows_key *key)
{
	return hash_bytes(key->hash, sizeof(key->hash));
}

static bool is_same_key(const struct elf_rows_key *a, const struct elf_rows_key *b)
{
	return memcmp(a->hash, b->hash, sizeof(a->hash)) == 0 &&
	       strcmp(a->build_id, b->build_id) == 0;
}

struct stored_table *table_store_get(struct table_store *store, uint32_t number)
{
	return &store->tables[number - 1];
}

uint32_t table_store_find(const struct table_store *store, const struct elf_rows_key *key)
{
	struct htable_iter it = htable_lookup(&store->by_key, hash_key(key));

	for (uint32_t row; htable_next(&it, &row);)
		if (is_same_key(&store->tables[row].key, key))
			return row + 1;
	return 0;
}

/* Puts one more place at the head of the free ones. */
static int add_place(struct table_store *store)
{
	int r = array_grow(store->tables, store->cap_tables, store->nr_places + 1, MAX_TABLES);
	if (r < 0)
		return r;
	store->tables[store->nr_places++] = (struct stored_table){ .next_free = store->first_free };
	store->first_free = (uint32_t)store->nr_places;
	return 0;
}

int table_store_add(struct table_store *store, const struct stored_table *table,
		    uint32_t *ret_number)
{
	if (store->first_free == 0) {
		int r = add_place(store);
		if (r < 0)
			return r;
	}
	uint32_t number = store->first_free;
	int r = htable_add(&store->by_key, hash_key(&table->key), number - 1);
	if (r < 0)
		return r;
	struct stored_table *place = table_store_get(store, number);
	store->first_free = place->next_free;
	*place = *table;
	place->nr_slots = 0;
	store->nr_tables++;
	store->nr_bytes += table->nr_bytes;
	store->nr_rows += table->nr_rows;
	*ret_number = number;
	return 0;
}

void table_store_remove(struct table_store *store, uint32_t number)
{
	struct stored_table *table = table_store_get(store, number);

	htable_remove(&store->by_key, hash_key(&table->key), number - 1);
	store->nr_tables--;
	store->nr_bytes -= table->nr_bytes;
	store->nr_rows -= table->nr_rows;
	*table = (struct stored_table){ .next_free = store->first_free };
	store->first_free = number;
}

void table_store_use(struct table_store *store, uint32_t number, uint32_t used, uint32_t clock)
{
	struct stored_table *table = table_store_get(store, number);

	if (clock - used < clock - table->last_used)
		table->last_used = used;
}

static bool is_older(const struct stored_table *table, uint32_t clock, uint32_t age)
{
	return table->unit != 0 && clock - table->last_used > age;
}

uint64_t table_store_count_older(const struct table_store *store, uint32_t clock, uint32_t min_age)
{
	uint64_t nr_bytes = 0;

	for (size_t i = 0; i < store->nr_places; i++)
		if (is_older(&store->tables[i], clock, min_age))
			nr_bytes += store->tables[i].nr_bytes;
	return nr_bytes;
}

uint32_t table_store_find_oldest(const struct table_store *store, uint32_t clock, uint32_t min_age)
{
	const struct stored_table *oldest = NULL;

	for (size_t i = 0; i < store->nr_places; i++) {
		const struct stored_table *table = &store->tables[i];
		uint32_t age = clock - table->last_used;

		if (!is_older(table, clock, min_age))
			continue;
		if (!oldest || age > clock - oldest->last_used ||
		    (age == clock - oldest->last_used && table->nr_slots < oldest->nr_slots))
			oldest = table;
	}
	return oldest ? (uint32_t)(oldest - store->tables) + 1 : 0;
}
