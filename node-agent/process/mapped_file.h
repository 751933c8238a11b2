/* SPDX-License-Identifier: Apache-2.0 */
/* The files that processes map, each once, however many processes map it. */
#ifndef PROCESS_MAPPED_FILE_H
#define PROCESS_MAPPED_FILE_H

#include "base/err.h"
#include "base/htable.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MAPPED_FILES_MAX ((size_t)1 << 20)

/* A file as a mapping identifies it, shared by all processes that map it. While one of them maps
 * it, its inode number cannot be reused, so (device, inode, path) identifies one file. When only
 * struct kept_files has it, that has to be checked. The kernel does not report when a mapping is
 * removed, and a program may load the new version of a plugin after the old one was deleted. So
 * events have the inode's generation, which /proc lacks. */
struct mapped_file {
	uint64_t inode; /* 0: no file behind it (anonymous, [vdso], …) */
	uint64_t generation; /* of the inode; 0: first seen in /proc */
	uint64_t number; /* counts files in the order in which they were first seen */
	uint32_t dev_major;
	uint32_t dev_minor;
	char *path; /* owned; as the kernel shows it, in the mount namespace of the process; "" for
		     * anonymous memory; without " (deleted)" */
	uint32_t cookie; /* for the consumer; 0 at first (the pipeline keeps the ELF's id here) */
	uint32_t slot; /* for the unwind tables: see unwind/tables/table_slots.h; 0 at first */
	uint32_t runtime; /* for the consumer: see pipeline/runtime_binder.h; 0 at first */
	bool has_layout; /* for the consumer: its slot has the layout of a runtime */
	bool is_postponed; /* for the unwind tables: there was no time yet to open it for a slot */
	bool is_outdated; /* replaced under its key: mapped_files_renew() */
	bool was_taken; /* since the last round of kept_files.c */
	/* It was mapped again after a time without mappings: it may have changed. The consumer
	 * clears it. */
	bool is_doubtful;
	uint32_t kept_plus_1; /* its place in struct kept_files */
	unsigned int nr_refs;
	uint32_t hash; /* of the key; with `row`, its place in the set */
	uint32_t row;
};

struct mapping_list;

/* Called before a file or a list is freed. */
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

/* The values that identify a file. */
struct mapped_file_key {
	uint64_t inode;
	uint64_t generation; /* 0: unknown, the latest file is meant */
	uint32_t dev_major;
	uint32_t dev_minor;
	const char *path; /* path_len bytes */
	size_t path_len;
};

/* No file may be in use. */
void mapped_files_done(struct mapped_files *files);

/* Returns the file with a key, with one more reference, and makes it if it is new. Errors: -ENOSPC,
 * -ENOMEM. */
int mapped_files_take(struct mapped_files *files, const struct mapped_file_key *key,
		      struct mapped_file **ret_file) must_check;

/* Replaces a file that turned out to have changed. The caller gets a new file, with a reference, as
 * do later calls for its key. Holders of the old file keep it. Errors: as above. */
int mapped_files_renew(struct mapped_files *files, struct mapped_file *file,
		       struct mapped_file **ret_file) must_check;

struct mapped_file *mapped_file_ref(struct mapped_file *file);

/* Gives a reference back; the last one frees the file. */
void mapped_file_unref(struct mapped_files *files, struct mapped_file *file);

#endif
