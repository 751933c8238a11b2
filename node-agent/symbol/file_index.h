/* SPDX-License-Identifier: Apache-2.0 */
/* The files that were met: numbered, found by identity, at most FILE_INDEX_MAX. The one used least
 * recently makes room for a new one. Not locked. */
#ifndef SYMBOL_FILE_INDEX_H
#define SYMBOL_FILE_INDEX_H

#include "base/htable.h"
#include "symbol/file_owners.h"
#include "symbol/opener/file_opener.h"

#include <stddef.h>
#include <stdint.h>

#define FILE_INDEX_MAX 65536

struct elf_content;

enum file_state {
	FILE_WAITING, /* open, not read */
	FILE_LOADING, /* the loader reads it without the lock: must not be reused */
	FILE_LOADED, /* has content */
	FILE_BAD, /* cannot be read: `error` */
};

struct known_file {
	uint32_t id; /* never that of another file, see below */
	struct file_owners owners;
	enum file_state state;
	struct opened_file opened; /* while waiting */
	int error; /* of the last failure to read it */
	unsigned int nr_failures; /* in a row */
	uint64_t failed_ns; /* when it last was, by CLOCK_MONOTONIC */
	struct file_identity identity;
	struct elf_content *content; /* borrowed */
	uint64_t last_use;
};

/* File number `id` is in slot (id - 1) % FILE_INDEX_MAX. A slot that is reused goes up by that
 * many, until the numbers end; then it stays with its last file. */
struct file_index {
	struct known_file *slots; /* owned */
	size_t nr_slots;
	size_t cap_slots;
	struct htable by_identity;
};

/* Closes and frees all. */
void file_index_done(struct file_index *index);

/* Borrowed until the next file_index_add(); NULL when unknown. */
struct known_file *file_index_get(const struct file_index *index, uint32_t id);
struct known_file *file_index_find(const struct file_index *index,
				   const struct file_identity *identity);

/* The file that file_index_add() will replace, or NULL while there is room. Its resources are the
 * caller's to release before. */
struct known_file *file_index_next_victim(const struct file_index *index);

/* Adds a file in state FILE_WAITING without anything open. Errors: -ENOSPC nothing can be
 * replaced, -ENOMEM. */
int file_index_add(struct file_index *index, const struct file_identity *identity,
		   struct known_file **ret_file) must_check;

#endif
