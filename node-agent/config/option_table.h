/* SPDX-License-Identifier: Apache-2.0 */
/* The one list of options, from which the command line, the keys of the configuration file, the environment
 * variables, the defaults and the help are derived. */
#ifndef CONFIG_OPTION_TABLE_H
#define CONFIG_OPTION_TABLE_H

#include "config/option_value.h"

#include <stdbool.h>
#include <stddef.h>

/* How an environment variable spells the value. */
enum env_format {
	ENV_TEXT, /* as on the command line */
	ENV_WORD, /* the same, in letters of either case */
	ENV_MILLISECONDS, /* a bare number */
	ENV_HEADERS, /* "name=value,name=value", percent-encoded */
};

struct option {
	const char *name; /* --name, and the key in the file */
	char letter; /* -l, or 0 */
	unsigned int commands; /* mask of enum command_id */
	size_t field; /* offset in struct destination with COMMAND_DESTINATION, else in struct options */
	size_t field_bytes;
	const struct value_type *type;
	const char *fallback; /* the default, as text; NULL: none */
	const char *metavar; /* in the help */
	const char *help;
	bool is_usual; /* in --help, else only in --help-all */
	bool not_in_file; /* makes no sense as a key */
	bool is_reloadable; /* a change takes effect while the agent runs */
	bool joins_environment; /* a list: the environment adds "key=value" for keys that it lacks */
	const char *env[2]; /* variables, the first one that is set counts */
	enum env_format env_format;
};

extern const struct option option_table[];
extern const size_t nr_option_rows;

/* Rows without a name, which only one source sets. They are no part of the table. */
extern const struct option option_files, /* the words of export */
	option_command, /* the words behind "--" of record */
	option_is_plain; /* OTEL_EXPORTER_OTLP_INSECURE */

/* The row of an option that `commands` (mask) take; `len` bytes of name. NULL when there is none. */
const struct option *option_find(const char *name, size_t len, unsigned int commands);
const struct option *option_find_letter(char letter, unsigned int commands);

/* The name that looks most like `word` among those that `commands` take, or NULL. */
const char *option_nearest(const char *word, unsigned int commands, bool in_file);

/* "record", "agent", … of the first command in the mask. */
const char *command_name(unsigned int commands);

#endif
