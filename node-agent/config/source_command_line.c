/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cleanup.h"
#include "config/option_list.h"
#include "config/option_loader.h"

#include <string.h>

/* Says what the user may have meant by a word that is no option of this command. */
static int refuse_unknown(struct loader *loader, const char *word)
{
	enum command_id command = loader->input->command;
	const struct option *elsewhere = option_find(word, strlen(word), ~0u);

	if (elsewhere)
		strbuf_appendf(loader->message,
			       "--%s is an option of %s, not of %s; see flamelet %s --help", word,
			       command_name(elsewhere->commands), command_name(command),
			       command_name(command));
	else
		strbuf_appendf(loader->message,
			       "unknown option --%s; did you mean --%s? See flamelet %s --help",
			       word, option_nearest(word, command, false), command_name(command));
	return -EINVAL;
}

/* The command line's arguments, one after the other. */
struct cursor {
	char *const *args;
	size_t nr;
	size_t pos;
};

/* Sets an option from its own text ("--x=text", "-xtext") or, when that is NULL, the next argument. */
static int set_with_argument(struct loader *loader, const struct option *option, const char *where,
			     const char *text, struct cursor *cursor)
{
	if (!text && option->type->storage == STORE_FLAG)
		text = "true";
	if (!text) {
		if (cursor->pos + 1 >= cursor->nr) {
			strbuf_appendf(loader->message, "%s: a value is missing; write %s", where,
				       option->type->hint);
			return -EINVAL;
		}
		text = cursor->args[++cursor->pos];
	}
	return loader_set(loader, option, SOURCE_COMMAND_LINE, where, text);
}

static int read_long_option(struct loader *loader, struct cursor *cursor)
{
	const char *name = cursor->args[cursor->pos] + 2;
	size_t len = strcspn(name, "=");
	const struct option *option = option_find(name, len, loader->input->command);
	_cleanup_free_ char *word = strndup(name, len);
	_cleanup_(strbuf_done) struct strbuf where = strbuf_with_max(OPTION_TEXT_MAX_BYTES);

	if (!word)
		return -ENOMEM;
	if (!option)
		return refuse_unknown(loader, word);
	strbuf_appendf(&where, "--%s", word);
	return set_with_argument(loader, option, strbuf_str(&where),
				 name[len] == '=' ? name + len + 1 : NULL, cursor);
}

/* "-d10s", "-d 10s", and flags in one word: "-qI". */
static int read_short_options(struct loader *loader, struct cursor *cursor)
{
	for (const char *c = cursor->args[cursor->pos] + 1; *c; c++) {
		const struct option *option = option_find_letter(*c, loader->input->command);
		const char where[] = { '-', *c, '\0' };

		if (!option) {
			strbuf_appendf(loader->message,
				       "unknown option -%c; see flamelet %s --help", *c,
				       command_name(loader->input->command));
			return -EINVAL;
		}
		if (option->type->storage != STORE_FLAG)
			return set_with_argument(loader, option, where, c[1] ? c + 1 : NULL,
						 cursor);
		int r = loader_set(loader, option, SOURCE_COMMAND_LINE, where, "true");
		if (r < 0)
			return r;
	}
	return 0;
}

static int add_word(struct loader *loader, struct string_list *list, const char *word)
{
	int r = string_list_add(list, word);

	if (r != -ENOSPC)
		return r;
	strbuf_appendf(loader->message, "too many arguments");
	return -EINVAL;
}

static int refuse_word(struct loader *loader, const char *word)
{
	strbuf_appendf(loader->message, "unexpected \"%s\"; ", word);
	if (loader->input->command == COMMAND_RECORD)
		strbuf_appendf(loader->message, "a command to run stands behind --: -- %s", word);
	else
		strbuf_appendf(loader->message, "see flamelet %s --help",
			       command_name(loader->input->command));
	return -EINVAL;
}

/* What is no option. */
static int read_word(struct loader *loader, const char *word)
{
	if (loader->input->command == COMMAND_EXPORT)
		return add_word(loader, &loader->options->files, word);
	return refuse_word(loader, word);
}

/* What stands behind "--": a program to run and profile, or files that look like options. */
static int read_words(struct loader *loader, const struct cursor *cursor)
{
	bool is_export = loader->input->command == COMMAND_EXPORT;

	if (loader->input->command != COMMAND_RECORD && !is_export) {
		strbuf_appendf(loader->message, "--: only record runs a command");
		return -EINVAL;
	}
	if (cursor->pos + 1 == cursor->nr && !is_export) {
		strbuf_appendf(loader->message, "--: a command is missing; write -- make -j4");
		return -EINVAL;
	}
	struct options *options = loader->options;
	for (size_t i = cursor->pos + 1; i < cursor->nr; i++) {
		int r = add_word(loader, is_export ? &options->files : &options->command,
				 cursor->args[i]);
		if (r < 0)
			return r;
	}
	return 0;
}

int loader_read_command_line(struct loader *loader)
{
	struct cursor cursor = { loader->input->args, loader->input->nr_args, 0 };

	for (; cursor.pos < cursor.nr; cursor.pos++) {
		const char *arg = cursor.args[cursor.pos];
		int r;

		if (strcmp(arg, "--") == 0)
			return read_words(loader, &cursor);
		if (strncmp(arg, "--", 2) == 0)
			r = read_long_option(loader, &cursor);
		else if (arg[0] == '-' && arg[1])
			r = read_short_options(loader, &cursor);
		else
			r = read_word(loader, arg);
		if (r < 0)
			return r;
	}
	return 0;
}
