/* SPDX-License-Identifier: Apache-2.0 */
/* The language runtimes of sampled processes: which files are runtimes, what the unwinder must know
 * of a process, and the names of frames.
 *
 *	reader		runtimes_add_file() ─▶ runtimes_see_process() ─▶ runtimes_get_result()
 *			runtimes_frame(): words of a sample ─▶ a number
 *	thread "runtimes"	has workers read files and processes (runtime_thread.h)
 *	symbolizer	runtimes_wait(), runtimes_symbolize(): a number ─▶ lines
 *
 * A frame's names are read as soon as it has occurred for the first time, because its process may
 * end at any moment. Names of processes are kept under a limit of bytes; the processes that were
 * sampled least recently make room. Thread-safe. */
#ifndef RUNTIME_CLIENT_RUNTIMES_H
#define RUNTIME_CLIENT_RUNTIMES_H

#include "base/cleanup.h"
#include "base/err.h"
#include "bpf/shared/code_copy.h"
#include "runtime/client/runtime_files.h"
#include "runtime/client/runtime_processes.h"
#include "symbol/frame/symbol_frames.h"
#include "worker/worker_client.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A process that is not sampled is forgotten after this time if it has ended, so that the last
 * windows get their names, and after RUNTIMES_IDLE_NS if it lives. */
#define RUNTIMES_FORGET_NS (UINT64_C(30) * 1000000000)
#define RUNTIMES_IDLE_NS (UINT64_C(600) * 1000000000)

struct runtimes;

struct runtimes_opts {
	int proc_fd; /* borrowed */
	uint32_t kinds; /* those that are wanted: 1 << enum runtime_kind */
	size_t max_bytes; /* of all frames and names */
	const char *worker_program; /* borrowed; NULL: /proc/self/exe */
};

struct runtimes_kind_stats {
	uint64_t nr_files; /* that are known now */
	uint64_t nr_ready, nr_pending, nr_unsupported; /* processes now */
	uint64_t nr_named, nr_unnamed; /* frames that were read */
};

struct runtimes_stats {
	struct runtimes_kind_stats kinds[RUNTIME_NR_KINDS - 1]; /* by kind, without RUNTIME_NONE */
	uint64_t nr_processes; /* known now */
	uint64_t nr_bytes; /* of frames and names */
	uint64_t nr_evicted; /* processes whose names were dropped under the limit of bytes */
	uint64_t nr_failures; /* requests that a worker did not answer */
	uint64_t nr_refused; /* files, processes and frames for which there was no room */
	struct worker_stats worker;
};

/* The values of a runtime in a process that the unwinder needs. */
struct runtimes_result {
	uint32_t file; /* id */
	enum runtime_kind kind;
	uint32_t version; /* as in struct runtime_file */
	enum runtime_state state;
	bool is_final; /* it will not change; else it may, and the generation with it */
	char reason[RUNTIME_REASON_BYTES]; /* as in struct runtime_found */
	bool is_marked; /* as in struct runtime_found */
	/* Valid if it is ready or marked, as in struct runtime_found. */
	bool is_shared;
	bool has_process;
	struct runtime_layout layout;
	struct runtime_process process;
};

/* Starts the thread. Errors: -ENOMEM, -EAGAIN, those of eventfd(2). */
int runtimes_new(const struct runtimes_opts *opts, struct runtimes **ret_runtimes) must_check;

/* Ends the thread and its workers. NULL is fine. */
void runtimes_free(struct runtimes *runtimes);
DEFINE_FREEP(struct runtimes, runtimes_free)

/* For the reader.
 *
 * Adds an ELF file, which is asked soon whether it is a runtime. `owner` is the id of the cgroup
 * that maps it, 0 if it is not known. Takes *fd over, also on failure. Returns its id; 0 if there
 * is no room (counted). */
uint32_t runtimes_add_file(struct runtimes *runtimes, int *fd, uint64_t owner);

/* Forgets a file. Its processes keep what they need of it. */
void runtimes_remove_file(struct runtimes *runtimes, uint32_t id);

/* Returns what is known of a file; RUNTIME_FILE_NONE for unknown ids. */
enum runtime_file_state runtimes_file_state(struct runtimes *runtimes, uint32_t id);

/* Returns a number that grows when an answer has come about a file or a process. Any thread;
 * takes no lock. */
uint64_t runtimes_generation(const struct runtimes *runtimes);

/* A mapping of a file that is a runtime. */
struct runtimes_mapped {
	uint32_t file; /* id */
	uint64_t start;
	uint64_t offset; /* of the start, in the file */
};

/* Returns the id of a process that was seen before, with the same pid and number; 0 if it was
 * not. Counts as a use of it. */
uint32_t runtimes_find_process(struct runtimes *runtimes, const struct runtime_sampled *sampled);

/* Notes that a process maps runtimes, which are inspected soon. Returns the process's id; 0 if
 * there is no room (counted). */
uint32_t runtimes_see_process(struct runtimes *runtimes, const struct runtime_sampled *sampled,
			      const struct runtimes_mapped *mapped, size_t nr);

/* Returns what is known of the runtimes of a process; their number is 0 if the process is
 * unknown. */
size_t runtimes_get_results(struct runtimes *runtimes, uint32_t process,
			    struct runtimes_result ret_results[static RUNTIME_MAX_OF_PROCESS]);

/* Returns the number of a frame of a runtime in a process, for runtimes_symbolize(). It is 0, for
 * which there is no name, if there is no room (counted) or the words are no such frame. */
uint64_t runtimes_frame(struct runtimes *runtimes, uint32_t process, const uint64_t *words,
			uint64_t now_ns);

/* Keeps a copy of a code object for a while, for frames that come after it. */
void runtimes_add_copy(struct runtimes *runtimes, const struct code_copy *copy, uint64_t now_ns);

/* Has the names of new frames read, at `now_ns` (CLOCK_MONOTONIC). To be called when all frames at
 * hand were added, and again at least ten times per second. Frames of code that was copied wait for
 * 0.1 s, to be read together with those of other processes. */
void runtimes_flush(struct runtimes *runtimes, uint64_t now_ns);

/* For the symbolizer.
 *
 * Waits until the names of all frames are read that can be read now, beginning with new ones, at
 * most until `until_ns` (CLOCK_MONOTONIC). Does not wait for processes whose names took too long
 * before. */
void runtimes_wait(struct runtimes *runtimes, uint64_t until_ns);

/* Names a frame. Strings are borrowed until the next call of this function. Errors: -ENOENT
 * unknown, or not read. */
int runtimes_symbolize(struct runtimes *runtimes, uint64_t frame, struct symbol_frames *ret_frames)
	must_check;

/* Any thread. */
struct runtimes_stats runtimes_get_stats(struct runtimes *runtimes);

/* Returns the numbers of a kind other than RUNTIME_NONE. */
static inline struct runtimes_kind_stats *runtimes_stats_of(struct runtimes_stats *stats,
							    uint32_t kind)
{
	return &stats->kinds[kind - 1];
}

#endif
