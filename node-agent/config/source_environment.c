/* SPDX-License-Identifier: Apache-2.0 */
/* Reads environment variables. The table of options lists the variables of each option. The
 * variables for resource attributes and for TLS have rules of their own. */
#include "config/option_sources.h"

#include "base/cleanup.h"
#include "base/parse.h"
#include "base/strbuf.h"
#include "config/option_table.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define PAIR_MAX_BYTES 8192

/* The variable that is being read. */
struct reader {
	struct entry_list *entries;
	const struct option *option; /* the option that it sets */
	const char *name;
};

static int add(const struct reader *reader, const char *value)
{
	return entry_list_add(reader->entries, SOURCE_ENVIRONMENT, reader->option, reader->name,
			      value);
}

/* Returns the value of the first variable that is set, and its name; NULL if none is. An empty
 * variable counts as not set. */
static const char *get_first_set(const char *const *names, size_t nr_names, const char **ret_name)
{
	for (size_t i = 0; i < nr_names; i++) {
		const char *value = names[i] ? getenv(names[i]) : NULL;

		if (value && *value) {
			*ret_name = names[i];
			return value;
		}
	}
	return NULL;
}

/* Appends `len` bytes of text, with %XX decoded. */
static int append_decoded(struct strbuf *out, const char *text, size_t len)
{
	for (const char *end = text + len; text < end; text++) {
		uint64_t byte = (unsigned char)*text;

		if (*text == '%') {
			const char *digits = text + 1;

			if (end - digits < 2 || parse_digits(&digits, text + 3, 16, &byte) < 0 ||
			    digits != text + 3 || byte == 0)
				return -EINVAL;
			text += 2;
		}
		strbuf_append_char(out, (char)byte);
	}
	return strbuf_error(out);
}

static void trim(const char **text, size_t *len)
{
	while (*len > 0 && strchr(" \t", **text)) {
		(*text)++;
		(*len)--;
	}
	while (*len > 0 && strchr(" \t", (*text)[*len - 1]))
		(*len)--;
}

/* Adds the pair "name=value" with `separator` instead of "=". */
static int add_pair(const struct reader *reader, const char *text, size_t len,
		    const char *separator)
{
	_cleanup_(strbuf_done) struct strbuf pair = strbuf_with_max(PAIR_MAX_BYTES);
	const char *equals = memchr(text, '=', len);

	if (!equals)
		return -EINVAL;

	const char *value = equals + 1;
	size_t name_len = (size_t)(equals - text), value_len = len - name_len - 1;
	trim(&text, &name_len);
	trim(&value, &value_len);
	int r = append_decoded(&pair, text, name_len);
	if (r < 0)
		return r;
	if (strchr(strbuf_str(&pair), *separator))
		return -EINVAL; /* the name would end there */
	strbuf_append_str(&pair, separator);
	r = append_decoded(&pair, value, value_len);
	return r < 0 ? r : add(reader, strbuf_str(&pair));
}

static int add_pairs(const struct reader *reader, const char *text, const char *separator)
{
	for (;; text++) {
		const char *item = text;
		size_t len = strcspn(text, ",");

		text += len;
		trim(&item, &len);
		int r = len > 0 ? add_pair(reader, item, len, separator) : 0;
		if (r < 0 || *text == '\0')
			return r;
	}
}

static int add_lower_case(const struct reader *reader, const char *text)
{
	_cleanup_free_ char *word = strdup(text);

	if (!word)
		return -ENOMEM;
	for (char *c = word; *c; c++) {
		if (*c >= 'A' && *c <= 'Z')
			*c = (char)(*c - 'A' + 'a');
	}
	return add(reader, word);
}

static int add_milliseconds(const struct reader *reader, const char *text)
{
	_cleanup_(strbuf_done) struct strbuf duration = strbuf_with_max(64);
	uint64_t ms;

	if (parse_u64(text, &ms) < 0)
		return -EINVAL;
	strbuf_appendf(&duration, "%sms", text);
	int r = strbuf_error(&duration);
	return r < 0 ? r : add(reader, strbuf_str(&duration));
}

/* Adds the value as the command line would spell it. Errors: -EINVAL when the text does not have
 * the format, and those of entry_list_add(). */
static int add_translated(const struct reader *reader, enum env_format format, const char *text)
{
	switch (format) {
	case ENV_WORD:
		return add_lower_case(reader, text);
	case ENV_HEADERS:
		return add_pairs(reader, text, ": ");
	case ENV_MILLISECONDS:
		return add_milliseconds(reader, text);
	case ENV_TEXT:
		break;
	}
	return add(reader, text);
}

