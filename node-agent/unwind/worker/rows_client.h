/* SPDX-License-Identifier: Apache-2.0 */
/* The agent's end of the rows worker (rows_worker.h). Asks for the tables of files without
 * waiting, one file at a time in each lane (worker/worker_lanes.h), and opens the debug files
 * that workers want. Reads no file itself. Belongs to one thread. */
#ifndef UNWIND_WORKER_ROWS_CLIENT_H
#define UNWIND_WORKER_ROWS_CLIENT_H

#include "base/cleanup.h"
#include "base/err.h"
#include "unwind/file/elf_rows.h"
#include "worker/worker_lanes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Limits of a request: the time that passes, also while other processes use the CPUs, and the
 * CPU time. 186 MB of .gopclntab, the largest program known to us, take 2 s of CPU time. The
 * fast lane has limits of its own. */
#define ROWS_CLIENT_TIMEOUT_NS UINT64_C(60000000000)
#define ROWS_CLIENT_CPU_S 20

/* Memory that reading a file may hold (elf_budget.h). A file that needs more than the fast lane
 * gives is read in the slow lane. */
#define ROWS_CLIENT_FAST_HELD_BYTES ((size_t)32 << 20)
#define ROWS_CLIENT_HELD_BYTES ELF_ROWS_MAX_HELD_BYTES

/* Limits of a worker's memory, with room for the program itself. */
#define ROWS_CLIENT_FAST_DATA_BYTES (ROWS_CLIENT_FAST_HELD_BYTES + ((size_t)16 << 20))
#define ROWS_CLIENT_DATA_BYTES (ROWS_CLIENT_HELD_BYTES + ((size_t)16 << 20))

struct rows_client;

struct rows_client_opts {
	/* borrowed; like /usr/lib/debug, in the agent's own file system; NULL: none */
	const char *debug_dir;
	size_t max_table_bytes;
	uint64_t hash_seed; /* of keys */
	struct memory_pool *pool; /* of the slow lane's worker; borrowed, see worker_client.h */
};

/* A reply about a file. */
struct rows_result {
	/* 0; an error of elf_rows_open() or elf_rows_build(); -ETIMEDOUT; -EIO the worker died
	 * or sent nonsense */
	int error;
	bool is_for_slow_lane; /* with an error: try again in the slow lane */
	/* with an error: it had little time; try again in the fast lane */
	bool is_for_later;
	bool has_table; /* else only the key has come */
	struct elf_rows_key key;
	struct row_table_bytes table; /* the caller's */
	struct unwind_losses losses; /* of the table */
};

/* Makes a client, without starting a worker. Errors: -ENOMEM. */
int rows_client_new(const struct rows_client_opts *opts, struct rows_client **ret_client)
	must_check;

/* Ends the workers. NULL is fine. */
void rows_client_free(struct rows_client *client);
DEFINE_FREEP(struct rows_client, rows_client_free)

/* Return the lane that an owner's files take now, the rank that they have in the fast lane, and
 * whether a lane has a file. */
enum worker_lane rows_client_choose(const struct rows_client *client, uint64_t owner);
enum worker_rank rows_client_rank(const struct rows_client *client, uint64_t owner);
bool rows_client_is_busy(const struct rows_client *client, enum worker_lane lane);

/* Begins a file in a lane that is not busy. The descriptor stays the caller's, and open until
 * rows_client_end(). */
void rows_client_begin(struct rows_client *client, enum worker_lane lane, int fd, uint64_t owner);

/* Returns whether there is a reply about the lane's file: first the key; then, if it was asked
 * for, the table; or an error. Does not wait. */
bool rows_client_take(struct rows_client *client, enum worker_lane lane,
		      struct rows_result *ret_result);

/* Asks for the table of the file whose key has come. */
void rows_client_build(struct rows_client *client, enum worker_lane lane);

/* Frees the lane. If a request is on its way, its worker is stopped. */
void rows_client_end(struct rows_client *client, enum worker_lane lane);

/* Waits until there may be a reply in a lane, or `wake_fd` can be read, at most until `until_ns`
 * (CLOCK_MONOTONIC). */
void rows_client_wait(const struct rows_client *client, int wake_fd, uint64_t until_ns);

/* Ends idle workers. To be called now and then. */
void rows_client_tidy(struct rows_client *client);

struct worker_stats rows_client_get_stats(const struct rows_client *client);

#endif
