/* SPDX-License-Identifier: Apache-2.0 */
#include "otlp/header_list.h"

#include "base/array.h"
#include "base/cleanup.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What RFC 9110 section 5.6.2 allows in a name besides letters and digits. */
#define NAME_MARKS "!#$%&'*+-.^_`|~"

void header_list_done(struct header_list *list)
{
	for (size_t i = 0; i < list->nr_lines; i++)
		free(list->lines[i]);
	free(list->lines);
	*list = (struct header_list){ .lines = NULL };
}

/* Length of the name that a line begins with; 0: none. */
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

bool header_list_has(const struct header_list *list, const char *name)
{
	for (size_t i = 0; i < list->nr_lines; i++)
		if (is_name(list->lines[i], name_len(list->lines[i]), name))
			return true;
	return false;
}

/* Headers that say how the bytes are to be read are not the user's to choose. */
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

/* libcurl wants a semicolon instead of the colon where there is no value. */
static int append(struct header_list *list, const char *name, size_t len, const char *value)
{
	_cleanup_free_ char *line = NULL;

	value += strspn(value, " \t");
	if (!is_value(value))
		return -EINVAL;
	int r = array_grow(list->lines, list->cap_lines, list->nr_lines + 1, HEADERS_MAX);
	if (r < 0)
		return r;
	if (asprintf(&line, value[0] ? "%.*s: %s" : "%.*s;%s", (int)len, name, value) < 0)
		return -ENOMEM;
	list->lines[list->nr_lines++] = take_ptr(line);
	return 0;
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
