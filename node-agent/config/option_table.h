/* SPDX-License-Identifier: Apache-2.0 */
/* The list of all options. The command line, the keys of the configuration file, the environment
 * variables, the defaults and the help are derived from it. */
#ifndef CONFIG_OPTION_TABLE_H
#define CONFIG_OPTION_TABLE_H

#include "config/option_value.h"

#include <stdbool.h>
#include <stddef.h>

/* The format of an environment variable. */
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
	size_t field; /* offset in struct options; with COMMAND_DESTINATION in struct destination */
	size_t field_bytes;
	const struct value_type *type;
	const char *fallback; /* the default, as text; NULL: none */
	const char *metavar; /* in the help */
	const char *help;
	bool is_usual; /* in --help, else only in --help-all */
	unsigned int unusual_in; /* commands for which that is not true */
	bool not_in_file; /* cannot be a key in the file */
	bool is_reloadable; /* a change takes effect while the agent runs */
	bool joins_environment; /* the environment adds keys that a "key=value" list lacks */
	const char *env[2]; /* variables; the first one that is set counts */
	enum env_format env_format;
};

extern const struct option option_table[];
extern const size_t nr_option_rows;

/* Options without a name, which only one source sets. They are not in the table. */
extern const struct option option_files, /* files that export sends */
	option_ranges, /* times that query asks for */
	option_command, /* the command that record runs */
	option_is_plain; /* OTEL_EXPORTER_OTLP_INSECURE */

/* Returns the option of that name that one of the `commands` (a mask) takes, or NULL. */
const struct option *option_find(const char *name, unsigned int commands);

/* Finds an option by its letter. */
const struct option *option_find_letter(char letter, unsigned int commands);

/* Returns the name most like `word` among the options that `commands` take; NULL if none is
 * similar. */
const char *option_nearest(const char *word, unsigned int commands, bool in_file);

/* Returns the name of the first command in the mask: "record", "agent", … */
const char *command_name(unsigned int commands);

#endif
