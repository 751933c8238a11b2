/* SPDX-License-Identifier: Apache-2.0 */
#include "store/dict_part.h"

#include <stdlib.h>
#include <string.h>

#define ROW_WORDS 128 /* longer rows take memory of their own */

struct part_table {
	struct word_table rows; /* owned; those that were cut, without an index */
	uint32_t *numbers; /* owned; the new number + 1 of each, or 0 */
};

struct dict_part {
	struct dict *dict; /* borrowed */
	struct dict_mark since;
	struct part_table tables[DICT_NR_TABLES];
};

void dict_part_free(struct dict_part *part)
{
	for (size_t i = 0; part && i < DICT_NR_TABLES; i++) {
		word_table_done(&part->tables[i].rows);
		free(part->tables[i].numbers);
	}
	free(part);
}

static int copy_rows(const struct word_table *from, size_t first, struct part_table *to)
{
	to->rows.width = from->width;
	to->numbers = calloc(from->nr_rows - first + 1, sizeof(*to->numbers));
	if (!to->numbers)
		return -ENOMEM;
	for (size_t i = first; i < from->nr_rows; i++) {
		struct word_row row = word_table_get(from, (uint32_t)i);
		uint32_t *copy = word_table_append(&to->rows, row.nr);

		if (!copy)
			return -ENOMEM;
		if (row.nr)
			memcpy(copy, row.words, row.nr * sizeof(*copy));
	}
	return 0;
}

int dict_part_cut(struct dict *dict, const struct dict_mark *since, struct dict_part **ret_part)
{
	_cleanup_(dict_part_freep) struct dict_part *part = calloc(1, sizeof(*part));
	int r = part ? 0 : -ENOMEM;

	for (size_t i = 0; r == 0 && i < DICT_NR_TABLES; i++)
		r = copy_rows(&dict->tables[i], since->nr[i], &part->tables[i]);
	if (r < 0)
		return r;
	part->dict = dict;
	part->since = *since;
	dict_truncate(dict, since);
	*ret_part = take_ptr(part);
	return 0;
}

/* Restores what the row refers to, and writes the row with the new numbers. */
static int translate(struct dict_part *part, enum dict_table table, struct word_row row,
		     uint32_t *words)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < row.nr; i++) {
		enum dict_table target = table == DICT_STRINGS ? DICT_NR_TABLES
							       : dict_target(table, i);

		words[i] = row.words[i];
		if (target != DICT_NR_TABLES)
			r = dict_part_restore(part, target, row.words[i], &words[i]);
	}
	return r;
}

/* Parents of nodes come before their children, so whoever restores nodes in ascending order does
 * not make this call itself deeply. */
int dict_part_restore(struct dict_part *part, enum dict_table table, uint32_t old,
		      uint32_t *ret_new)
{
	uint32_t some[ROW_WORDS], *words = some, id = 0;
	_cleanup_free_ uint32_t *many = NULL;

	if (old < part->since.nr[table]) {
		*ret_new = old;
		return 0;
	}
	uint32_t index = old - (uint32_t)part->since.nr[table];
	uint32_t *number = &part->tables[table].numbers[index];
	if (!*number) {
		struct word_row row = word_table_get(&part->tables[table].rows, index);

		if (row.nr > ROW_WORDS) {
			many = calloc(row.nr, sizeof(*many));
			if (!many)
				return -ENOMEM;
			words = many;
		}
		int r = translate(part, table, row, words);
		if (r == 0)
			r = dict_add(part->dict, table, words, row.nr, &id);
		if (r < 0)
			return r;
		*number = id + 1;
	}
	*ret_new = *number - 1;
	return 0;
}

void dict_part_replace(struct dict_part *part, enum dict_table table, uint32_t old, uint32_t new)
{
	part->tables[table].numbers[old - part->since.nr[table]] = new + 1;
}
