/* SPDX-License-Identifier: Apache-2.0 */
#include "otlp/attributes/attribute_names.h"

#include "base/printable.h"
#include "base/utf8.h"
#include "base/wildcard.h"

#include <stdio.h>
#include <string.h>

#define PYROSCOPE_SERVICE "service_name"

/* The first one that matches holds. */
static const struct {
	const char *pattern;
	enum attribute_rank rank;
} ranks[] = {
	{ "service.name", ATTRIBUTE_RANK_IDENTITY },
	{ "k8s.namespace.name", ATTRIBUTE_RANK_IDENTITY },
	{ "k8s.pod.name", ATTRIBUTE_RANK_IDENTITY },
	{ "k8s.container.name", ATTRIBUTE_RANK_IDENTITY },
	{ "k8s.node.name", ATTRIBUTE_RANK_IDENTITY },
	{ "namespace", ATTRIBUTE_RANK_IDENTITY },
	{ "pod", ATTRIBUTE_RANK_IDENTITY },
	{ "container", ATTRIBUTE_RANK_IDENTITY },
	{ "node", ATTRIBUTE_RANK_IDENTITY },
	{ "workload", ATTRIBUTE_RANK_WORKLOAD },
	{ "k8s.pod.label.*", ATTRIBUTE_RANK_POD_LABEL },
	{ "k8s.pod.annotation.*", ATTRIBUTE_RANK_POD_ANNOTATION },
	{ "k8s.pod.uid", ATTRIBUTE_RANK_ID },
	{ "k8s.pod.start_time", ATTRIBUTE_RANK_DETAIL },
	{ "k8s.container.restart_count", ATTRIBUTE_RANK_DETAIL },
	{ "k8s.*", ATTRIBUTE_RANK_WORKLOAD },
	{ "container.id", ATTRIBUTE_RANK_ID },
	{ "container.*", ATTRIBUTE_RANK_DETAIL },
	{ "host.name", ATTRIBUTE_RANK_ID },
	{ "flamelet.identity", ATTRIBUTE_RANK_ID },
	{ "service.instance.id", ATTRIBUTE_RANK_DETAIL },
	{ "process.linux.cgroup", ATTRIBUTE_RANK_DETAIL },
};

enum attribute_rank attribute_rank_of(const char *key)
{
	for (size_t i = 0; i < array_len(ranks); i++)
		if (wildcard_matches(ranks[i].pattern, key))
			return ranks[i].rank;
	return ATTRIBUTE_RANK_CHOSEN;
}

/* A dot counts as one, because releases before 2.0 make it one. */
static bool is_underscore(char c)
{
	return c == '_' || c == '.';
}

static bool is_same(enum attribute_preset preset, char a, char b)
{
	return a == b || (preset == ATTRIBUTES_PYROSCOPE && is_underscore(a) && is_underscore(b));
}

bool attribute_names_clash(enum attribute_preset preset, const char *a, const char *b)
{
	while (*a && is_same(preset, *a, *b)) {
		a++;
		b++;
	}
	return *a == *b;
}

/* The conventions' own name becomes Pyroscope's in its older releases, which know that. */
bool attribute_name_is_reserved(enum attribute_preset preset, const char *name)
{
	return preset == ATTRIBUTES_PYROSCOPE && strcmp(name, "service.name") != 0 &&
	       attribute_names_clash(preset, name, PYROSCOPE_SERVICE);
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_name_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_' ||
	       c == '.';
}

/* Two underscores in front become one. */
static size_t copy_name(const char *text, char *clean, size_t max)
{
	size_t nr = 0;

	if (is_digit(text[0]))
		clean[nr++] = '_';
	while (*text && nr < max) {
		size_t len = utf8_char_len(text);

		if (nr == 1 && is_underscore(clean[0]) &&
		    (is_underscore(*text) || !is_name_char(*text)))
			nr = 0;
		clean[nr] = '_';
		if (is_name_char(*text))
			clean[nr] = *text;
		nr++;
		text += len ? len : 1;
	}
	return nr;
}

void attribute_name_clean(enum attribute_preset preset, const char *name,
			  char clean[static ATTRIBUTE_NAME_MAX + 1])
{
	if (preset == ATTRIBUTES_PYROSCOPE)
		clean[copy_name(name, clean, ATTRIBUTE_NAME_MAX)] = '\0';
	else
		printable_copy(clean, ATTRIBUTE_NAME_MAX + 1, name);
}

void attribute_name_make_unique(char name[static ATTRIBUTE_NAME_MAX + 1],
				bool (*is_taken)(const char *name, const void *data),
				const void *data)
{
	size_t len = strlen(name);
	char number[24];

	for (size_t n = 2; is_taken(name, data); n++) {
		int nr = snprintf(number, sizeof(number), "_%zu", n);

		while (len > ATTRIBUTE_NAME_MAX - (size_t)nr || (name[len] & 0xc0) == 0x80)
			len--; /* not inside a character */
		memcpy(name + len, number, (size_t)nr + 1);
	}
}

void attribute_value_clean(const char *value, char clean[static ATTRIBUTE_VALUE_MAX + 1])
{
	printable_copy(clean, ATTRIBUTE_VALUE_MAX + 1, value);
}
