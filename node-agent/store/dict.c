/* SPDX-License-Identifier: Apache-2.0 */
#include "store/dict.h"

#include <string.h>

#define WORD_BYTES sizeof(uint32_t)

#define FIND_WORDS 2048 /* of the strings that are looked up together */

#define MAX_COLUMNS 5
#define NUMBER DICT_NR_TABLES

/* Which tables the words of a row refer to. In rows of different length, the last column is that
 * of all further words; in others, the words behind the columns are plain numbers. */
static const struct {
	unsigned int width; /* 0: rows differ in length */
	unsigned int nr_columns;
	enum dict_table targets[MAX_COLUMNS];
} schema[DICT_NR_TABLES] = {
	[DICT_STRINGS] = { 0, 1, { NUMBER } },
	[DICT_MAPPINGS] = { MAPPING_WORDS,
			    4,
			    { DICT_STRINGS, DICT_STRINGS, DICT_STRINGS, DICT_STRINGS } },
	[DICT_FUNCTIONS] = { FUNCTION_WORDS,
			     4,
			     { DICT_STRINGS, DICT_STRINGS, DICT_STRINGS, NUMBER } },
	[DICT_FRAMES] = { 0, 3, { NUMBER, DICT_MAPPINGS, DICT_FUNCTIONS } },
	[DICT_NODES] = { NODE_WORDS, 2, { DICT_NODES, DICT_FRAMES } },
	[DICT_RESOURCES] = { 0, 1, { DICT_STRINGS } },
	[DICT_PROCESSES] = { PROCESS_WORDS,
			     5,
			     { NUMBER, NUMBER, NUMBER, DICT_STRINGS, DICT_STRINGS } },
	[DICT_LABELS] = { LABELS_WORDS,
			  5,
			  { DICT_RESOURCES, DICT_PROCESSES, DICT_STRINGS, DICT_STRINGS, NUMBER } },
};

static const uint32_t zeros[LABELS_WORDS];

/* The numbers of words of row 0. */
static const size_t empty_row[DICT_NR_TABLES] = {
	[DICT_STRINGS] = 1,
	[DICT_MAPPINGS] = MAPPING_WORDS,
	[DICT_FUNCTIONS] = FUNCTION_WORDS,
	[DICT_FRAMES] = 3,
	[DICT_NODES] = NODE_WORDS,
	[DICT_RESOURCES] = 0,
	[DICT_PROCESSES] = PROCESS_WORDS,
};

int dict_init(struct dict *dict)
{
	uint32_t id;
	int r = 0;

	*dict = (struct dict){ 0 };
	for (size_t i = 0; r == 0 && i < DICT_NR_TABLES; i++) {
		dict->tables[i].width = schema[i].width;
		if (i != DICT_LABELS)
			r = word_table_add(&dict->tables[i], zeros, empty_row[i], &id);
	}
	return r;
}

void dict_done(struct dict *dict)
{
	for (size_t i = 0; i < DICT_NR_TABLES; i++)
		word_table_done(&dict->tables[i]);
	successors_done(&dict->successors);
}

int dict_add(struct dict *dict, enum dict_table table, const uint32_t *words, size_t nr,
	     uint32_t *ret_id)
{
	return word_table_add(&dict->tables[table], words, nr, ret_id);
}

int dict_add_string(struct dict *dict, const char *text, uint32_t *ret_id)
{
	uint32_t words[DICT_STRING_MAX_BYTES / WORD_BYTES];
	size_t len = strnlen(text, DICT_STRING_MAX_BYTES - 1);
	size_t nr = len / WORD_BYTES + 1;

	words[nr - 1] = 0;
	memcpy(words, text, len);
	return word_table_add(&dict->tables[DICT_STRINGS], words, nr, ret_id);
}

/* Looks up as many of the strings as fit into a batch. Returns how many. */
static size_t find_some(const struct dict *dict, const char *const *texts, size_t nr,
			uint32_t *known)
{
	uint32_t words[FIND_WORDS] = { 0 }, ids[WORD_TABLE_BATCH];
	size_t starts[WORD_TABLE_BATCH + 1] = { 0 }, nr_texts = 0;

	while (nr_texts < nr && nr_texts < WORD_TABLE_BATCH) {
		size_t len = strlen(texts[nr_texts]), end = starts[nr_texts] + len / WORD_BYTES + 1;

		if (end > FIND_WORDS)
			break;
		words[end - 1] = 0;
		memcpy(words + starts[nr_texts], texts[nr_texts], len);
		starts[++nr_texts] = end;
	}
	word_table_find_all(&dict->tables[DICT_STRINGS], words, starts, nr_texts, ids);
	for (size_t i = 0; i < nr_texts; i++)
		if (ids[i] != WORD_TABLE_NONE)
			known[i] = ids[i] + 1;
	return nr_texts;
}

void dict_find_strings(const struct dict *dict, const char *const *texts, size_t nr,
		       uint32_t *known)
{
	for (size_t i = 0; i < nr;) {
		size_t nr_found = find_some(dict, texts + i, nr - i, known + i);

		i += nr_found ? nr_found : 1; /* one that is too long is left out */
	}
}

struct word_row dict_get(const struct dict *dict, enum dict_table table, uint32_t id)
{
	return word_table_get(&dict->tables[table], id);
}

const char *dict_string(const struct dict *dict, uint32_t id)
{
	return (const char *)word_table_get(&dict->tables[DICT_STRINGS], id).words;
}

struct dict_mark dict_mark(const struct dict *dict)
{
	struct dict_mark mark;

	for (size_t i = 0; i < DICT_NR_TABLES; i++)
		mark.nr[i] = dict->tables[i].nr_rows;
	return mark;
}

void dict_truncate(struct dict *dict, const struct dict_mark *mark)
{
	for (size_t i = 0; i < DICT_NR_TABLES; i++)
		word_table_truncate(&dict->tables[i], mark->nr[i]);
	if (dict->successors.nr_nodes > mark->nr[DICT_NODES])
		successors_clear(&dict->successors);
}

size_t dict_bytes(const struct dict *dict)
{
	size_t sum = 0;

	for (size_t i = 0; i < DICT_NR_TABLES; i++)
		sum += word_table_bytes(&dict->tables[i]);
	return sum;
}

enum dict_table dict_target(enum dict_table table, size_t index)
{
	size_t last = schema[table].nr_columns - 1;

	return schema[table].targets[index < last ? index : last];
}
