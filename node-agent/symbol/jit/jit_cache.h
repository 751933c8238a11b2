/* SPDX-License-Identifier: Apache-2.0 */
/* Names of code that JIT compilers make at run time, from the files that they write for perf:
 *
 *	perf map	/tmp/perf-PID.map, PID in the process's own namespace; text, one function
 *			per line (tools/perf/Documentation/jit-interface.txt)
 *	jitdump		a file jit-PID.dump that the process maps executable; binary, with times
 *			and lines (tools/perf/Documentation/jitdump-specification.txt)
 *
 * Both are in the process's mount namespace and grow while it runs. The *reader* thread calls
 * jit_cache_open() when a process is sampled in memory that no file backs. This opens the files
 * that exist and costs a few system calls. The *symbolizer* thread calls
 * jit_cache_refresh(), which makes a worker (jit_worker.h) read what was added to the files since
 * the last call, and jit_cache_symbolize() for names.
 *
 * The files are treated as hostile. Workers read them, with limits on bytes, lines and time. FIFOs,
 * FUSE and symbolic links are refused. If a worker dies or takes too long because of a file, its
 * process has no names. */
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
	int proc_fd; /* borrowed; see process_table_new() */
	/* Limit for all functions and names. One file may use half of it, and twice that while it
	 * is read again. */
	size_t max_bytes;
	const char *worker_program; /* borrowed; NULL: /proc/self/exe */
};

/* Makes an empty cache, and starts no worker yet. Errors: -ENOMEM. */
int jit_cache_new(const struct jit_cache_opts *opts, struct jit_cache **ret_cache) must_check;
void jit_cache_free(struct jit_cache *cache);
DEFINE_FREEP(struct jit_cache, jit_cache_free)

/* Returns the id of a process's code, or 0 as long as the process has no such file. Looks for files
 * at the first call and then every JIT_REOPEN_NS, because they may appear later or be replaced.
 * `number` distinguishes processes with the same pid. Its cgroup (0: unknown) is charged for the
 * time that its files take. The id does not change when the files do. */
uint32_t jit_cache_open(struct jit_cache *cache, uint32_t pid, uint64_t number, uint64_t cgroup_id,
			const struct mapping_list *mappings, uint64_t now_ns);

/* Names an address of the process. Strings are borrowed until the next call of this function.
 * Errors: -ENOENT unknown, or not read yet. */
int jit_cache_symbolize(struct jit_cache *cache, uint32_t id, uint64_t address,
			struct symbol_frames *ret_frames) must_check;

/* The symbolizer calls this once per window, before the first jit_cache_symbolize(). It makes
 * workers read what was added to the files of the processes that were sampled since the last call.
 * It waits for that until `until_ns` (CLOCK_MONOTONIC) at most, and not for processes whose files
 * were slow before: later answers serve later windows. It also forgets processes that were not
 * sampled for a while, but only at the second call that finds a process unused, so that names stay
 * available to the end of the window that uses them. */
void jit_cache_refresh(struct jit_cache *cache, uint64_t now_ns, uint64_t until_ns);

/* The symbolizer calls this now and then between refreshes. It takes the answers that have arrived,
 * without waiting, and ends idle workers. Returns whether requests are still in progress. */
bool jit_cache_work(struct jit_cache *cache);

/* Any thread. */
struct jit_stats jit_cache_get_stats(struct jit_cache *cache);

#endif
