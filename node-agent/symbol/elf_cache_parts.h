/* SPDX-License-Identifier: Apache-2.0 */
/* What file_registry.c (the reader's side), elf_cache.c and symbol_client.c (tables, the loader's side) share.
 *
 * The lock covers the files, the counters and who refers to a table; it is never held while a file is read or
 * opened, nor while a worker is talked to. Tables themselves are the loader's: it alone adds, searches, empties
 * and frees them. A table that no file has any more is freed at the next load, so that the reader frees nothing
 * under its hands. */
#ifndef SYMBOL_ELF_CACHE_PARTS_H
#define SYMBOL_ELF_CACHE_PARTS_H

#include "base/intern.h"
#include "symbol/elf_cache.h"
#include "symbol/file_index.h"
#include "symbol/name_table.h"
#include "symbol/frame/frame_cache.h"
#include "symbol/dwarf/lines_pace.h"
#include "symbol/worker/symbol_worker.h"

#include <pthread.h>

enum elf_job_kind {
	JOB_NONE,
	JOB_FINGERPRINT, /* of a file that waited */
	JOB_TABLE, /* its own symbols */
	JOB_CRC, /* of what may be its debug file */
	JOB_DEBUG_TABLE, /* symbols of its debug file */
	JOB_NAMES, /* of a table: to be demangled */
	JOB_LINES_KEY, /* of a table: which file its lines come from */
	JOB_LINES,
};

/* What a worker is doing, and for whom. */
struct elf_job {
	enum elf_job_kind kind;
	enum worker_lane lane;
	struct known_file
		file; /* what was taken from the file that is read: id, descriptors, path */
	struct elf_fingerprint print;
	bool has_print;
	struct name_table *table; /* borrowed; once there is one */
	struct debug_file debug; /* fd -EBADF: none under examination */
	size_t nth_debug; /* candidates so far */
	bool is_shared; /* other files may have the table, too */
	bool is_downloaded; /* the debug file is debuginfod's */
	bool is_try; /* what was sent has little time (worker/worker_lanes.h) */
	bool is_late; /* what was sent is of a file whose owners come last */
	uint64_t cpu_ns; /* that the lane's workers had taken when the request was sent */
	size_t nr_sent; /* JOB_LINES: of the table's wanted addresses; JOB_NAMES: of its names */
};

/* What a worker may take for an answer, in the slow lane. */
struct elf_limits {
	struct worker_limits table; /* of a fingerprint as well */
	struct worker_limits crc;
	struct worker_limits names;
	struct worker_limits lines;
};

/* Jobs that took too long for the fast lane, until the slow one is free. Those for which there is no place have failed. */
#define ELF_CACHE_MAX_PARKED 32

struct elf_cache {
	struct elf_cache_opts opts;
	uint32_t vdso;

	pthread_mutex_t lock;
	struct file_index files;
	uint32_t waiting[ELF_CACHE_MAX_OPEN]; /* in the order in which they came */
	struct intern build_ids;
	uint64_t nr_uses; /* counts up with each use of a file */
	struct elf_cache_stats stats;

