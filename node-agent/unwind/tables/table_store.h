/* SPDX-License-Identifier: Apache-2.0 */
/* The row tables in the arena, by key, and when each was last used. Knows where tables are and does
 * not touch them.
 *
 * A table that no slot refers to stays: the next process that runs the same program finds it. It
 * is evicted when its place is needed, like any other. */
#ifndef UNWIND_TABLES_TABLE_STORE_H
#define UNWIND_TABLES_TABLE_STORE_H

#include "base/err.h"
#include "base/htable.h"
#include "unwind/file/elf_rows.h"

#include <stddef.h>
#include <stdint.h>

struct stored_table {
	struct elf_rows_key key;
	uint32_t unit; /* in the arena; 0: this place is free */
	uint32_t nr_bytes;
	uint32_t nr_rows;
	uint32_t nr_slots; /* that refer to it; its user's business */
	uint32_t last_used; /* by the clock of table_slot.used */
	uint32_t next_free; /* number of the next free place */
};

/* Tables have numbers; 0 is no table. */
struct table_store {
	struct stored_table *tables; /* owned; number - 1 is the index */
	size_t nr_places;
	size_t cap_tables;
	uint32_t first_free;
	struct htable by_key;
	uint64_t nr_tables;
	uint64_t nr_bytes;
	uint64_t nr_rows;
};

void table_store_done(struct table_store *store);

/* Returns the number of the table with this key; 0 if there is none. */
uint32_t table_store_find(const struct table_store *store, const struct elf_rows_key *key);

/* Adds a table that no slot refers to, and that is not there. Errors: -ENOSPC, -ENOMEM. */
int table_store_add(struct table_store *store, const struct stored_table *table,
		    uint32_t *ret_number) must_check;

void table_store_remove(struct table_store *store, uint32_t number);

/* Valid until a table is added. `number` is not 0. */
struct stored_table *table_store_get(struct table_store *store, uint32_t number);

/* Notes when a table was used. */
void table_store_use(struct table_store *store, uint32_t number, uint32_t used, uint32_t clock);

/* Returns the bytes of all tables that were last used more than `min_age` ticks before `clock`. */
uint64_t table_store_count_older(const struct table_store *store, uint32_t clock, uint32_t min_age);

/* Returns the table that was last used longest ago, if that was more than `min_age` ticks before
 * `clock`; of several, one that no slot refers to. 0 if there is none. */
uint32_t table_store_find_oldest(const struct table_store *store, uint32_t clock, uint32_t min_age);

#endif
