/* SPDX-License-Identifier: Apache-2.0 */
/* Identifies the file of a mapping. The registry has all known ELF files, each once, however many
 * processes map it, and a list of the files that wait to be read.
 *
 * Two threads use it. The *reader* opens files while their processes live. The *symbolizer* takes
 * waiting files, has workers read them, and reports the result. One lock protects the registry; it
 * is never held while a file is opened.
 *
 * The result of reading a file is its content. Copies of a file (same build id, same symbols)
 * share one content. For each content, the registry keeps the owners of its files, and whether the
 * content has dropped something, so that a file must be opened again to get it back. */
#ifndef SYMBOL_FILE_REGISTRY_H
#define SYMBOL_FILE_REGISTRY_H

#include "base/cleanup.h"
#include "base/err.h"
#include "process/process_table.h"
#include "symbol/elf_cache_opts.h"
#include "symbol/file_owners.h"
#include "symbol/opener/file_opener.h"
#include "worker/worker_lanes.h"

#include <stdbool.h>
#include <stdint.h>

#define FILE_REGISTRY_MAX_OPEN 512
#define FILE_REGISTRY_MAX_OPEN_EACH 256 /* per owner */
#define FILE_REGISTRY_REOPEN_NS (UINT64_C(60) * 1000000000)

struct file_registry;
struct name_table;

struct file_registry_stats {
	uint64_t nr_files;
	uint64_t nr_waiting; /* files that are open until they are read */
	uint64_t nr_open_failures; /* process gone, not a regular local file, too many at once */
	uint64_t nr_bad_files; /* not ELF, damaged, over a limit, too slow to read */
};

/* The content of a file. All fields except the table must be zero when the registry gets it. */
struct elf_content {
	struct name_table *table; /* borrowed; used by the symbolizer only */
	uint64_t last_use; /* used by the symbolizer only; increases with each use of any file */

	/* Only the registry uses these fields, under its lock. */
	struct file_owners owners; /* of its files */
	unsigned int nr_files;
	bool wants_opening; /* part of it was dropped, or a file was closed */
	uint64_t dropped_ns; /* time of that (CLOCK_MONOTONIC) */
};

/* A file that the symbolizer has taken. */
struct file_to_read {
	uint32_t id;
	struct file_owners owners;
	struct file_identity identity;
	struct opened_file opened; /* owned */
};

/* Makes a registry, and opens the kernel's vDSO. If the vDSO cannot be opened, frames in it have no
 * names. Errors: -ENOMEM. */
int file_registry_new(const struct elf_cache_opts *opts, struct file_registry **ret_registry)
	must_check;
void file_registry_free(struct file_registry *registry);
DEFINE_FREEP(struct file_registry, file_registry_free)

/* Do the work of elf_cache_open() and elf_cache_open_file(). Only for the reader. */
int file_registry_open(struct file_registry *registry, uint64_t owner, uint32_t pid,
		       const struct mapping *mapping, uint32_t *ret_id) must_check;
int file_registry_open_file(struct file_registry *registry, uint64_t owner, const char *path,
			    int *fd, uint32_t *ret_id) must_check;

/* Returns the id of the kernel's vDSO; 0 if there is none. Any thread. */
uint32_t file_registry_vdso(const struct file_registry *registry);

/* Returns whether a file should be opened again: its content has dropped something or it could not
 * be read, at least FILE_REGISTRY_REOPEN_NS ago, or the registry has forgotten it. Any thread. */
bool file_registry_wants_file(struct file_registry *registry, uint32_t id);

/* Returns the file size in bytes; 0 if the id is unknown. Any thread. */
uint64_t file_registry_size(struct file_registry *registry, uint32_t id);

/* Any thread. */
struct file_registry_stats file_registry_get_stats(struct file_registry *registry);

/* The functions below are for the symbolizer. */

/* Returns the table of a file, or NULL if there is none yet, and counts as a use of the file.
 * *ret_is_waited_for is true if the file waits or is being read, for the first time or again.
 * Errors: -ENOENT not known, or the error of reading it. */
int file_registry_use(struct file_registry *registry, uint32_t id, struct name_table **ret_table,
		      bool *ret_is_waited_for) must_check;

/* Returns the same table, but does not count as a use. NULL also if the file is not known. */
struct name_table *file_registry_find_table(struct file_registry *registry, uint32_t id);

/* Takes the next waiting file for a lane: among the files of the best-ranked owners the smallest
 * one, or the oldest. Returns false when no file waits for that lane. */
bool file_registry_take(struct file_registry *registry, const struct worker_lanes *lanes,
			enum worker_lane lane, bool oldest, struct file_to_read *ret_file);

/* Lets a taken file wait again, and takes over its descriptors. Returns false if the list is
 * full. */
bool file_registry_put_back(struct file_registry *registry, struct file_to_read *file);

/* Report the result for a taken file: its content, or a negative error. */
void file_registry_finish(struct file_registry *registry, uint32_t id, struct elf_content *content);
void file_registry_fail(struct file_registry *registry, uint32_t id, int error);

/* Notes that part of a content was dropped at a time (CLOCK_MONOTONIC), so that one of its files
 * will be opened again. */
void file_registry_drop(struct file_registry *registry, struct elf_content *content,
			uint64_t dropped_ns);

/* Returns whether part of a content was dropped and no file of it was read since. */
bool file_registry_has_dropped(struct file_registry *registry, const struct elf_content *content);

/* Returns whether any file has this content. If none has, the symbolizer may free it. */
bool file_registry_has_files(struct file_registry *registry, const struct elf_content *content);

/* Returns the owners of all files that have this content. */
struct file_owners file_registry_owners(struct file_registry *registry,
					const struct elf_content *content);

#endif
