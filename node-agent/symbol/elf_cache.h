/* SPDX-License-Identifier: Apache-2.0 */
/* All ELF files seen so far, each once however many processes map it, and the names in them. Three
 * objects do the work:
 *
 *	file_registry.h		which file a mapping is, and which files wait to be read
 *	name_store.h		the tables of names under a byte budget
 *	symbol_client.h		the dialogue with the workers, which read the files
 *
 * Two threads use it. The *reader* calls elf_cache_open() while the process lives: that pins the
 * very file that is mapped, not one that happens to have its path now, and costs a few system
 * calls; at most FILE_REGISTRY_MAX_OPEN files are held open to be read. The *loader* asks for the
 * names of addresses (elf_cache_ask()), waits a while (elf_cache_wait()) and takes what there is
 * (elf_cache_symbolize()). Files are read by symbol workers (symbol_worker.h), the smallest first,
 * and names are demangled there. There are two workers, so that a file that takes long keeps the
 * loader from the others for two seconds at most (worker/worker_lanes.h).
 *
 * A file's names come from
 *	1. its separate debug file: by build id or debuglink, in its container or on the host,
 *	   else from debuginfod when that is wanted;
 *	2. its own tables (elf_symbols.h),
 * and where there is debug information, inlined functions and source lines from that. Better names
 * may come later, for later windows.
 *
 * Debug information is read a compile unit at a time, when an address of it is first asked for,
 * and no unit is read twice: what it says is kept (lines_table.h), in memory and on disk.
 *
 * Names are kept under `max_bytes`, no file's over half of it; those of the least recently used
 * file go first, and later frames get file+0xoffset until another process that maps the file is
 * opened, FILE_REGISTRY_REOPEN_NS later or more. Copies of a file (same build id, same symbols)
 * share one table. */
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

/* What `opts` borrows must outlive the cache. Errors: -ENOMEM. */
int elf_cache_new(const struct elf_cache_opts *opts, struct elf_cache **ret_cache) must_check;
void elf_cache_free(struct elf_cache *cache);
DEFINE_FREEP(struct elf_cache, elf_cache_free)

/* Opens the file behind a mapping of a live process through /proc/PID/map_files
 * (CAP_CHECKPOINT_RESTORE, Linux 5.9), else /proc/PID/root + path when device and inode agree.
 * Only regular files of file systems that answer without a user-space server (no FUSE, no network)
 * are opened. `*ret_id` is never 0; after FILE_INDEX_MAX others it is forgotten, but never given
 * to another file. `owner` says whose process it is: the id of its cgroup, 0 when that is not
 * known. Whose files take long to read waits longer for names than others do. Errors: -ESRCH
 * process or mapping gone, -EOPNOTSUPP not such a file, -EPERM, -ENOSPC too many waiting and
 * -EAGAIN: try at a later sample, -ENOMEM. */
int elf_cache_open(struct elf_cache *cache, uint64_t owner, uint32_t pid,
		   const struct mapping *mapping, uint32_t *ret_id) must_check;

/* The same for a file that is open already; only the host's debug files are looked for. Takes *fd
 * over, also on failure. */
int elf_cache_open_file(struct elf_cache *cache, uint64_t owner, const char *path, int *fd,
			uint32_t *ret_id) must_check;

/* The id of the kernel's vDSO, which is an ELF file; 0 where there is none. Any thread. */
uint32_t elf_cache_vdso(const struct elf_cache *cache);

/* Whether elf_cache_symbolize() can say all there is to say of an offset of a file; else, and if
 * waiting may help, it is asked for and the answer is false. */
bool elf_cache_ask(struct elf_cache *cache, uint32_t id, uint64_t file_offset);

/* Works on what was asked for and on the files that wait, until it is all there (true) or the time
 * has come. */
bool elf_cache_wait(struct elf_cache *cache, uint64_t until_ns);

/* After elf_cache_wait() gave up: whether all that is under way takes the slow worker long, or
 * waits in a lane that is contended (worker/worker_lanes.h). */
bool elf_cache_is_slow_only(const struct elf_cache *cache);

/* Names an offset of a file, as well as can be said now. The strings are borrowed until the next
 * call on the cache. *ret_frames is set in any case: without lines after an error, and with the
 * file offset for an address when the file's segments are not known. Errors: -ENOENT no symbol
 * there or not read yet, else as elf_symbols_load(). */
int elf_cache_symbolize(struct elf_cache *cache, uint32_t id, uint64_t file_offset,
			struct symbol_frames *ret_frames) must_check;

/* The executable segment that holds an offset of a file, as its program headers have it. False
 * while they are not known, and where none does. */
bool elf_cache_find_segment(struct elf_cache *cache, uint32_t id, uint64_t file_offset,
			    struct elf_block_segment *ret_segment);

/* Whether a file should be opened once more: it was evicted, or could not be read, some time ago,
 * or it was forgotten. Any thread. */
bool elf_cache_wants_file(struct elf_cache *cache, uint32_t id);

/* What names the content of a file that was read. For the loader: the strings are borrowed until
 * its next call on the cache. */
struct build_ids elf_cache_build_ids(struct elf_cache *cache, uint32_t id);

/* File size in bytes, 0 when the id is unknown. Any thread. */
uint64_t elf_cache_size(struct elf_cache *cache, uint32_t id);

/* Any thread. */
struct elf_cache_stats elf_cache_get_stats(struct elf_cache *cache);

#endif
