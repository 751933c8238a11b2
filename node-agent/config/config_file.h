/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a YAML configuration file as a flat list: `key: value` and `key: [value, …]`, nothing
 * nested. This parser does not know which keys are options. */
#ifndef CONFIG_CONFIG_FILE_H
#define CONFIG_CONFIG_FILE_H

#include "base/arena.h"
#include "base/err.h"
#include "base/strbuf.h"

#include <stddef.h>

#define CONFIG_FILE_MAX_BYTES ((size_t)1 << 20)
#define CONFIG_ENTRIES_MAX 4096

struct config_entry {
	const char *key;
	const char *value;
	size_t line; /* of the value, from 1 */
};

/* The elements of a list are adjacent entries with the same key. Otherwise each key occurs once. */
struct config_file {
	struct arena arena; /* the strings */
	struct config_entry *entries; /* owned */
	size_t nr_entries, cap_entries;
};

/* Parses YAML text; `name` is the file's name in messages. On failure `message` is one line,
 * "name:line: what is wrong". The caller ends the result by config_file_done(). Errors: -EBADMSG,
 * -ENOSPC for too many entries, -ENOMEM. */
int config_file_parse(const char *text, size_t len, const char *name, struct config_file *ret_file,
		      struct strbuf *message) must_check;

/* Reads and parses a file. Errors: as above, and those of reading the file, with a message as
 * well. */
int config_file_load(const char *path, struct config_file *ret_file, struct strbuf *message)
	must_check;

/* Frees all entries. */
void config_file_done(struct config_file *file);

#endif
