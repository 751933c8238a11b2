/* SPDX-License-Identifier: Apache-2.0 */
#include "config/option_fields.h"

#include "config/option_table.h"

#include <stdlib.h>

static bool belongs_to_destination(const struct option *option)
{
	return option->commands & COMMAND_DESTINATION;
}

void *option_field(const struct option *option, struct options *options,
		   struct destination *destination)
{
	char *base = belongs_to_destination(option) ? (char *)destination : (char *)options;

	return base + option->field;
}

void destination_done(struct destination *destination)
{
	for (size_t i = 0; i < nr_option_rows; i++) {
		if (belongs_to_destination(&option_table[i]))
			value_clear(option_table[i].type,
				    option_field(&option_table[i], NULL, destination));
	}
}

/* The first of the destinations that come from files; they are the last ones of the list. */
static const struct destination *first_from_file(const struct options *options)
{
	return options->destinations + options->nr_destinations - options->destination_files.nr;
}

void options_done(struct options *options)
{
	/* `direct` may be an element of the list; clearing it twice is harmless. */
	if (options->direct)
		destination_done(options->direct);
	for (size_t i = 0; i < options->nr_destinations; i++)
		destination_done(&options->destinations[i]);
	free(options->destinations);
	options->destinations = NULL;
	options->direct = NULL;
	options->nr_destinations = 0;
	for (size_t i = 0; i < nr_option_rows; i++) {
		if (!belongs_to_destination(&option_table[i]))
			value_clear(option_table[i].type,
				    option_field(&option_table[i], options, NULL));
	}
	/* These two have no row in the table: they are not named by an option. */
	value_clear(option_files.type, &options->files);
	value_clear(option_ranges.type, &options->ranges);
	value_clear(option_command.type, &options->command);
	strbuf_done(&options->warnings);
}

static bool fields_equal(const struct option *option, const void *before, const void *after)
{
	return value_equals(option->type, (const char *)before + option->field,
			    (const char *)after + option->field, option->field_bytes);
}

static bool destinations_equal(const struct destination *before, const struct destination *after)
{
	for (size_t i = 0; i < nr_option_rows; i++) {
		if (belongs_to_destination(&option_table[i]) &&
		    !fields_equal(&option_table[i], before, after))
			return false;
	}
	return true;
}

/* Returns whether both have the same number of destinations from files, with the same options. */
static bool file_destinations_equal(const struct options *before, const struct options *after)
{
	size_t nr = before->destination_files.nr;

	for (size_t i = 0; i < nr && i < after->destination_files.nr; i++) {
		if (!destinations_equal(&first_from_file(before)[i], &first_from_file(after)[i]))
			return false;
	}
	return nr == after->destination_files.nr;
}

static bool option_equals(const struct option *option, const struct options *before,
			  const struct options *after)
{
	if (belongs_to_destination(option))
		return fields_equal(option, before->direct, after->direct);
	if (option->field == offsetof(struct options, destination_files) &&
	    !file_destinations_equal(before, after))
		return false;
	return fields_equal(option, before, after);
}

void options_diff(const struct options *before, const struct options *after, bool is_reloadable,
		  struct strbuf *names)
{
	size_t start = names->len;

	for (size_t i = 0; i < nr_option_rows; i++) {
		const struct option *option = &option_table[i];

		if (!(option->commands & after->input.command) ||
		    option->is_reloadable != is_reloadable || option_equals(option, before, after))
			continue;
		strbuf_appendf(names, "%s--%s", names->len > start ? ", " : "", option->name);
	}
}
