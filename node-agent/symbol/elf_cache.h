/* SPDX-License-Identifier: Apache-2.0 */
/* All ELF files seen so far, each once however many processes map it, and the names in them.
 *
 * Two threads use it. The *reader* calls elf_cache_open() while the process lives: that pins the very file
 * that is mapped, not one that happens to have its path now, and costs a few system calls. The *loader*
 * calls elf_cache_symbolize(), which reads the file at first use. In between the file is held open; at most
 * ELF_CACHE_MAX_OPEN wait so. Symbol tables are kept under `max_bytes`, none over half of it; the names of
 * the least recently used go first, and later frames get file+0xoffset until another process that maps the
 * file is opened, ELF_CACHE_REOPEN_NS later or more.
 *
 * Copies of a file (same build id, same symbols) share one table. */
#ifndef SYMBOL_ELF_CACHE_H
#define SYMBOL_ELF_CACHE_H

#include "base/cleanup.h"
#include "base/err.h"
#include "process/process_table.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ELF_CACHE_MAX_OPEN 512
#define ELF_CACHE_MAX_FILES 65536
#define ELF_CACHE_REOPEN_NS (UINT64_C(60) * 1000000000)

struct elf_cache;

struct elf_cache_stats {
	uint64_t nr_files;
	uint64_t nr_waiting; /* held open */
	uint64_t nr_tables; /* with names, in memory */
	uint64_t nr_bytes;
	uint64_t nr_evicted;
	uint64_t nr_open_failures; /* process gone, not a regular local file, too many at once */
	uint64_t nr_bad_files; /* not ELF, damaged, over a limit */
};

/* `proc_fd` as for process_table_new(). Errors: -ENOMEM. */
int elf_cache_new(int proc_fd, size_t max_bytes, struct elf_cache **ret_cache) must_check;
void elf_cache_free(struct elf_cache *cache);
DEFINE_FREEP(struct elf_cache, elf_cache_free)

/* Opens the file behind a mapping of a live process through /proc/PID/map_files (CAP_CHECKPOINT_RESTORE,
 * Linux 5.9), else /proc/PID/root + path when device and inode agree. Only regular files of file systems
 * that answer without a user-space server (no FUSE, no network) are opened. `*ret_id` is never 0; after
 * ELF_CACHE_MAX_FILES others it is forgotten, but never given to another file.
 * Errors: -ESRCH process or mapping gone, -EOPNOTSUPP not such a file, -EPERM, -ENOSPC too many waiting and
 * -EAGAIN: try at a later sample, -ENOMEM. */
int elf_cache_open(struct elf_cache *cache, uint32_t pid, const struct mapping *mapping,
		   uint32_t *ret_id) must_check;

struct elf_frame {
	const char *name; /* demangled */
	const char *system_name; /* as in the file: any bytes but NUL */
	uint64_t address; /* virtual address, as addr2line takes it */
};

/* Names an offset of a file. The strings are borrowed until the next call of this function.
 * *ret_frame is set in any case: without names after an error, and with the file offset for an address when
 * the file's segments are not known. Errors: -ENOENT no symbol there, else as elf_symbols_load(). */
int elf_cache_symbolize(struct elf_cache *cache, uint32_t id, uint64_t file_offset,
			struct elf_frame *ret_frame) must_check;

/* Until when elf_cache_symbolize() may read files that were not read yet; frames in others have no name
 * later than that. A file can take the loader a second, and a container can map hundreds. At first there is
 * no such time. */
void elf_cache_set_deadline(struct elf_cache *cache, uint64_t deadline_ns);

/* Reads one of the files that were left waiting, if the deadline allows; false when none was. */
bool elf_cache_read_next(struct elf_cache *cache);

/* Whether a known file was evicted some time ago and may be opened once more. Any thread. */
bool elf_cache_wants_file(struct elf_cache *cache, uint32_t id);

/* Build id in hex, "" while unknown; file size in bytes, 0 when the id is. Any thread; the string lives as
 * long as the cache. */
const char *elf_cache_build_id(struct elf_cache *cache, uint32_t id);
uint64_t elf_cache_size(struct elf_cache *cache, uint32_t id);

struct elf_cache_stats elf_cache_get_stats(struct elf_cache *cache);

#endif
