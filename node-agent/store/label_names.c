/* SPDX-License-Identifier: Apache-2.0 */
#include "store/label_names.h"

#include "base/array.h"
#include "base/printable.h"
#include "base/text.h"
#include "profile/wait_reason.h"
#include "store/dict.h"
#include "store/dict_cache.h"
#include "store/store_file.h"

#include <stdlib.h>
#include <string.h>

#define MAX_ATTRIBUTES 1000
#define HOST_WORD "host"

void label_names_done(struct label_names *names)
{
	for (size_t i = 0; i < names->nr; i++)
		free(names->attributes[i]);
	free(names->attributes);
	*names = (struct label_names){ 0 };
}

static bool has_attribute(const struct label_names *names, const char *key)
{
	for (size_t i = 0; i < names->nr; i++)
		if (strcmp(names->attributes[i], key) == 0)
			return true;
	return false;
}

static int add_attribute(struct label_names *names, const char *key)
{
	if (names->nr == MAX_ATTRIBUTES || has_attribute(names, key))
		return 0;
	int r = array_grow(names->attributes, names->cap, names->nr + 1, MAX_ATTRIBUTES);
	if (r == 0)
		r = text_copy(key, &names->attributes[names->nr]);
	if (r == 0)
		names->nr++;
	return r;
}

static int add_dict(struct label_names *names, const struct dict *dict)
{
	int r = 0;

	for (uint32_t i = 1; r == 0 && i < dict->tables[DICT_RESOURCES].nr_rows; i++) {
		struct word_row row = dict_get(dict, DICT_RESOURCES, i);

		for (size_t j = 0; r == 0 && j + 1 < row.nr; j += 2)
			r = add_attribute(names, dict_string(dict, row.words[j]));
	}
	for (uint32_t i = 0; i < dict->tables[DICT_LABELS].nr_rows; i++) {
		const uint32_t *words = dict_get(dict, DICT_LABELS, i).words;

		names->has_cpu = names->has_cpu || words[LABELS_CPU] > 0;
		names->has_reason = names->has_reason || words[LABELS_REASON] != REASON_NONE;
	}
	return r;
}

static int add_file(struct label_names *names, const struct store_reader *reader,
		    const struct store_span *span)
{
	_cleanup_(store_file_closep) struct store_file *file = NULL;
	struct dict *dict;
	int r;

	if ((r = store_file_open(span->path, &file)) < 0 || (r = store_file_begin(file)) < 0 ||
	    (r = dict_cache_get(reader->dicts, file, span->path, UINT64_MAX, &dict)) < 0)
		return r;
	return add_dict(names, dict);
}

int label_names_read(const struct store_reader *reader, const struct time_range *range,
		     struct label_names *ret_names)
{
	struct label_names names = { 0 };
	int r = 0;

	for (size_t i = 0; r != -ENOMEM && i < reader->nr_spans; i++) {
		const struct store_span *span = &reader->spans[i];

		if (span->end_s > range->first_s && span->first_s < range->end_s)
			r = add_file(&names, reader, span);
	}
	if (r == -ENOMEM) {
		label_names_done(&names);
		return r;
	}
	*ret_names = names;
	return 0;
}

bool label_names_have(const struct label_names *names, const struct label_key *key)
{
	if (key->source == LABEL_CPU)
		return names->has_cpu;
	if (key->source == LABEL_REASON)
		return names->has_reason;
	if (key->source != LABEL_ATTRIBUTE || strcmp(key->word, HOST_WORD) == 0)
		return true;
	for (size_t i = 0; i < LABEL_ATTRIBUTES_MAX && key->attributes[i]; i++)
		if (has_attribute(names, key->attributes[i]))
			return true;
	return false;
}

/* Returns whether one of the words stands for an attribute. */
static bool has_word(const char *attribute)
{
	const char *word;

	for (size_t i = 0; (word = label_key_word(i)) != NULL; i++) {
		const struct label_key key = label_key_of(word);

		for (size_t j = 0; j < LABEL_ATTRIBUTES_MAX && key.attributes[j]; j++)
			if (strcmp(key.attributes[j], attribute) == 0)
				return true;
	}
	return false;
}

static void append_name(const char *name, bool *is_first, struct strbuf *out)
{
	strbuf_append_str(out, *is_first ? "" : ", ");
	printable_append(out, name);
	*is_first = false;
}

void label_names_append(const struct label_names *names, struct strbuf *out)
{
	bool is_first = true;
	const char *word;

	for (size_t i = 0; (word = label_key_word(i)) != NULL; i++) {
		const struct label_key key = label_key_of(word);

		if (label_names_have(names, &key))
			append_name(word, &is_first, out);
	}
	for (size_t i = 0; i < names->nr; i++)
		if (!has_word(names->attributes[i]))
			append_name(names->attributes[i], &is_first, out);
}
