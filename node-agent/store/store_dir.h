/* SPDX-License-Identifier: Apache-2.0 */
/* The directory of a record: names, sizes and removal of its files. A file is named after the time
 * of its first second, so that names sort by time: 20261120T150000Z.db. */
#ifndef STORE_STORE_DIR_H
#define STORE_STORE_DIR_H

#include "base/err.h"
#include "base/strbuf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STORE_NAME_BYTES 32

/* The file that a writer locks. Copies of single files lack it. */
#define STORE_DIR_LOCK "lock"

struct store_dir_entry {
	char name[STORE_NAME_BYTES];
	uint64_t bytes; /* with its log */
	uint64_t changed_s; /* Unix time */
	bool has_log;
};

struct store_dir_list {
	struct store_dir_entry *items; /* owned; the oldest first */
	size_t nr, cap;
};

/* Lists the files of a record. Other files are left out. Errors: those of opendir(3), -ENOMEM. */
int store_dir_list(const char *dir, struct store_dir_list *ret_list) must_check;
void store_dir_list_done(struct store_dir_list *list);

/* Formats the name of a file that begins at a time (Unix, in seconds). */
void store_dir_name(uint64_t first_s, char name[static STORE_NAME_BYTES]);

/* Removes a file and its log. Errors: those of unlink(2). */
int store_dir_remove(const char *dir, const char *name) must_check;

/* The limits of a directory. */
struct store_dir_limits {
	uint64_t max_bytes, max_age_s;
	unsigned int min_free_percent; /* of the file system */
	uint64_t other_bytes; /* of what counts as well, and stays */
	/* Called before a file is removed. Returns whether it may be removed now; else it and the
	 * following ones stay. NULL: they may. */
	bool (*may_remove)(const char *name, void *data);
	void *data; /* passed to may_remove() */
};

/* Removes the oldest files until the limits are kept, but never `current` (NULL: none). Returns how
 * many. *ret_bytes is the size of what is left; it is set with -ENOSPC, too. Errors: -ENOSPC the
 * file system is too full even so, those of store_dir_list(). */
int store_dir_prune(const char *dir, const char *current, const struct store_dir_limits *limits,
		    uint64_t now_s, uint64_t *ret_bytes) must_check;

#endif
