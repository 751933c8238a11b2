/* SPDX-License-Identifier: Apache-2.0 */
#include "config/options.h"

#include "base/cleanup.h"
#include "config/option_list.h"
#include "config/option_loader.h"

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

static int check_output(struct loader *loader, const char *where, const char *text)
{
	const struct options_input *input = loader->input;

	if (!input->is_output || input->is_output(text))
		return 0;
	strbuf_appendf(loader->message,
		       "%s: \"%s\" has no known extension; write a name that ends in %s", where,
		       text, input->output_extensions);
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
	return option->type == &value_output ? check_output(loader, where, text) : 0;
}

static int read_defaults(struct loader *loader)
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

int options_load(const struct options_input *input, struct options *ret_options,
		 struct strbuf *message)
{
	static int (*const steps[])(struct loader *) = { loader_read_command_line, loader_read_file,
							 loader_read_environment,
							 loader_read_cluster, read_defaults };
	_cleanup_(options_done) struct options options = { .input = *input };
	struct loader loader = { .input = input, .options = &options, .message = message };

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

void options_diff(const struct options *before, const struct options *after, bool is_reloadable,
		  struct strbuf *names)
{
	size_t start = names->len;

	for (size_t i = 0; i < nr_option_rows; i++) {
		const struct option *option = &option_table[i];

		if (!(option->commands & after->input.command) ||
		    option->is_reloadable != is_reloadable ||
		    value_equals(option->type, (const char *)before + option->field,
				 (const char *)after + option->field, option->field_bytes))
			continue;
		strbuf_appendf(names, "%s--%s", names->len > start ? ", " : "", option->name);
	}
}

void options_done(struct options *options)
{
	for (size_t i = 0; i < nr_option_rows; i++)
		value_clear(option_table[i].type, field_of(options, &option_table[i]));
	string_list_done(&options->command);
}
