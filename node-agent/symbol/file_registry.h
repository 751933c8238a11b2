/* SPDX-License-Identifier: Apache-2.0 */
/* Which file a mapping is: all ELF files that were met, each once however many processes map it,
 * and those of them that wait to be read.
 *
 * Two threads use it. The *reader* opens files while their processes live; the *loader* takes them
 * out to have them read, and says what came of it. The lock covers everything here; it is not held
 * while a file is opened.
 *
 * What was read of a file is its content. Copies of a file (same build id, same symbols) share
 * one. The registry knows of a content who owns its files, and whether it has lost something that
 * opening a file once more would bring back. */
#ifndef SYMBOL_FILE_REGISTRY_H
#define SYMBOL_FILE_REGISTRY_H

#include "base/cleanup.h"
#include "base/err.h"
#include "process/process_table.h"
#include "symbol/file_owners.h"
#include "symbol/opener/file_opener.h"
#include "worker/worker_lanes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FILE_REGISTRY_MAX_OPEN 512
#define FILE_REGISTRY_MAX_OPEN_EACH 256 /* of one owner */
#define FILE_REGISTRY_REOPEN_NS (UINT64_C(60) * 1000000000)

struct file_registry;
struct name_table;

struct file_registry_opts {
	int proc_fd; /* borrowed; as for process_table_new() */
	bool wants_root; /* the processes' root directories are held open with their files */
};

struct file_registry_stats {
	uint64_t nr_files;
	uint64_t nr_waiting; /* held open */
	uint64_t nr_open_failures; /* process gone, not a regular local file, too many at once */
	uint64_t nr_bad_files; /* not ELF, damaged, over a limit, too slow to read */
};

/* Zeros, but for the table, before the registry gets it. */
struct elf_content {
	struct name_table *table; /* borrowed; the loader's, what was read */
	uint64_t last_use; /* the loader's; counts up with each use of any file */

	/* The registry's, under its lock. */
	struct file_owners owners; /* of its files */
	unsigned int nr_files;
	bool wants_opening; /* something of it was dropped or closed */
	uint64_t dropped_ns; /* when, by CLOCK_MONOTONIC */
};

/* A file that was taken out to be read. */
struct file_to_read {
	uint32_t id;
	struct file_owners owners;
	struct file_identity identity;
	struct opened_file opened; /* owned */
};

/* Opens the kernel's vDSO; without it its code is named by offset. Errors: -ENOMEM. */
int file_registry_new(const struct file_registry_opts *opts, struct file_registry **ret_registry)
	must_check;
void file_registry_free(struct file_registry *registry);
DEFINE_FREEP(struct file_registry, file_registry_free)

/* For the reader: as elf_cache_open() and elf_cache_open_file(). */
int file_registry_open(struct file_registry *registry, uint64_t owner, uint32_t pid,
		       const struct mapping *mapping, uint32_t *ret_id) must_check;
int file_registry_open_file(struct file_registry *registry, uint64_t owner, const char *path,
			    int *fd, uint32_t *ret_id) must_check;

/* The id of the kernel's vDSO; 0 where there is none. Any thread. */
uint32_t file_registry_vdso(const struct file_registry *registry);

/* Whether a file should be opened once more: its content has lost something, or it could not be
 * read, some time ago, or it was forgotten. Any thread. */
bool file_registry_wants_file(struct file_registry *registry, uint32_t id);

/* File size in bytes, 0 when the id is unknown. Any thread. */
uint64_t file_registry_size(struct file_registry *registry, uint32_t id);

/* Any thread. */
struct file_registry_stats file_registry_get_stats(struct file_registry *registry);

/* From here on for the loader. */

/* What was read of a file, NULL before it was; this counts as a use of it. *ret_is_waited_for
 * tells whether it waits or is being read, be it once more. Errors: -ENOENT not known, or what
 * kept it from being read. */
int file_registry_use(struct file_registry *registry, uint32_t id, struct name_table **ret_table,
		      bool *ret_is_waited_for) must_check;

/* The same without being a use; NULL also when the file is not known. */
struct name_table *file_registry_find_table(struct file_registry *registry, uint32_t id);

/* Takes the next file that a lane is to read out of those that wait: the smallest one, or the
 * oldest, of the owners that come first. False when none waits for that lane. */
bool file_registry_take(struct file_registry *registry, const struct worker_lanes *lanes,
			enum worker_lane lane, bool oldest, struct file_to_read *ret_file);

/* Has a file wait again that was taken. Takes over what is open. False when no more may wait. */
bool file_registry_put_back(struct file_registry *registry, struct file_to_read *file);

/* What came of a file that was taken: its content, or a negative error. */
void file_registry_finish(struct file_registry *registry, uint32_t id, struct elf_content *content);
void file_registry_fail(struct file_registry *registry, uint32_t id, int error);

/* Something of a content was dropped at a time, by CLOCK_MONOTONIC: its files are to be opened
 * once more. */
void file_registry_drop(struct file_registry *registry, struct elf_content *content,
			uint64_t dropped_ns);

/* Whether files of a content are to be opened once more, sooner or later. */
bool file_registry_has_dropped(struct file_registry *registry, const struct elf_content *content);

/* Whether any file has a content; one that none has is the loader's to free. */
bool file_registry_has_files(struct file_registry *registry, const struct elf_content *content);

struct file_owners file_registry_owners(struct file_registry *registry,
					const struct elf_content *content);

#endif
