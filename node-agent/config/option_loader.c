/* SPDX-License-Identifier: Apache-2.0 */
#include "config/options.h"

#include "base/cleanup.h"
#include "config/option_list.h"
#include "config/option_loader.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *field_of(struct options *options, const struct option *option)
{
	return (char *)options + option->field;
}

int loader_explain(struct loader *loader, const struct option *option, const char *where,
		   const char *text, int error)
{
	const struct value_type *type = option->type;

	if (error == -ENOMEM)
		return error;
	if (error == -ENOSPC)
		strbuf_appendf(loader->message, "%s: too many values; at most %d", where,
			       LIST_ITEMS_MAX);
	else if (error != -EINVAL && error != -ERANGE)
		strbuf_appendf(loader->message, "%s: cannot read \"%s\": %s; write %s", where, text,
			       strerror(-error), type->hint);
	else if (type->is_secret)
		strbuf_appendf(loader->message, "%s: the value is not %s; write %s", where,
			       type->noun, type->hint);
	else
		strbuf_appendf(loader->message, "%s: \"%s\" is not %s; write %s", where, text,
			       type->noun, type->hint);
	return -EINVAL;
}

int loader_set(struct loader *loader, const struct option *option, enum source source,
	       const char *where, const char *text)
{
	enum source *owner = &loader->owners[option - option_table];

	if (*owner != SOURCE_NONE && *owner != source)
		return 0;
	if (*owner == SOURCE_FILE && !value_is_list(option->type)) {
		strbuf_appendf(loader->message, "%s: takes one value, not a list", where);
		return -EINVAL;
	}

	int r = value_store(option->type, text, field_of(loader->options, option));
	if (r < 0)
		return loader_explain(loader, option, where, text, r);
	*owner = source;
	return 0;
}

void loader_warn(struct loader *loader, const char *format, ...)
{
	char text[OPTION_TEXT_MAX_BYTES];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	strbuf_appendf(loader->warnings, "%s%s", loader->warnings->len > 0 ? "; " : "", text);
}

enum source loader_source_of(const struct loader *loader, const char *name)
{
	const struct option *option = option_find(name, strlen(name), loader->input->command);

	return option ? loader->owners[option - option_table] : SOURCE_NONE;
}

int loader_read_defaults(struct loader *loader)
{
	for (size_t i = 0; i < nr_option_rows; i++) {
		const struct option *option = &option_table[i];

		if (!option->fallback || !(option->commands & loader->input->command))
			continue;
		if (option->field == offsetof(struct options, duration_ns) &&
		    loader->options->command.nr > 0)
			continue; /* until the command ends */
		int r = loader_set(loader, option, SOURCE_DEFAULT, option->name, option->fallback);
		if (r < 0)
			return r;
	}
	return 0;
}

/* Each output has a format: by its name, or by --format, which then is of use. */
static int check_outputs(struct loader *loader)
{
	const struct options_input *input = loader->input;
	const struct options *options = loader->options;
	size_t nr_open = 0; /* whose names do not say it */

	if (!input->format_told)
		return 0;
	for (size_t i = 0; i < options->outputs.nr; i++) {
		const char *path = options->outputs.items[i];
		const char *told = input->format_told(path);

		nr_open += !told || !*told;
		if (told || options->output_format)
			continue;
		strbuf_appendf(loader->message,
			       "-o: \"%s\" has no known extension; write a name that ends in %s, "
			       "or add --format",
			       path, input->output_extensions);
		return -EINVAL;
	}
	if (!options->output_format || options->outputs.nr == 0 || nr_open > 0)
		return 0;
	strbuf_appendf(loader->message,
		       "--format is for names without a known extension: \"%s\" has one; leave "
		       "--format out, or write -o -",
		       options->outputs.items[0]);
	return -EINVAL;
}

/* What takes more than one option to tell. */
static int check_all(struct loader *loader)
{
	if (loader->input->command == COMMAND_EXPORT && loader->options->files.nr == 0) {
		strbuf_append_str(loader->message,
				  "a file is missing; write flamelet export FILE.pb.gz");
		return -EINVAL;
	}
	int r = check_outputs(loader);
	if (r == 0)
		r = loader_check_attributes(loader, "--");
	if (r == 0)
		r = loader_check_export(loader, "--", loader_wants_plain(loader));
	return r < 0 ? r : loader_read_destinations(loader);
}

int options_load(const struct options_input *input, struct options *ret_options,
		 struct strbuf *message)
{
	static int (*const steps[])(struct loader *) = {
		loader_read_command_line,
		loader_read_file,
		loader_read_environment,
		loader_read_attributes,
		loader_read_cluster,
		loader_read_defaults,
		check_all,
	};
	_cleanup_(options_done) struct options options = {
		.input = *input,
		.warnings = strbuf_with_max(OPTION_TEXT_MAX_BYTES),
	};
	struct loader loader = {
		.input = input,
		.options = &options,
		.message = message,
		.warnings = &options.warnings,
	};

	for (size_t i = 0; i < array_len(steps); i++) {
		int r = steps[i](&loader);
		if (r < 0)
			return r;
		if (options.help || options.help_all)
			break;
	}
	*ret_options = options;
	options = (struct options){ 0 };
	return 0;
}

bool options_want_times(const struct options *options)
{
	bool is_wanted = options->export.timestamps;

	for (size_t i = 0; i < options->nr_others; i++)
		is_wanted |= options->others[i].timestamps;
	return is_wanted;
}

static bool others_equal(const struct options *before, const struct options *after)
{
	for (size_t i = 0; i < before->nr_others && i < after->nr_others; i++) {
		if (!destination_equal(&before->others[i], &after->others[i]))
			return false;
	}
	return before->nr_others == after->nr_others;
}

static bool option_equals(const struct option *option, const struct options *before,
			  const struct options *after)
{
	if (option->field == offsetof(struct options, destinations) && !others_equal(before, after))
		return false;
	return value_equals(option->type, (const char *)before + option->field,
			    (const char *)after + option->field, option->field_bytes);
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

void options_done(struct options *options)
{
	for (size_t i = 0; i < nr_option_rows; i++)
		value_clear(option_table[i].type, field_of(options, &option_table[i]));
	for (size_t i = 0; i < options->nr_others; i++)
		destination_done(&options->others[i]);
	free(options->others);
	options->others = NULL;
	options->nr_others = 0;
	string_list_done(&options->command);
	string_list_done(&options->files);
	strbuf_done(&options->warnings);
}
