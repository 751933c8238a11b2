/* SPDX-License-Identifier: Apache-2.0 */
/* The names in all ELF files that are in use. A file is read once, however many processes map it.
 * Three objects do the work:
 *
 *	file_registry.h		identifies the file of a mapping, and keeps files that wait to be read
 *	name_store.h		keeps the tables of names under a byte budget
 *	symbol_client.h		asks the workers, which read the files
 *
 * Two threads use the cache. The *reader* calls elf_cache_open() while the process lives. This
 * holds the mapped file itself open, even if its path now leads to another file, and costs a few
 * system calls. At most FILE_REGISTRY_MAX_OPEN files wait open. The *symbolizer* requests the names
 * of addresses (elf_cache_ask()), waits for a while (elf_cache_wait()) and takes the names that are
 * known then (elf_cache_symbolize()). Symbol workers (symbol_worker.h) read the files, the smallest
 * first, and demangle names. There are two workers, so that a slow file delays the others for at
 * most two seconds (worker/worker_lanes.h).
 *
 * The names of a file come from
 *	1. its separate debug file: by build id or debuglink, in its container or on the host,
 *	   or else from debuginfod if that is enabled;
 *	2. its own tables (elf_symbols.h).
 * Inlined functions and source lines come from debug information, if there is any. Better names may
 * arrive later, for later windows.
 *
 * Debug information is read per compile unit, when the first address in it is requested. No unit is
 * read twice: its lines are kept (lines_table.h), in memory and on disk.
 *
 * Names take at most `max_bytes`, and those of one file half of it. The names of the least recently
 * used file are dropped first. Its later frames are file+0xoffset, until another process that maps
 * the file is opened, at least FILE_REGISTRY_REOPEN_NS later. Copies of a file (same build id, same
 * symbols) share one table. */
#ifndef SYMBOL_ELF_CACHE_H
#define SYMBOL_ELF_CACHE_H

#include "base/cleanup.h"
#include "base/err.h"
#include "elf/build_id.h"
#include "process/process_table.h"
#include "symbol/elf/elf_block.h"
#include "symbol/elf_cache_opts.h"
#include "symbol/file_registry.h"
#include "symbol/frame/symbol_frames.h"
#include "symbol/name_store.h"
#include "symbol/symbol_client.h"

#include <stdbool.h>
#include <stdint.h>

struct elf_cache;

struct elf_cache_stats {
	struct file_registry_stats files;
	struct name_store_stats tables;
	struct line_store_stats lines;
	struct place_names_stats names;
	uint64_t nr_debug_files; /* separate debug files that were found */
	struct worker_stats worker; /* this one and the next may be a little out of date */
	struct debuginfod_stats debuginfod;
};

/* Objects that `opts` borrows must outlive the cache. Errors: -ENOMEM. */
int elf_cache_new(const struct elf_cache_opts *opts, struct elf_cache **ret_cache) must_check;
void elf_cache_free(struct elf_cache *cache);
DEFINE_FREEP(struct elf_cache, elf_cache_free)

/* Opens the file of a mapping of a live process through /proc/PID/map_files
 * (CAP_CHECKPOINT_RESTORE, Linux 5.9), or else through /proc/PID/root and its path if device and
 * inode agree. Opens only regular files of file systems that work without a user-space server (no
 * FUSE, no network). `*ret_id` is never 0. After FILE_INDEX_MAX other files it is forgotten, but no
 * other file gets it. `owner` is the id of the process's cgroup, or 0 if it is unknown. The names
 * of an owner whose files take long to read wait longer than others. Errors: -ESRCH process or
 * mapping gone, -EOPNOTSUPP not such a file, -EPERM; -ENOSPC too many files wait, and -EAGAIN: try
 * again with a later sample; -ENOMEM. */
int elf_cache_open(struct elf_cache *cache, uint64_t owner, uint32_t pid,
		   const struct mapping *mapping, uint32_t *ret_id) must_check;

/* The same for a file that is open already. Its debug files are only searched for on the host.
 * Takes *fd over, also on failure. */
int elf_cache_open_file(struct elf_cache *cache, uint64_t owner, const char *path, int *fd,
			uint32_t *ret_id) must_check;

/* Returns the id of the kernel's vDSO, which is an ELF file; 0 if there is none. Any thread. */
uint32_t elf_cache_vdso(const struct elf_cache *cache);

/* Returns true if elf_cache_symbolize() has the final names of an offset, or waiting would not
 * help. Otherwise requests them and returns false. */
bool elf_cache_ask(struct elf_cache *cache, uint32_t id, uint64_t file_offset);

/* Works on the requests and on the files that wait. Returns true when all is done, or false at
 * `until_ns` (CLOCK_MONOTONIC). */
bool elf_cache_wait(struct elf_cache *cache, uint64_t until_ns);

/* After elf_cache_wait() has returned false: returns whether all remaining work takes the slow
 * worker long, or waits in a lane that is contended (worker/worker_lanes.h). */
bool elf_cache_is_slow_only(const struct elf_cache *cache);

/* Names an offset of a file as well as possible now. The strings are borrowed until the next call
 * on the cache. *ret_frames is always set: after an error it has no lines, and its address is the
 * file offset if the segments of the file are not known. Errors: -ENOENT no symbol there or not
 * read yet, else as elf_symbols_load(). */
int elf_cache_symbolize(struct elf_cache *cache, uint32_t id, uint64_t file_offset,
			struct symbol_frames *ret_frames) must_check;

/* Finds the executable segment that holds an offset of a file, by its program headers. Returns
 * false if they are not known, or no segment holds the offset. */
bool elf_cache_find_segment(struct elf_cache *cache, uint32_t id, uint64_t file_offset,
			    struct elf_block_segment *ret_segment);

/* Returns whether a file should be opened again: its names were dropped or it could not be read,
 * some time ago, or it was forgotten. Any thread. */
bool elf_cache_wants_file(struct elf_cache *cache, uint32_t id);

/* Returns the identifiers of the content of a file that was read. Only for the symbolizer: the
 * strings are borrowed until its next call on the cache. */
struct build_ids elf_cache_build_ids(struct elf_cache *cache, uint32_t id);

/* Returns the file size in bytes; 0 if the id is unknown. Any thread. */
uint64_t elf_cache_size(struct elf_cache *cache, uint32_t id);

/* Any thread. */
struct elf_cache_stats elf_cache_get_stats(struct elf_cache *cache);

#endif
