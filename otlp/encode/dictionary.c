/* SPDX-License-Identifier: Apache-2.0 */
#include "otlp/encode/dictionary.h"

#include "base/array.h"
#include "base/hash.h"
#include "base/pb.h"
#include "base/printable.h"
#include "otlp/encode/packed.h"

#include <stdlib.h>
#include <string.h>

/* Indices are int32 on the wire. */
#define MAX_ROWS INT32_MAX

static const enum dictionary_table message_tables[] = {
	DICTIONARY_MAPPING, DICTIONARY_LOCATION,  DICTIONARY_FUNCTION,
	DICTIONARY_LINK,    DICTIONARY_ATTRIBUTE, DICTIONARY_STACK,
};

static void keep_error(struct dictionary *dictionary, int error)
{
	if (dictionary->error == 0)
		dictionary->error = error;
}

int dictionary_init(struct dictionary *dictionary, size_t max_bytes)
{
	const struct strbuf empty = { 0 };

	*dictionary = (struct dictionary){ .clean = strbuf_with_max(max_bytes) };
	int r = intern_init(&dictionary->strings, MAX_ROWS, 0);
	if (r < 0)
		return r;
	for (size_t i = 0; i < array_len(message_tables); i++) {
		dictionary->tables[message_tables[i]].bytes = strbuf_with_max(max_bytes);
		dictionary_add(dictionary, message_tables[i], &empty);
	}
	if (dictionary->error < 0) {
		r = dictionary->error;
		dictionary_done(dictionary);
	}
	return r;
}

void dictionary_done(struct dictionary *dictionary)
{
	for (size_t i = 0; i < DICTIONARY_NR_TABLES; i++) {
		strbuf_done(&dictionary->tables[i].bytes);
		htable_done(&dictionary->tables[i].index);
		free(dictionary->tables[i].rows);
	}
	strbuf_done(&dictionary->clean);
	intern_done(&dictionary->strings);
	*dictionary = (struct dictionary){ 0 };
}

static const char *clean_text(struct dictionary *dictionary, const char *text)
{
	const char *clean = printable_text(text, &dictionary->clean);

	if (clean != text && strbuf_error(&dictionary->clean) < 0)
		keep_error(dictionary, strbuf_error(&dictionary->clean));
	return clean;
}

uint32_t dictionary_add_string(struct dictionary *dictionary, const char *text)
{
	uint32_t id = 0;
	int r = intern_add(&dictionary->strings, clean_text(dictionary, text), &id);

	if (r < 0)
		keep_error(dictionary, r);
	return id;
}

static int append_row(struct dictionary_rows *rows, enum dictionary_table table,
		      const struct strbuf *message, uint32_t hash)
{
	int r = array_grow(rows->rows, rows->cap_rows, rows->nr_rows + 1, MAX_ROWS);
	if (r < 0)
		return r;
	packed_begin(&rows->bytes, table, message->len);
	strbuf_append(&rows->bytes, message->data, message->len);
	if (strbuf_error(&rows->bytes) < 0)
		return strbuf_error(&rows->bytes);
	r = htable_add(&rows->index, hash, (uint32_t)rows->nr_rows);
	if (r < 0)
		return r;
	rows->rows[rows->nr_rows++] = (struct dictionary_row){
		.start = rows->bytes.len - message->len,
		.len = message->len,
	};
	return 0;
}

uint32_t dictionary_add(struct dictionary *dictionary, enum dictionary_table table,
			const struct strbuf *message)
{
	struct dictionary_rows *rows = &dictionary->tables[table];
	uint32_t hash = hash_bytes(strbuf_str(message), message->len);

	if (strbuf_error(message) < 0) {
		keep_error(dictionary, strbuf_error(message));
		return 0;
	}
	struct htable_iter it = htable_lookup(&rows->index, hash);
	for (uint32_t id; htable_next(&it, &id);) {
		const struct dictionary_row *row = &rows->rows[id];

		if (row->len == message->len && memcmp(strbuf_str(&rows->bytes) + row->start,
						       strbuf_str(message), row->len) == 0)
			return id;
	}

	int r = append_row(rows, table, message, hash);
	if (r < 0) {
		keep_error(dictionary, r);
		return 0;
	}
	return (uint32_t)(rows->nr_rows - 1);
}

void dictionary_encode(const struct dictionary *dictionary, struct strbuf *out)
{
	for (size_t i = 0; i < array_len(message_tables); i++) {
		const struct strbuf *bytes = &dictionary->tables[message_tables[i]].bytes;

		strbuf_append(out, bytes->data, bytes->len);
	}
	for (size_t i = 0; i < dictionary->strings.nr_strings; i++)
		pb_string_always(out, DICTIONARY_STRING, dictionary->strings.strings[i]);
}

int dictionary_error(const struct dictionary *dictionary)
{
	return dictionary->error;
}
