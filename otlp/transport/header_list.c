/* SPDX-License-Identifier: Apache-2.0 */
#include "otlp/transport/header_list.h"

#include "base/array.h"
#include "base/cleanup.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Further characters of names in RFC 9110 section 5.6.2. */
#define NAME_MARKS "!#$%&'*+-.^_`|~"

void header_list_done(struct header_list *list)
{
	for (size_t i = 0; i < list->nr_lines; i++)
		free(list->lines[i]);
	free(list->lines);
	*list = (struct header_list){ .lines = NULL };
}

/* Returns the length of the name at the start of a line; 0 if there is none. */
static size_t name_len(const char *line)
{
	size_t len = 0;

	while (isalnum((unsigned char)line[len]) || (line[len] && strchr(NAME_MARKS, line[len])))
		len++;
	return len;
}

static bool is_name(const char *name, size_t len, const char *other)
{
	return strlen(other) == len && strncasecmp(name, other, len) == 0;
}

/* Returns whether one of the first `nr_lines` headers has the name at the start of `line`. */
static bool has_name_of(const struct header_list *list, size_t nr_lines, const char *line)
{
	size_t len = name_len(line);

	for (size_t i = 0; i < nr_lines; i++)
		if (name_len(list->lines[i]) == len && strncasecmp(list->lines[i], line, len) == 0)
			return true;
	return false;
}

bool header_list_has(const struct header_list *list, const char *name)
{
	return has_name_of(list, list->nr_lines, name);
}

/* The user must not set headers that describe the encoding of the body. */
static bool is_reserved(const char *name, size_t len)
{
	static const char *const reserved[] = {
		"Content-Type",	     "Content-Encoding", "Content-Length",
		"Transfer-Encoding", "Connection",	 "TE",
	};

	for (size_t i = 0; i < array_len(reserved); i++)
		if (is_name(name, len, reserved[i]))
			return true;
	return strncasecmp(name, "grpc-", strlen("grpc-")) == 0;
}

static bool is_value(const char *text)
{
	for (; *text; text++)
		if (((unsigned char)*text < ' ' && *text != '\t') || *text == 0x7f)
			return false;
	return true;
}

static int take_line(struct header_list *list, char **line)
{
	int r = array_grow(list->lines, list->cap_lines, list->nr_lines + 1, HEADERS_MAX);

	if (r == 0)
		list->lines[list->nr_lines++] = take_ptr(*line);
	return r;
}

/* libcurl needs a semicolon instead of the colon if the value is empty. */
static int append(struct header_list *list, const char *name, size_t len, const char *value)
{
	_cleanup_free_ char *line = NULL;

	value += strspn(value, " \t");
	if (!is_value(value))
		return -EINVAL;
	if (asprintf(&line, value[0] ? "%.*s: %s" : "%.*s;%s", (int)len, name, value) < 0) {
		line = NULL;
		return -ENOMEM;
	}
	return take_line(list, &line);
}

int header_list_add(struct header_list *list, const char *line)
{
	size_t len = name_len(line);

	if (len == 0 || line[len] != ':' || is_reserved(line, len))
		return -EINVAL;
	return append(list, line, len, line + len + 1);
}

int header_list_add_own(struct header_list *list, const char *name, const char *value)
{
	if (header_list_has(list, name))
		return 0;
	return append(list, name, strlen(name), value);
}

int header_list_merge(struct header_list *list, const struct header_list *weaker)
{
	size_t nr_before = list->nr_lines;

	for (size_t i = 0; i < weaker->nr_lines; i++) {
		_cleanup_free_ char *line = NULL;

		if (has_name_of(list, nr_before, weaker->lines[i]))
			continue;
		line = strdup(weaker->lines[i]);
		int r = line ? take_line(list, &line) : -ENOMEM;
		if (r < 0)
			return r;
	}
	return 0;
}

bool header_list_equal(const struct header_list *a, const struct header_list *b)
{
	size_t i = 0;

	while (i < a->nr_lines && i < b->nr_lines && strcmp(a->lines[i], b->lines[i]) == 0)
		i++;
	return i == a->nr_lines && i == b->nr_lines;
}