	/* From here on the loader's alone. */
	struct worker_lanes *lanes;
	struct elf_limits limits;
	uint64_t seed; /* of fingerprints */
	struct row_cache *lines_cache; /* owned; line tables on disk, or NULL */
	struct lines_pace paces[WORKER_NR_LANES]; /* of reading debug information */
	struct elf_job jobs[WORKER_NR_LANES];
	struct elf_job parked[ELF_CACHE_MAX_PARKED];
	size_t nr_parked;
	uint64_t nr_starts; /* of jobs */
	uint64_t nr_loads; /* of files */
	struct name_table *tables; /* owned list */
	uint64_t last_key;
	uint64_t nr_wraps; /* of keys */
	uint64_t nr_pooled_bytes; /* of tables and frames, taken from the pool */
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

/* file_registry.c: opens the kernel's own file; without it its code is named by offset. */
void elf_cache_open_vdso(struct elf_cache *cache);

/* file_registry.c: takes the next file that a lane is to read out of those that wait: id, descriptors and path are the
 * caller's from then on. False when none waits for that lane. */
bool elf_cache_take_waiting(struct elf_cache *cache, enum worker_lane lane, bool oldest,
			    struct known_file *ret_file);

/* file_registry.c: a file that was taken waits again; its descriptors and path are taken over. False when no more files may
 * wait. */
bool elf_cache_put_back(struct elf_cache *cache, struct known_file *file);

/* file_registry.c: what came of it; `table` NULL and `error`, or the table. */
void elf_cache_finish_file(struct elf_cache *cache, uint32_t id, struct name_table *table,
			   int error);

/* elf_cache.c: adds to one of the cache's own figures. */
void elf_cache_count(struct elf_cache *cache, uint64_t *counter, uint64_t nr);

/* name_store.c */
struct name_table *name_store_find_copy(struct elf_cache *cache,
					const struct elf_fingerprint *print);

/* name_store.c: the table whose turn it is in a lane, of those that want names or lines and that no job has; or NULL. */
struct name_table *name_store_find_wanting(struct elf_cache *cache, enum worker_lane lane,
					   enum elf_job_kind kind);

/* name_store.c */
int name_store_add(struct elf_cache *cache, struct elf_symbols *symbols,
		   const struct elf_fingerprint *print, struct name_table **ret_table) must_check;

/* name_store.c: frees the tables of files that were replaced, counts the rest, and drops names until the budget is
 * kept; never those of `in_use` (may be NULL), whose size is bounded. */
void name_store_tidy(struct elf_cache *cache, const struct name_table *in_use);

/* name_store.c: gives a table another key: what was remembered by the old one is out of date. After 268 million of them
 * they start over. */
#define NAME_STORE_MAX_KEY ((UINT64_C(1) << 28) - 1)
void name_store_renew_key(struct elf_cache *cache, struct name_table *table);

/* name_store.c: a key that no table ever had or will have. */
uint64_t name_store_full_key(const struct elf_cache *cache, const struct name_table *table);

/* debug_downloads.c: asks debuginfod, if there is one, for the debug file of a table. */
void elf_downloads_ask(struct elf_cache *cache, struct name_table *table);

/* debug_downloads.c: whether one may come at any moment, for any table or for this one. */
bool elf_downloads_are_awaited(struct elf_cache *cache);
bool elf_downloads_are_awaited_by(const struct elf_cache *cache, const struct name_table *table);

/* debug_downloads.c: the next debug file that has come, the caller's, and who wants it; false when there is none. */
bool elf_downloads_next(struct elf_cache *cache, struct name_table **ret_table, int *ret_fd);

/* symbol_client.c: nothing is under way yet. */
void elf_loader_init(struct elf_cache *cache);

/* symbol_client.c: hands each worker that is not at work what there is to do. */
void elf_loader_start_next(struct elf_cache *cache);

/* How far the workers are. */
enum elf_progress {
	PROGRESS_DONE, /* there is nothing to do */
	PROGRESS_STUCK, /* a worker cannot be started yet; none is at work */
	PROGRESS_AT_WORK,
	PROGRESS_HALF_STUCK, /* one is at work, the other cannot be started yet */
};

/* symbol_client.c */
enum elf_progress elf_loader_progress(const struct elf_cache *cache);

/* symbol_client.c: handles the answers that have come. */
void elf_loader_take_answers(struct elf_cache *cache);

/* symbol_client.c: gives up what is under way. */
void elf_loader_abandon(struct elf_cache *cache);

/* symbol_client.c: whether some job has the table: then it is not freed, and keeps its names and files. */
bool elf_loader_uses(const struct elf_cache *cache, const struct name_table *table);

/* symbol_client.c: a lane without a job; and the job of a lane from now on, what it had is forgotten. */
extern const struct elf_job elf_loader_no_job;
void elf_loader_set_job(struct elf_job *job, const struct elf_job *other);

/* symbol_jobs.c: sends a request of a job to the worker of its lane. Errors: as worker_client_send(). */
int elf_loader_send(struct elf_cache *cache, struct elf_job *job,
		    const struct worker_request *request, const void *bytes, const int *fds,
		    size_t nr_fds) must_check;

/* symbol_jobs.c: ends the worker of a job's lane, whose answer was malformed, as it may have been taken over; and punishes. */
void elf_loader_distrust(struct elf_cache *cache, const struct elf_job *job);

/* symbol_jobs.c: what the owner of a job has asked for takes the slow lane from now on, at least what is about its table. */
void elf_loader_punish(struct elf_cache *cache, const struct elf_job *job);

/* symbol_jobs.c: counts what the answer to a job took, for the order of the fast lane. */
void elf_loader_charge(struct elf_cache *cache, const struct elf_job *job);

/* symbol_jobs.c: whether an error is one that more time, or more memory, may help against, and the job is to be done
 * again: its lane is free then. */
bool elf_loader_repeat(struct elf_cache *cache, struct elf_job *job, int error);

/* symbol_client.c: the job has what it can get for now. */
void elf_loader_end_job(struct elf_cache *cache, struct elf_job *job);

/* symbol_client.c: a table from an answer, which is taken over. Errors: as elf_symbols_from_block(). */
int elf_loader_take_symbols(struct elf_cache *cache, const struct elf_job *job, void *bytes,
			    size_t len, struct elf_symbols **ret_symbols) must_check;

/* debug_search.c: the job's table has the file's own names: looks for its debug file if it needs one. */
void elf_loader_complete(struct elf_cache *cache, struct elf_job *job);

/* debug_search.c: handle an answer about what may be a debug file; `bytes` of the second are taken over. */
void elf_loader_take_crc(struct elf_cache *cache, struct elf_job *job, int error, const void *bytes,
			 size_t len);
void elf_loader_take_debug_table(struct elf_cache *cache, struct elf_job *job, int error,
				 void *bytes, size_t len);

/* line_store.c: opens what is kept on disk, if anything is; without it, or when it cannot be used, all is made anew. */
void elf_lines_open(struct elf_cache *cache);

/* line_store.c: lines_fd is another file from now on, which has that key; NULL: it is not known. What was known of other files' lines is
 * forgotten. */
void elf_lines_set_key(struct elf_cache *cache, struct name_table *table,
		       const struct elf_fingerprint *print);

/* line_store.c: lines_fd is another file, whose key is to be found out. */
void elf_lines_ask_key(struct name_table *table);

/* line_store.c: reads what is on disk, once. */
void elf_lines_load(struct elf_cache *cache, struct name_table *table);

/* line_store.c: adds units from a worker, none of which the table has. Errors: as lines_table_add(). */
int elf_lines_add(struct elf_cache *cache, struct name_table *table, const void *bytes, size_t len)
	must_check;

/* line_store.c: remembers what an address is called, if that is known: by its lines, or that it has none. False when somebody has to look. */
bool elf_lines_resolve(struct elf_cache *cache, struct name_table *table, uint64_t file_offset,
		       uint64_t address);

/* line_store.c: bytes that a table may still take. */
size_t elf_lines_room(const struct elf_cache *cache, const struct name_table *table);

/* line_store.c: writes tables to disk that have changed and do not any more, or one at once. */
void elf_lines_save_settled(struct elf_cache *cache);
void elf_lines_save(struct elf_cache *cache, struct name_table *table);

/* lines_request.c: asks for the lines that a table wants and that are not known. Where none are left the job has ended. Errors: as
 * worker_client_send(). */
int elf_loader_send_lines(struct elf_cache *cache, struct elf_job *job) must_check;

/* lines_request.c: asks which file the lines come from. Errors: as above. */
int elf_loader_send_lines_key(struct elf_cache *cache, struct elf_job *job) must_check;
void elf_loader_take_lines_key(struct elf_cache *cache, struct elf_job *job, int error,
			       const void *bytes, size_t len);

/* lines_request.c: remembers the answer, or that there is none. */
void elf_loader_take_lines(struct elf_cache *cache, struct elf_job *job, int error,
			   const void *bytes, size_t len);

/* names_request.c: asks for the names of a place that nobody asked for, on the table's account. Returns 1 when all are as they will be
 * for now, 0 when there is something to wait for. Errors: -ENOENT the place is not known. */
int elf_names_ask(struct elf_cache *cache, struct name_table *table, uint64_t place) must_check;

/* names_request.c: asks for names that a table wants. Errors: as worker_client_send(). */
int elf_names_send(struct elf_cache *cache, struct elf_job *job) must_check;

/* names_request.c: remembers the answer, or that there is none. */
void elf_names_take(struct elf_cache *cache, struct elf_job *job, int error, const void *bytes,
		    size_t len);

/* names_request.c: nobody asks for a table's names any more. */
void elf_names_drop(struct elf_cache *cache, struct name_table *table);

/* names_request.c: forgets all frames and names. */
void elf_names_forget_all(struct elf_cache *cache);

/* elf_cache.c: remembers what a place is called. Errors: as frame_cache_add(). */
int elf_cache_remember(struct elf_cache *cache, struct name_table *table, uint64_t file_offset,
		       enum frames_state state, const struct symbol_frames *frames) must_check;

/* elf_cache.c: finds the function of an offset by symbol tables and remembers it. Errors: as frame_cache_add(). */
int elf_cache_resolve(struct elf_cache *cache, struct name_table *table, uint64_t file_offset,
		      enum frames_state state) must_check;

/* elf_cache.c: what an offset is remembered by. */
uint64_t elf_cache_place(const struct name_table *table, uint64_t file_offset);

#endif
