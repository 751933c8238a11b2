/* SPDX-License-Identifier: Apache-2.0 */
#include "config/option_sources.h"

#include "base/cleanup.h"
#include "base/strbuf.h"
#include "config/option_table.h"

#include <ctype.h>
#include <string.h>

#define COMMANDS_WITH_RANGE                                                                        \
	(COMMAND_QUERY | COMMAND_LS | COMMAND_DIFF | COMMAND_TIMELINE | COMMAND_PIN |              \
	 COMMAND_FINDINGS)
#define COMMANDS_WITH_TIMES (COMMANDS_WITH_RANGE | COMMAND_EXPORT) /* among their words */
#define TEXT_MAX_BYTES 4096

/* State of reading the arguments. */
struct reader {
	const struct options_input *input;
	struct entry_list *entries;
	size_t pos; /* of the current argument */
	size_t nr_words; /* that are not options, so far */
};

static int add(struct reader *reader, const struct option *option, const char *where,
	       const char *value)
{
	return entry_list_add(reader->entries, SOURCE_COMMAND_LINE, option, where, value);
}

#define refuse(reader, ...)                                                                        \
	entry_list_refuse((reader)->entries, SOURCE_COMMAND_LINE, NULL, __VA_ARGS__)

/* Refuses an option of another command, or an unknown one. `where` is the option with its dashes,
 * `nearest` a name that the user may have meant, or NULL. */
static int refuse_option(struct reader *reader, const char *where, const struct option *elsewhere,
			 const char *nearest)
{
	const char *command = command_name(reader->input->command);

	if (elsewhere)
		return refuse(reader, "%s is an option of %s, not of %s; see flamelet %s --help",
			      where, command_name(elsewhere->commands), command, command);
	if (nearest)
		return refuse(reader,
			      "unknown option %s; did you mean --%s? See flamelet %s --help", where,
			      nearest, command);
	return refuse(reader, "unknown option %s; see flamelet %s --help", where, command);
}

/* Adds an option with its argument. The argument is `text` ("--x=text", "-xtext") or, if that is
 * NULL, the next word. */
static int add_with_argument(struct reader *reader, const struct option *option, const char *where,
			     const char *text)
{
	const struct options_input *input = reader->input;

	if (!text && option->type->storage == STORE_FLAG)
		text = "true";
	if (!text && reader->pos + 1 >= input->nr_args)
		return refuse(reader, "%s: the value is missing; expected %s", where,
			      option->type->expected);
	return add(reader, option, where, text ? text : input->args[++reader->pos]);
}

static int read_long_option(struct reader *reader, const char *name)
{
	size_t len = strcspn(name, "=");
	_cleanup_free_ char *word = strndup(name, len);
	_cleanup_(strbuf_done) struct strbuf where = strbuf_with_max(TEXT_MAX_BYTES);

	if (!word)
		return -ENOMEM;
	const struct option *option = option_find(word, reader->input->command);
	strbuf_appendf(&where, "--%s", word);
	if (!option)
		return refuse_option(reader, strbuf_str(&where), option_find(word, ~0u),
				     option_nearest(word, reader->input->command, false));
	return add_with_argument(reader, option, strbuf_str(&where),
				 name[len] == '=' ? name + len + 1 : NULL);
}

/* Reads "-d10s", "-d 10s", and flags in one word: "-qI". */
static int read_short_options(struct reader *reader, const char *letters)
{
	for (const char *c = letters; *c; c++) {
		const struct option *option = option_find_letter(*c, reader->input->command);
		const char where[] = { '-', *c, '\0' };

		if (!option)
			return refuse_option(reader, where, option_find_letter(*c, ~0u), NULL);
		if (option->type->storage == STORE_FLAG && c[1] == '=')
			return refuse(reader, "%s takes no value", where);
		if (option->type->storage != STORE_FLAG)
			return add_with_argument(reader, option, where, c[1] ? c + 1 : NULL);
		int r = add(reader, option, where, "true");
		if (r < 0)
			return r;
	}
	return 0;
}

static int add_word(struct reader *reader, const struct option *words, const char *word)
{
	if (++reader->nr_words > LIST_ITEMS_MAX)
		return refuse(reader, "too many arguments");
	return add(reader, words, "", word);
}

/* Reads a word that is not an option. */
static int read_word(struct reader *reader, const char *word)
{
	enum command_id command = reader->input->command;

	if (command == COMMAND_EXPORT)
		return add_word(reader, &option_files, word);
	if (command & COMMANDS_WITH_RANGE)
		return add_word(reader, &option_ranges, word);
	if (command == COMMAND_RECORD)
		return refuse(reader,
			      "unexpected argument \"%s\"; to profile a command, put it after --: "
			      "flamelet record -- %s",
			      word, word);
	return refuse(reader, "unexpected argument \"%s\"; see flamelet %s --help", word,
		      command_name(command));
}

/* Reads the words behind "--": a command to run and profile, or files whose names look like
 * options. */
static int read_words(struct reader *reader)
{
	const struct options_input *input = reader->input;
	bool is_export = input->command == COMMAND_EXPORT;
	int r = 0;

	if (input->command != COMMAND_RECORD && !is_export)
		return refuse(reader, "only flamelet record can run a command after --");
	if (reader->pos + 1 == input->nr_args && !is_export)
		return refuse(reader,
			      "no command after --; for example: flamelet record -- make -j4");
	while (r == 0 && ++reader->pos < input->nr_args)
		r = add_word(reader, is_export ? &option_files : &option_command,
			     input->args[reader->pos]);
	return r;
}

static int read_argument(struct reader *reader)
{
	const char *arg = reader->input->args[reader->pos];

	if (strcmp(arg, "--") == 0)
		return read_words(reader);
	if (strncmp(arg, "--", 2) == 0)
		return read_long_option(reader, arg + 2);
	if (arg[0] == '-' && isdigit((unsigned char)arg[1]) &&
	    (reader->input->command & COMMANDS_WITH_TIMES))
		return read_word(reader, arg); /* "-10m" is a time */
	if (arg[0] == '-' && arg[1])
		return read_short_options(reader, arg + 1);
	return read_word(reader, arg);
}

int source_read_command_line(const struct options_input *input, struct entry_list *entries)
{
	struct reader reader = { .input = input, .entries = entries };
	int r = 0;

	for (; r == 0 && reader.pos < input->nr_args; reader.pos++)
		r = read_argument(&reader);
	return r;
}
