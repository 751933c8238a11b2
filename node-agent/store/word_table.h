/* SPDX-License-Identifier: Apache-2.0 */
/* A table of distinct rows of 32-bit words, numbered in the order in which they were added. The
 * newest rows can be removed again. */
#ifndef STORE_WORD_TABLE_H
#define STORE_WORD_TABLE_H

#include "base/err.h"
#include "base/htable.h"

#include <stddef.h>
#include <stdint.h>

#define WORD_TABLE_MAX_WORDS ((size_t)1 << 28)

#define WORD_TABLE_NONE UINT32_MAX
#define WORD_TABLE_BATCH 32

struct word_table {
	unsigned int width; /* words of each row; 0: rows differ in length */
	uint32_t *words; /* owned */
	size_t nr_words, cap_words;
	uint32_t *ends; /* owned; of width 0: the index behind each row's last word */
	size_t cap_ends;
	size_t nr_rows;
	struct htable index; /* of the rows that word_table_add() added */
};

struct word_row {
	const uint32_t *words; /* borrowed; valid until the next addition */
	size_t nr;
};

void word_table_done(struct word_table *table);

/* Finds the number of an equal row, or adds the row. Errors:
 * -ENOSPC over WORD_TABLE_MAX_WORDS, -ENOMEM. */
int word_table_add(struct word_table *table, const uint32_t *words, size_t nr, uint32_t *ret_id)
	must_check;

/* Finds the numbers of many rows at once, which waits less for memory than one after the other.
 * `starts` says where in `words` each row begins, and has nr + 1 numbers. A row that there is not
 * gets WORD_TABLE_NONE. At most WORD_TABLE_BATCH. */
void word_table_find_all(const struct word_table *table, const uint32_t *words,
			 const size_t *starts, size_t nr, uint32_t *ret_ids);

/* Adds a row without looking for an equal one; word_table_add() will not find it. Returns its words
 * for the caller to fill in, or NULL without memory or over the limit. */
uint32_t *word_table_append(struct word_table *table, size_t nr);

/* Does the same for many rows of one width. */
uint32_t *word_table_extend(struct word_table *table, size_t nr_rows);

/* Returns the index of a row's first word, and its number of words. `row` must exist. */
static inline size_t word_table_find(const struct word_table *table, size_t row, size_t *ret_nr)
{
	size_t start = row * table->width;

	*ret_nr = table->width;
	if (table->width == 0) {
		start = row ? table->ends[row - 1] : 0;
		*ret_nr = table->ends[row] - start;
	}
	return start;
}

/* `id` must be the number of a row. */
struct word_row word_table_get(const struct word_table *table, uint32_t id);

/* Removes all rows from number `nr_rows` on. */
void word_table_truncate(struct word_table *table, size_t nr_rows);

/* Returns the bytes of memory that it uses. */
size_t word_table_bytes(const struct word_table *table);

#endif
