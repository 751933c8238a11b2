/* SPDX-License-Identifier: Apache-2.0 */
/* The files an elf_cache has met: numbered, found by identity, at most ELF_CACHE_MAX_FILES. The one used
 * least recently makes room for a new one. Not locked. */
#ifndef SYMBOL_ELF_FILES_H
#define SYMBOL_ELF_FILES_H

#include "base/htable.h"
#include "elf/build_id.h"
#include "symbol/elf_owners.h"
#include "symbol/opener/file_opener.h"

#include <stddef.h>
#include <stdint.h>

struct elf_table;

enum elf_file_state {
	ELF_FILE_WAITING, /* open, not read */
	ELF_FILE_LOADING, /* the loader reads it without the lock: must not be reused */
	ELF_FILE_LOADED, /* has a table */
	ELF_FILE_BAD, /* cannot be read: `error` */
};

struct elf_file {
	uint32_t id; /* never that of another file, see below */
	struct elf_owners owners;
	enum elf_file_state state;
	int fd; /* while waiting; this and the next two: owned */
	int root_fd; /* of the process that was sampled; may be -EBADF */
	char *path; /* in that root; may be NULL */
	int error; /* of the last failure to read it */
	unsigned int nr_failures; /* in a row */
	uint64_t failed_ns; /* when it last was, by CLOCK_MONOTONIC */
	struct file_identity identity;
	struct elf_table *table; /* borrowed from the cache, counted there */
	uint64_t last_use;
};

/* File number `id` is in slot (id - 1) % ELF_CACHE_MAX_FILES. A slot that is reused goes up by that many,
 * until the numbers end; then it stays with its last file. */
struct elf_files {
	struct elf_file *slots; /* owned */
	size_t nr_slots;
	size_t cap_slots;
	struct htable index; /* by identity */
};

/* Closes and frees what a file has for as long as it waits. */
void elf_file_release(struct elf_file *file);

/* Releases all. */
void elf_files_done(struct elf_files *files);

/* Borrowed until the next elf_files_add(); NULL when unknown. */
struct elf_file *elf_files_get(const struct elf_files *files, uint32_t id);
struct elf_file *elf_files_find(const struct elf_files *files,
				const struct file_identity *identity);

/* The file that elf_files_add() will replace, or NULL while there is room. Its resources are the caller's to
 * release before. */
struct elf_file *elf_files_next_victim(const struct elf_files *files);

/* Adds a file in state ELF_FILE_WAITING without fd. Errors: -ENOSPC nothing can be replaced, -ENOMEM. */
int elf_files_add(struct elf_files *files, const struct file_identity *identity,
		  struct elf_file **ret_file) must_check;

#endif
