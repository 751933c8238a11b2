/* SPDX-License-Identifier: Apache-2.0 */
/* The files that processes map, each once however many of them map it. */
#ifndef PROCESS_MAPPED_FILE_H
#define PROCESS_MAPPED_FILE_H

#include "base/err.h"
#include "base/htable.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MAPPED_FILES_MAX ((size_t)1 << 20)

/* A file as far as a mapping tells it, shared by all processes that map it. While one of them maps it, the
 * inode number cannot be used again, so (device, inode, path) names one file; when only struct kept_files has it
 * (kept_files.h) that has to be checked. And nobody tells when a mapping
 * goes, and a program may load the new version of a plugin after the old one was removed: so events bring
 * the inode's generation, which /proc does not have. */
struct mapped_file {
	uint64_t inode; /* 0: no file behind it (anonymous, [vdso], …) */
	uint64_t generation; /* of the inode; 0: first seen in /proc */
	uint64_t number; /* in the order in which files were seen first */
	uint32_t dev_major;
	uint32_t dev_minor;
	char *path; /* owned; as the kernel shows it, in the mount namespace of the process; "" for
		     * anonymous memory; without " (deleted)" */
	uint32_t cookie; /* the consumer's: 0 at first (the pipeline keeps the ELF's id here) */
	uint32_t
		slot; /* the unwinder's: where its rows are, see unwind/tables/table_slots.h; 0 at first */
	bool is_postponed; /* the unwinder's: there was no time to open it for a slot, but there will be */
	bool is_outdated; /* another one has its key from now on: mapped_files_renew() */
	bool was_taken; /* since kept_files.c looked last */
	bool is_doubtful; /* mapped again after nobody did: it may have been changed meanwhile. The consumer clears it */
	uint32_t kept_plus_1; /* its place in struct kept_files */
	unsigned int nr_refs;
	uint32_t hash; /* of the key; with `row`, its place in the set */
	uint32_t row;
};

struct mapping_list;

/* Who is told before a file or a list that has something of his is freed. */
struct mapping_watcher {
	void (*file_gone)(struct mapped_file *file, void *data);
	void (*list_gone)(struct mapping_list *list, void *data);
	void *data;
};

/* A row is in use, or a link in the list of free ones. */
struct mapped_file_row {
	struct mapped_file *file; /* owned */
	uint32_t next_free_plus_1;
};

struct mapped_files {
	struct htable index;
	struct mapped_file_row *rows; /* owned */
	size_t nr_rows;
	size_t cap_rows;
	uint32_t first_free_plus_1;
	uint64_t last_number;
	uint64_t last_version; /* of a mapping list */
	struct mapping_watcher watcher; /* functions may be NULL */
	size_t nr_bytes; /* of the files, and of the mapping lists that refer to them */
};

/* What a file is known by. */
struct mapped_file_key {
	uint64_t inode;
	uint64_t generation; /* 0: unknown, the latest file is meant */
	uint32_t dev_major;
	uint32_t dev_minor;
	const char *path; /* path_len bytes */
	size_t path_len;
};

/* No file may be in use any more. */
void mapped_files_done(struct mapped_files *files);

/* The file with that key, made when new, with one more reference. Errors: -ENOSPC, -ENOMEM. */
int mapped_files_take(struct mapped_files *files, const struct mapped_file_key *key,
		      struct mapped_file **ret_file) must_check;

/* A file of which it turned out that it was changed: whoever takes its key from now on gets a new one, and so does the caller,
 * with a reference. The old one stays theirs who have it. Errors: as above. */
int mapped_files_renew(struct mapped_files *files, struct mapped_file *file,
		       struct mapped_file **ret_file) must_check;

struct mapped_file *mapped_file_ref(struct mapped_file *file);

/* Gives a reference back; the last one frees the file. */
void mapped_file_unref(struct mapped_files *files, struct mapped_file *file);

#endif
