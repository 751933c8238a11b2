/* SPDX-License-Identifier: Apache-2.0 */
/* Attributes of resources come from all sources together, unlike other lists: a key belongs to the strongest source that
 * has it. What OTEL_RESOURCE_ATTRIBUTES says counts as a whole or, when any of it is wrong, not at all
 * (OpenTelemetry specification, "Resource SDK"). */
#include "base/cleanup.h"
#include "config/environment.h"
#include "config/option_list.h"
#include "config/option_loader.h"

#include <stdlib.h>
#include <string.h>

/* Whether one of the first `nr` has the key of that attribute. */
static bool has_key(const struct string_list *attributes, size_t nr, const char *attribute)
{
	size_t len = strcspn(attribute, "=") + 1;

	for (size_t i = 0; i < nr; i++) {
		if (strncmp(attributes->items[i], attribute, len) == 0)
			return true;
	}
	return false;
}

static int check_all(const struct string_list *values)
{
	for (size_t i = 0; i < values->nr; i++) {
		int r = value_attribute.check(values->items[i]);

		if (r < 0)
			return r;
	}
	return 0;
}

/* Adds what has a new key. */
static int add_all(struct string_list *attributes, const struct string_list *values)
{
	for (size_t i = 0; i < values->nr; i++) {
		if (has_key(attributes, attributes->nr, values->items[i]))
			continue;
		int r = string_list_add(attributes, values->items[i]);
		if (r < 0)
			return r;
	}
	return 0;
}

static int read_variable(struct loader *loader, const char *variable, enum env_format format,
			 const char *hint)
{
	_cleanup_(string_list_done) struct string_list values = { 0 };
	const char *text = getenv(variable);

	if (!text || !*text)
		return 0;
	int r = env_translate(format, text, &values);
	if (r == 0)
		r = check_all(&values);
	if (r == 0)
		r = add_all(&loader->options->export.resource_attributes, &values);
	if (r == 0 || r == -ENOMEM)
		return r;
	loader_warn(loader, "%s is ignored: write %s", variable, hint);
	return 0;
}

int loader_read_attributes(struct loader *loader)
{
	if (!option_find("resource-attribute", strlen("resource-attribute"),
			 loader->input->command))
		return 0;
	int r = read_variable(loader, "OTEL_SERVICE_NAME", ENV_SERVICE_NAME, "a name");

	if (r < 0)
		return r;
	return read_variable(loader, "OTEL_RESOURCE_ATTRIBUTES", ENV_ATTRIBUTES,
			     "key=value,key=value, with %2C for a comma");
}

int loader_check_attributes(struct loader *loader, const char *prefix)
{
	const struct string_list *attributes = &loader->options->export.resource_attributes;

	for (size_t i = 0; i < attributes->nr; i++) {
		const char *attribute = attributes->items[i];

		if (!has_key(attributes, i, attribute))
			continue;
		strbuf_appendf(loader->message, "%sresource-attribute: %.*s is given twice", prefix,
			       (int)strcspn(attribute, "="), attribute);
		return -EINVAL;
	}
	return 0;
}
