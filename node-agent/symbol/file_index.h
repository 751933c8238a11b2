/* SPDX-License-Identifier: Apache-2.0 */
/* The files an elf_cache has met: numbered, found by identity, at most ELF_CACHE_MAX_FILES. The one used
 * least recently makes room for a new one. Not locked. */
#ifndef SYMBOL_FILE_INDEX_H
#define SYMBOL_FILE_INDEX_H

#include "base/htable.h"
#include "elf/build_id.h"
#include "symbol/file_owners.h"
#include "symbol/opener/file_opener.h"

#include <stddef.h>
#include <stdint.h>

struct name_table;

enum file_state {
	FILE_WAITING, /* open, not read */
	FILE_LOADING, /* the loader reads it without the lock: must not be reused */
	FILE_LOADED, /* has a table */
	FILE_BAD, /* cannot be read: `error` */
};

struct known_file {
	uint32_t id; /* never that of another file, see below */
	struct file_owners owners;
	enum file_state state;
	int fd; /* while waiting; this and the next two: owned */
	int root_fd; /* of the process that was sampled; may be -EBADF */
	char *path; /* in that root; may be NULL */
	int error; /* of the last failure to read it */
	unsigned int nr_failures; /* in a row */
	uint64_t failed_ns; /* when it last was, by CLOCK_MONOTONIC */
	struct file_identity identity;
	struct name_table *table; /* borrowed from the cache, counted there */
	uint64_t last_use;
};

/* File number `id` is in slot (id - 1) % ELF_CACHE_MAX_FILES. A slot that is reused goes up by that many,
 * until the numbers end; then it stays with its last file. */
struct file_index {
	struct known_file *slots; /* owned */
	size_t nr_slots;
	size_t cap_slots;
	struct htable index; /* by identity */
};

/* Closes and frees what a file has for as long as it waits. */
void known_file_release(struct known_file *file);

/* Releases all. */
void file_index_done(struct file_index *files);

/* Borrowed until the next file_index_add(); NULL when unknown. */
struct known_file *file_index_get(const struct file_index *files, uint32_t id);
struct known_file *file_index_find(const struct file_index *files,
				   const struct file_identity *identity);

/* The file that file_index_add() will replace, or NULL while there is room. Its resources are the caller's to
 * release before. */
struct known_file *file_index_next_victim(const struct file_index *files);

/* Adds a file in state FILE_WAITING without fd. Errors: -ENOSPC nothing can be replaced, -ENOMEM. */
int file_index_add(struct file_index *files, const struct file_identity *identity,
		   struct known_file **ret_file) must_check;

#endif
