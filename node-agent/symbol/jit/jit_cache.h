/* SPDX-License-Identifier: Apache-2.0 */
/* Names of code that compilers make at run time, from what their processes write for perf:
 *
 *	perf map	/tmp/perf-PID.map, PID in the process's own namespace; text, a function a
 *			line (tools/perf/Documentation/jit-interface.txt)
 *	jitdump		a file jit-PID.dump that the process maps executable; binary, with times
 *			and lines (tools/perf/Documentation/jitdump-specification.txt)
 *
 * Both are in the process's mount namespace and grow while it runs. The *reader* calls
 * jit_cache_open() when a process is sampled in memory without a file: that pins what there is,
 * and costs some system calls. The *loader* has a worker (jit_worker.h) read what has been added
 * since, jit_cache_refresh(), and asks for names, jit_cache_symbolize().
 *
 * What a process writes is read as hostile: by a worker, bounded in bytes, lines and time, no
 * FIFO, no FUSE, no symbolic link out of the way. A file that a worker dies of or takes too long
 * for costs that process its names. */
#ifndef SYMBOL_JIT_JIT_CACHE_H
#define SYMBOL_JIT_JIT_CACHE_H

#include "base/cleanup.h"
#include "base/err.h"
#include "process/process_table.h"
#include "symbol/frame/symbol_frames.h"
#include "symbol/jit/jit_stats.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct jit_cache;

struct jit_cache_opts {
	int proc_fd; /* borrowed; as for process_table_new() */
	/* Of all functions and names; those of one file get a quarter of it, twice while the file
	 * is read anew. */
	size_t max_bytes;
	const char *worker_program; /* borrowed; NULL: /proc/self/exe */
};

/* Errors: -ENOMEM. */
int jit_cache_new(const struct jit_cache_opts *opts, struct jit_cache **ret_cache) must_check;
void jit_cache_free(struct jit_cache *cache);
DEFINE_FREEP(struct jit_cache, jit_cache_free)

/* Which id a process's code has: 0 as long as it has no such file. Looks for one at the first
 * call, and every JIT_REOPEN_NS as long as there is none or it may have been replaced. `number`
 * tells processes with the same pid apart, its cgroup is held to account for its files (0: not
 * known). The id stays the process's, whatever files it has. */
uint32_t jit_cache_open(struct jit_cache *cache, uint32_t pid, uint64_t number, uint64_t cgroup_id,
			const struct mapping_list *mappings, uint64_t now_ns);

/* Names an address of the process. Strings are borrowed until the next call of this function.
 * Errors: -ENOENT not known (yet). */
int jit_cache_symbolize(struct jit_cache *cache, uint32_t id, uint64_t address,
			struct symbol_frames *ret_frames) must_check;

/* To be called by the loader once a window, before its first symbolize: has what the files of the
 * processes sampled since the last call have gained read by a worker, and waits for that, but not
 * past `until_ns` (CLOCK_MONOTONIC), and not for processes that workers were slow with before:
 * what comes later is for later windows. Forgets processes that were not sampled for a while. What
 * is named in this window is kept to its end, however long ago it was sampled: a process is
 * forgotten by the second call that finds it unused. */
void jit_cache_refresh(struct jit_cache *cache, uint64_t now_ns, uint64_t until_ns);

/* To be called by the loader now and then between refreshes: takes over answers that have come
 * since, without waiting, and ends workers that have nothing to do. Returns whether answers are
 * still on their way. */
bool jit_cache_work(struct jit_cache *cache);

struct jit_stats jit_cache_get_stats(struct jit_cache *cache);

#endif
