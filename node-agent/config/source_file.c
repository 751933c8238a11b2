/* SPDX-License-Identifier: Apache-2.0 */
#include "config/option_sources.h"

#include "base/cleanup.h"
#include "config/config_file.h"
#include "config/option_table.h"

#define TEXT_MAX_BYTES 4096
#define MESSAGE_MAX_BYTES 65536

/* Refuses a key that is an option, but not of this command or not in a file. */
static int refuse_place(struct entry_list *entries, enum command_id command, const char *where)
{
	return entry_list_refuse(
		entries, SOURCE_FILE, NULL, "%s is not an option of %s file; remove the line",
		where, command == COMMAND_DESTINATION ? "a destination's" : "the configuration");
}

static int refuse_key(struct entry_list *entries, enum command_id command, const char *where,
		      const char *key)
{
	const char *nearest = option_nearest(key, command | COMMAND_AGENT, true);

	if (!nearest)
		return entry_list_refuse(entries, SOURCE_FILE, NULL, "%s is not an option", where);
	return entry_list_refuse(entries, SOURCE_FILE, NULL,
				 "%s is not an option; did you mean %s?", where, nearest);
}

/* Returns whether a line that is no option of this command in a file is one of the agent. Other
 * commands ignore these lines, because the file is the agent's. */
static bool is_for_agent(enum command_id command, const char *key)
{
	const struct option *option = option_find(key, COMMAND_AGENT);

	return command != COMMAND_DESTINATION && command != COMMAND_AGENT && option &&
	       !option->not_in_file;
}

static int read_line(enum command_id command, const char *path, const struct config_entry *line,
		     struct entry_list *entries)
{
	const struct option *option = option_find(line->key, command);
	_cleanup_(strbuf_done) struct strbuf where = strbuf_with_max(TEXT_MAX_BYTES);

	strbuf_appendf(&where, "%s:%zu: %s", path, line->line, line->key);
	if (option && !option->not_in_file)
		return entry_list_add(entries, SOURCE_FILE, option, strbuf_str(&where),
				      line->value);
	if (is_for_agent(command, line->key))
		return 0;
	if (option || option_find(line->key, ~0u))
		return refuse_place(entries, command, strbuf_str(&where));
	return refuse_key(entries, command, strbuf_str(&where), line->key);
}

int source_read_file(enum command_id command, const char *path, struct entry_list *entries)
{
	_cleanup_(config_file_done) struct config_file file = { 0 };
	_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(MESSAGE_MAX_BYTES);

	int r = config_file_load(path, &file, &message);
	if (r == -ENOMEM)
		return r;
	if (r < 0)
		return entry_list_refuse(entries, SOURCE_FILE, NULL, "%s", strbuf_str(&message));
	for (size_t i = 0; r == 0 && i < file.nr_entries; i++)
		r = read_line(command, path, &file.entries[i], entries);
	return r;
}
