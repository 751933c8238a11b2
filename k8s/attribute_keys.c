/* SPDX-License-Identifier: Apache-2.0 */
/* Annotations are written by whoever may create a pod; what the agent knows for sure must not be
 * theirs to say. */
#include "k8s/attribute_keys.h"

#include "base/err.h"

#include <string.h>

#define RESOURCE_PREFIX "resource.opentelemetry.io/"

static bool starts_with(const char *text, const char *prefix)
{
	return strncmp(text, prefix, strlen(prefix)) == 0;
}

static bool matches(const char *pattern, const char *key)
{
	size_t len = strlen(pattern);

	if (len > 0 && pattern[len - 1] == '*')
		return strncmp(key, pattern, len - 1) == 0;
	return strcmp(key, pattern) == 0;
}

bool attribute_key_is_listed(const char *const *list, size_t nr, const char *key)
{
	for (size_t i = 0; i < nr; i++)
		if (matches(list[i], key))
			return true;
	return false;
}

static bool is_reserved(const char *key)
{
	static const char *const prefixes[] = { "k8s.",	    "container.", "host.",     "process.",
						"thread.",  "cpu.",	  "flamelet.", "os.",
						"profile.", "telemetry." };

	for (size_t i = 0; i < array_len(prefixes); i++)
		if (starts_with(key, prefixes[i]))
			return true;
	return false;
}

const char *attribute_key_of_annotation(const char *annotation)
{
	if (!starts_with(annotation, RESOURCE_PREFIX))
		return NULL;

	const char *key = annotation + strlen(RESOURCE_PREFIX);
	if (!key[0] || is_reserved(key))
		return NULL;
	if (strcmp(key, "service.name") == 0 || strcmp(key, "service.namespace") == 0)
		return NULL;
	return key;
}
