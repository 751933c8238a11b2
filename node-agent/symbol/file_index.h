/* SPDX-License-Identifier: Apache-2.0 */
/* The known files, by number and by identity. There are at most FILE_INDEX_MAX: a new file replaces
 * the least recently used one. Not locked. */
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
	FILE_LOADING, /* the symbolizer reads it without the lock, so its slot must not be reused */
	FILE_LOADED, /* has content */
	FILE_BAD, /* cannot be read: `error` */
};

struct known_file {
	uint32_t id; /* no other file ever gets it, see below */
	struct file_owners owners;
	enum file_state state;
	struct opened_file opened; /* while it waits */
	int error; /* of the last attempt to read it that failed */
	unsigned int nr_failures; /* in a row */
	uint64_t failed_ns; /* time of the last failure (CLOCK_MONOTONIC) */
	struct file_identity identity;
	struct elf_content *content; /* borrowed */
	uint64_t last_use;
};

/* The file with number `id` is in slot (id - 1) % FILE_INDEX_MAX. When a slot is reused, its number
 * increases by FILE_INDEX_MAX. After the last number, the slot keeps its file. */
struct file_index {
	struct known_file *slots; /* owned */
	size_t nr_slots;
	size_t cap_slots;
	struct htable by_identity;
};

/* Closes all files and frees the index. */
void file_index_done(struct file_index *index);

/* Find a file by number or by identity; NULL if it is not known. Borrowed until the next
 * file_index_add(). */
struct known_file *file_index_get(const struct file_index *index, uint32_t id);
struct known_file *file_index_find(const struct file_index *index,
				   const struct file_identity *identity);

/* Returns the file that file_index_add() will replace, or NULL if there is room. The caller must
 * release its resources before. */
struct known_file *file_index_next_victim(const struct file_index *index);

/* Adds a file in state FILE_WAITING with no open descriptors. Errors: -ENOSPC no file
 * can be replaced, -ENOMEM. */
int file_index_add(struct file_index *index, const struct file_identity *identity,
		   struct known_file **ret_file) must_check;

#endif