/* Replaces the entries of a malformed variable by a refusal that says how to write it. */
static int refuse(const struct reader *reader, size_t start, int error)
{
	const struct option *option = reader->option;

	entry_list_shrink(reader->entries, start);
	if (error == -ENOSPC)
		return entry_list_refuse(reader->entries, SOURCE_ENVIRONMENT, option,
					 "%s: too many values; at most %d", reader->name,
					 LIST_ITEMS_MAX);
	return entry_list_refuse(reader->entries, SOURCE_ENVIRONMENT, option,
				 "%s: invalid value; expected %s", reader->name,
				 option->env_format == ENV_HEADERS
					 ? "name=value pairs, separated by commas"
					 : "a number of milliseconds");
}

static int read_option(const struct option *option, struct entry_list *entries)
{
	struct reader reader = { entries, option, NULL };
	const char *text = get_first_set(option->env, array_len(option->env), &reader.name);
	size_t start = entries->nr;

	if (!text)
		return 0;
	int r = add_translated(&reader, option->env_format, text);
	return r == 0 || r == -ENOMEM ? r : refuse(&reader, start, r);
}

/* Checks that the entries from `start` on are attributes, and not too many. */
static int check_attributes(const struct entry_list *entries, size_t start)
{
	if (entries->nr - start > LIST_ITEMS_MAX)
		return -ENOSPC;
	for (size_t i = start; i < entries->nr; i++) {
		const struct option_entry *entry = &entries->items[i];
		int r = entry->option->type->check(entry->text);

		if (r < 0)
			return r;
	}
	return 0;
}

/* Checks the entries of a variable with attributes. If a part of it is malformed, all of it is
 * ignored (OpenTelemetry specification, "Resource SDK"). */
static int keep_attributes(const struct reader *reader, size_t start, int error, const char *hint)
{
	if (error == 0)
		error = check_attributes(reader->entries, start);
	if (error == 0 || error == -ENOMEM)
		return error;
	entry_list_shrink(reader->entries, start);
	return entry_list_warn(reader->entries, "%s is ignored: invalid value; expected %s",
			       reader->name, hint);
}

static int add_service_name(const struct reader *reader, const char *text)
{
	_cleanup_(strbuf_done) struct strbuf attribute = strbuf_with_max(PAIR_MAX_BYTES);

	strbuf_appendf(&attribute, "service.name=%s", text);
	int r = strbuf_error(&attribute);
	return r < 0 ? r : add(reader, strbuf_str(&attribute));
}

/* Reads the variables with resource attributes, the stronger one first. */
static int read_attributes(enum command_id command, struct entry_list *entries)
{
	const struct option *option = option_find("resource-attribute", command);
	const struct reader service = { entries, option, "OTEL_SERVICE_NAME" };
	const struct reader attributes = { entries, option, "OTEL_RESOURCE_ATTRIBUTES" };
	const char *text = getenv(service.name);
	size_t start = entries->nr;
	int r = 0;

	if (!option)
		return 0;
	if (text && *text)
		r = keep_attributes(&service, start, add_service_name(&service, text), "a name");
	text = getenv(attributes.name);
	start = entries->nr;
	if (r < 0 || !text || !*text)
		return r;
	return keep_attributes(&attributes, start, add_pairs(&attributes, text, "="),
			       "key=value pairs, separated by commas (%2C: a comma in a value)");
}

/* Reads the variables that say whether gRPC to HOST:PORT uses no TLS. */
static int read_insecure(struct entry_list *entries)
{
	static const char *const names[] = { "OTEL_EXPORTER_OTLP_PROFILES_INSECURE",
					     "OTEL_EXPORTER_OTLP_INSECURE" };
	const char *name;
	const char *text = get_first_set(names, array_len(names), &name);

	if (!text)
		return 0;
	if (strcasecmp(text, "true") == 0)
		return entry_list_add(entries, SOURCE_ENVIRONMENT, &option_is_plain, name, "true");
	if (strcasecmp(text, "false") != 0)
		return entry_list_warn(
			entries, "%s: the value is neither true nor false; false is used", name);
	return 0;
}

int source_read_environment(enum command_id command, struct entry_list *entries)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < nr_option_rows; i++) {
		if (option_table[i].commands & command)
			r = read_option(&option_table[i], entries);
	}
	if (r == 0)
		r = read_attributes(command, entries);
	return r == 0 ? read_insecure(entries) : r;
}
