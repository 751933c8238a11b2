/* SPDX-License-Identifier: Apache-2.0 */
/* What elf_cache_files.c (the reader's side), elf_cache.c and elf_loader.c (tables, the loader's side) share.
 *
 * The lock covers the files, the counters and who refers to a table; it is never held while a file is read or
 * opened, nor while the worker is talked to. Tables themselves are the loader's: it alone adds, searches, empties
 * and frees them. A table that no file has any more is freed at the next load, so that the reader frees nothing
 * under its hands. */
#ifndef SYMBOL_ELF_CACHE_PARTS_H
#define SYMBOL_ELF_CACHE_PARTS_H

#include "base/intern.h"
#include "symbol/elf_cache.h"
#include "symbol/elf_files.h"
#include "symbol/elf_table.h"
#include "symbol/frame_cache.h"
#include "symbol/symbol_worker.h"

#include <pthread.h>

enum elf_job_kind {
	JOB_NONE,
	JOB_TABLE, /* a file's own symbols */
	JOB_CRC, /* of what may be its debug file */
	JOB_DEBUG_TABLE, /* symbols of its debug file */
	JOB_LINES,
};

/* What the worker is doing, and for whom. */
struct elf_job {
	enum elf_job_kind kind;
	struct elf_file file; /* what was taken from the file that is read: id, descriptors, path */
	struct elf_fingerprint print;
	bool has_print;
	struct elf_table *table; /* borrowed; once there is one */
	struct debug_file debug; /* fd -EBADF: none under examination */
	size_t nth_debug; /* candidates so far */
	bool is_shared; /* other files may have the table, too */
	bool is_downloaded; /* the debug file is debuginfod's */
	size_t nr_sent; /* JOB_LINES: of the table's wanted addresses */
};

/* What the worker may take. */
struct elf_timeouts {
	uint64_t table_ns;
	uint64_t crc_ns;
	uint64_t lines_ns;
};

struct elf_cache {
	struct elf_cache_opts opts;
	uint32_t vdso;

	pthread_mutex_t lock;
	struct elf_files files;
	uint32_t waiting[ELF_CACHE_MAX_OPEN]; /* in the order in which they came */
	struct intern build_ids;
	uint64_t nr_uses; /* counts up with each use of a file */
	struct elf_cache_stats stats;

	/* From here on the loader's alone. */
	struct worker_client *client;
	struct elf_timeouts timeouts;
	struct elf_job job;
	uint64_t nr_starts; /* of jobs */
	uint64_t nr_loads; /* of files */
	struct elf_table *tables; /* owned list */
	uint64_t last_key;
	uint64_t nr_wraps; /* of keys */
	struct frame_cache frames;
	uint64_t await_download_ns; /* a file that was asked for may come by then */
	uint64_t ask_again_ns; /* when debuginfod is asked for the others again */
};

static inline void elf_cache_unlockp(pthread_mutex_t **lock)
{
	pthread_mutex_unlock(*lock);
}

/* Holds the cache's lock up to the end of the block. */
#define LOCKED(cache)                                                                              \
	_cleanup_(elf_cache_unlockp) pthread_mutex_t *locked_ = &(cache)->lock;                    \
	pthread_mutex_lock(locked_)

/* elf_cache_files.c: opens the kernel's own file; without it its code is named by offset. */
void elf_cache_open_vdso(struct elf_cache *cache);

/* elf_cache_files.c: takes the next file that is to be read out of those that wait: id, descriptors and path are the caller's
 * from then on. False when none waits. */
bool elf_cache_take_waiting(struct elf_cache *cache, bool oldest, struct elf_file *ret_file);

/* elf_cache_files.c: what came of it; `table` NULL and `error`, or the table. */
void elf_cache_finish_file(struct elf_cache *cache, uint32_t id, struct elf_table *table,
			   int error);

/* elf_cache.c: adds to one of the cache's own figures. */
void elf_cache_count(struct elf_cache *cache, uint64_t *counter, uint64_t nr);

/* elf_tables.c */
struct elf_table *elf_tables_find_copy(struct elf_cache *cache,
				       const struct elf_fingerprint *print);
struct elf_table *elf_tables_find_wanting(struct elf_cache *cache);
int elf_tables_add(struct elf_cache *cache, struct elf_symbols *symbols,
		   const struct elf_fingerprint *print, struct elf_table **ret_table) must_check;

/* elf_tables.c: frees the tables of files that were replaced, counts the rest, and drops names until the budget is
 * kept; never those of `in_use` (may be NULL), whose size is bounded. */
void elf_tables_tidy(struct elf_cache *cache, const struct elf_table *in_use);

/* elf_tables.c: gives a table another key: what was remembered by the old one is out of date. After 268 million of them
 * they start over. */
#define ELF_TABLES_MAX_KEY ((UINT64_C(1) << 28) - 1)
void elf_tables_renew_key(struct elf_cache *cache, struct elf_table *table);

/* elf_tables.c: a key that no table ever had or will have. */
uint64_t elf_tables_full_key(const struct elf_cache *cache, const struct elf_table *table);

/* elf_downloads.c: asks debuginfod, if there is one, for the debug file of a table. */
void elf_downloads_ask(struct elf_cache *cache, struct elf_table *table);

/* elf_downloads.c: whether one may come at any moment, for any table or for this one. */
bool elf_downloads_are_awaited(struct elf_cache *cache);
bool elf_downloads_are_awaited_by(const struct elf_cache *cache, const struct elf_table *table);

/* elf_downloads.c: the next debug file that has come, the caller's, and who wants it; false when there is none. */
bool elf_downloads_next(struct elf_cache *cache, struct elf_table **ret_table, int *ret_fd);

/* elf_loader.c: nothing is under way yet. */
void elf_loader_init(struct elf_cache *cache);

/* elf_loader.c: hands the worker what there is to do, unless it is at work. */
void elf_loader_start_next(struct elf_cache *cache);

/* elf_loader.c: handles the answer to the present job; takes `bytes` over. */
void elf_loader_take_answer(struct elf_cache *cache, int error, void *bytes, size_t len);

/* elf_loader.c: gives up what is under way. */
void elf_loader_abandon(struct elf_cache *cache);

/* elf_loader_lines.c: asks for the lines that a table wants. Errors: as worker_client_send(). */
int elf_loader_send_lines(struct elf_cache *cache, struct elf_table *table) must_check;

/* elf_loader_lines.c: remembers the answer, or that there is none. */
void elf_loader_take_lines(struct elf_cache *cache, int error, const void *bytes, size_t len);

/* elf_cache.c: finds the function of an offset by symbol tables and remembers it. Errors: as frame_cache_add(). */
int elf_cache_resolve(struct elf_cache *cache, const struct elf_table *table, uint64_t file_offset,
		      enum frames_state state) must_check;

/* elf_cache.c: what an offset is remembered by. */
uint64_t elf_cache_place(const struct elf_table *table, uint64_t file_offset);

#endif
