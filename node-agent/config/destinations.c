/* SPDX-License-Identifier: Apache-2.0 */
/* Destinations besides the main one: each is a file with options of struct destination. It is loaded as if it were
 * the configuration of an agent that has no command line and no environment, so that no receiver is shown
 * another one's credentials. */
#include "base/cleanup.h"
#include "config/option_list.h"
#include "config/option_loader.h"

#include <stdlib.h>

#define EXPORT_OFFSET offsetof(struct options, export)
#define DESTINATIONS_MAX 8
#define PREFIX_MAX_BYTES 8192

static int read_destination(struct loader *loader, const char *path, struct destination *ret_export)
{
	const struct options_input input = { .command = COMMAND_AGENT };
	_cleanup_(options_done) struct options options = { 0 };
	_cleanup_(strbuf_done) struct strbuf prefix = strbuf_with_max(PREFIX_MAX_BYTES);
	struct loader own = {
		.input = &input,
		.options = &options,
		.message = loader->message,
		.warnings = loader->warnings,
	};

	int r = loader_read_entries(&own, path, true);
	if (r == 0)
		r = loader_read_defaults(&own);
	if (r < 0)
		return r;
	strbuf_appendf(&prefix, "%s: ", path);
	if (!options.export.endpoint) {
		strbuf_appendf(loader->message, "%sotlp-endpoint is missing; add it", prefix.data);
		return -EINVAL;
	}
	r = loader_check_attributes(&own, strbuf_str(&prefix));
	if (r == 0)
		r = loader_check_export(&own, strbuf_str(&prefix), false);
	if (r < 0)
		return r;
	*ret_export = options.export;
	options.export = (struct destination){ 0 };
	return 0;
}

int loader_read_destinations(struct loader *loader)
{
	struct options *options = loader->options;
	const struct string_list *files = &options->destinations;

	if (files->nr == 0)
		return 0;
	if (files->nr > DESTINATIONS_MAX) {
		strbuf_appendf(loader->message, "--destination: %zu are too many; at most %d",
			       files->nr, DESTINATIONS_MAX);
		return -EINVAL;
	}
	options->others = calloc(files->nr, sizeof(*options->others));
	if (!options->others)
		return -ENOMEM;
	for (size_t i = 0; i < files->nr; i++) {
		int r = read_destination(loader, files->items[i], &options->others[i]);

		if (r < 0)
			return r;
		options->nr_others++;
	}
	return 0;
}

bool destination_equal(const struct destination *a, const struct destination *b)
{
	for (size_t i = 0; i < nr_option_rows; i++) {
		const struct option *option = &option_table[i];
		size_t offset = option->field - EXPORT_OFFSET;

		if (option_is_of_destination(option) &&
		    !value_equals(option->type, (const char *)a + offset, (const char *)b + offset,
				  option->field_bytes))
			return false;
	}
	return true;
}

void destination_done(struct destination *export)
{
	for (size_t i = 0; i < nr_option_rows; i++) {
		const struct option *option = &option_table[i];

		if (option_is_of_destination(option))
			value_clear(option->type, (char *)export + option->field - EXPORT_OFFSET);
	}
}
