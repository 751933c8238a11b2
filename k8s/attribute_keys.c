/* SPDX-License-Identifier: Apache-2.0 */
/* Annotations come from anybody who may create a pod, so they must not override attributes that the
 * agent knows by itself. */
#include "k8s/attribute_keys.h"

#include "base/err.h"

#include <stdbool.h>
#include <string.h>

#define RESOURCE_PREFIX "resource.opentelemetry.io/"

static bool starts_with(const char *text, const char *prefix)
{
	return strncmp(text, prefix, strlen(prefix)) == 0;
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
