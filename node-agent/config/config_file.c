/* SPDX-License-Identifier: Apache-2.0 */
/* This file reads libyaml's events by this grammar:
 *
 *	stream   := [document]
 *	document := { key value }	a mapping
 *	value    := scalar | [ scalar … ]
 *
 * Everything else that YAML has (nested maps, aliases, a second document) is refused when its event
 * comes, so neither deep nesting nor the expansion of aliases can happen. */
#include "config/config_file.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/fileio.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

struct reader {
	yaml_parser_t parser;
	yaml_event_t event; /* the current one */
	const char *name; /* borrowed */
	struct config_file *file; /* borrowed */
	struct strbuf *message; /* borrowed */
	bool has_tabs;
};

static void reader_done(struct reader *reader)
{
	yaml_event_delete(&reader->event);
	yaml_parser_delete(&reader->parser);
}

static size_t event_line(const struct reader *reader)
{
	return reader->event.start_mark.line + 1;
}

/* Refuses the current event. */
static int refuse(struct reader *reader, const char *what)
{
	strbuf_appendf(reader->message, "%s:%zu: %s", reader->name, event_line(reader), what);
	return -EBADMSG;
}

static int next_event(struct reader *reader)
{
	yaml_event_delete(&reader->event);
	memset(&reader->event, 0, sizeof(reader->event));
	if (yaml_parser_parse(&reader->parser, &reader->event))
		return 0;
	if (reader->parser.error == YAML_MEMORY_ERROR)
		return -ENOMEM;
	strbuf_appendf(reader->message, "%s:%zu: not valid YAML: %s%s", reader->name,
		       reader->parser.problem_mark.line + 1,
		       reader->parser.problem ? reader->parser.problem : "unknown error",
		       reader->has_tabs ? "; indent with spaces, not tabs" : "");
	return -EBADMSG;
}

static bool event_is(const struct reader *reader, yaml_event_type_t type)
{
	return reader->event.type == type;
}

/* Copies the text of the current scalar, if it has no NUL byte. */
static int take_scalar(struct reader *reader, const char **ret_text)
{
	const char *text = (const char *)reader->event.data.scalar.value;
	size_t len = reader->event.data.scalar.length;

	if (memchr(text, '\0', len))
		return refuse(reader, "the text contains a NUL byte; remove it");

	const char *copy = arena_strndup(&reader->file->arena, text, len);
	if (!copy)
		return -ENOMEM;
	*ret_text = copy;
	return 0;
}

static int add_value(struct reader *reader, const char *key)
{
	struct config_file *file = reader->file;
	const char *value;

	if (event_is(reader, YAML_ALIAS_EVENT))
		return refuse(reader, "an alias (*name) is not supported; write the value again");
	if (event_is(reader, YAML_MAPPING_START_EVENT))
		return refuse(reader, "a value must be text or a list of texts, not a map; "
				      "quote it if it contains \": \"");
	if (!event_is(reader, YAML_SCALAR_EVENT))
		return refuse(reader, "a list must not contain another list; write one flat list");
	if (reader->event.data.scalar.plain_implicit && reader->event.data.scalar.length == 0)
		return refuse(reader, "a key has no value, or a bracket is not closed");

	int r = take_scalar(reader, &value);
	if (r < 0)
		return r;
	r = array_grow(file->entries, file->cap_entries, file->nr_entries + 1, CONFIG_ENTRIES_MAX);
	if (r == -ENOSPC)
		refuse(reader, "too many values");
	if (r < 0)
		return r;
	file->entries[file->nr_entries++] =
		(struct config_entry){ .key = key, .value = value, .line = event_line(reader) };
	return 0;
}

static int read_value(struct reader *reader, const char *key)
{
	int r = next_event(reader);

	if (r < 0)
		return r;
	if (!event_is(reader, YAML_SEQUENCE_START_EVENT))
		return add_value(reader, key);
	for (;;) {
		r = next_event(reader);
		if (r < 0 || event_is(reader, YAML_SEQUENCE_END_EVENT))
			return r;
		r = add_value(reader, key);
		if (r < 0)
			return r;
	}
}

static int check_new_key(struct reader *reader, const char *key)
{
	for (size_t i = 0; i < reader->file->nr_entries; i++) {
		const struct config_entry *entry = &reader->file->entries[i];

		if (strcmp(entry->key, key) != 0)
			continue;
		strbuf_appendf(reader->message,
			       "%s:%zu: \"%s\" is already set in line %zu; remove one of them",
			       reader->name, event_line(reader), key, entry->line);
		return -EBADMSG;
	}
	return 0;
}

static int read_mapping(struct reader *reader)
{
	for (;;) {
		const char *key;

		int r = next_event(reader);
		if (r < 0 || event_is(reader, YAML_MAPPING_END_EVENT))
			return r;
		if (!event_is(reader, YAML_SCALAR_EVENT))
			return refuse(reader, "expected the name of an option");
		r = take_scalar(reader, &key);
		if (r == 0)
			r = check_new_key(reader, key);
		if (r == 0)
			r = read_value(reader, key);
		if (r < 0)
			return r;
	}
}

static int read_document(struct reader *reader)
{
	int r = next_event(reader);

	if (r < 0)
		return r;
	if (event_is(reader, YAML_SCALAR_EVENT) && reader->event.data.scalar.length == 0)
		return 0;
	if (!event_is(reader, YAML_MAPPING_START_EVENT))
		return refuse(reader, "expected lines like \"frequency: 19\"");
	return read_mapping(reader);
}

static int read_stream(struct reader *reader)
{
	int r = next_event(reader); /* the stream's start */

	if (r == 0)
		r = next_event(reader);
	if (r < 0 || event_is(reader, YAML_STREAM_END_EVENT))
		return r;
	r = read_document(reader);
	if (r == 0)
		r = next_event(reader); /* the document's end */
	if (r == 0)
		r = next_event(reader);
	if (r < 0)
		return r;
	if (!event_is(reader, YAML_STREAM_END_EVENT))
		return refuse(reader, "the file has a second document (---); only one is allowed");
	return 0;
}

int config_file_parse(const char *text, size_t len, const char *name, struct config_file *ret_file,
		      struct strbuf *message)
{
	_cleanup_(config_file_done) struct config_file file = { 0 };
	_cleanup_(reader_done) struct reader reader = { .name = name,
							.file = &file,
							.message = message,
							.has_tabs = len > 0 &&
								    memchr(text, '\t', len) };

	if (!yaml_parser_initialize(&reader.parser))
		return -ENOMEM;
	yaml_parser_set_input_string(&reader.parser, (const unsigned char *)text, len);

	int r = read_stream(&reader);
	if (r < 0)
		return r;
	*ret_file = file;
	file = (struct config_file){ 0 };
	return 0;
}

int config_file_load(const char *path, struct config_file *ret_file, struct strbuf *message)
{
	_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max(CONFIG_FILE_MAX_BYTES);

	int r = file_read_at(AT_FDCWD, path, &text);
	if (r == -ENOSPC)
		strbuf_appendf(message, "%s: larger than 1 MB; is it a configuration file?", path);
	else if (r < 0)
		strbuf_appendf(message, "cannot read the file %s: %s", path, strerror(-r));
	if (r < 0)
		return r;
	return config_file_parse(strbuf_str(&text), text.len, path, ret_file, message);
}

void config_file_done(struct config_file *file)
{
	arena_done(&file->arena);
	free(file->entries);
	*file = (struct config_file){ 0 };
}
