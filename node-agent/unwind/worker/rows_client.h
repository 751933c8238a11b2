/* SPDX-License-Identifier: Apache-2.0 */
/* The agent's end of the rows worker (rows_worker.h): asks for the tables of files, one in each
 * lane (worker/worker_lanes.h) at a time, without waiting, and opens the debug files that
 * workers want. Nothing here reads the files. Belongs to one thread. */
#ifndef UNWIND_WORKER_ROWS_CLIENT_H
#define UNWIND_WORKER_ROWS_CLIENT_H

#include "base/cleanup.h"
#include "base/err.h"
#include "unwind/file/elf_rows.h"
#include "worker/worker_lanes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a request may take: by the clock, where others have the CPUs, and of CPU time. 186 MB of
 * .gopclntab, the largest of a program that is known to us, take 2 s of CPU time. In the fast
 * lane it is the lane's. */
#define ROWS_CLIENT_TIMEOUT_NS UINT64_C(60000000000)
#define ROWS_CLIENT_CPU_S 20

/* What a file's reading may hold (elf_budget.h). A file that needs more than the fast lane gives
 * is read in the slow one. */
#define ROWS_CLIENT_FAST_HELD_BYTES ((size_t)32 << 20)
#define ROWS_CLIENT_HELD_BYTES ELF_ROWS_MAX_HELD_BYTES

/* A worker's memory has room for that and for the program's own. */
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

/* What has come of a file. */
struct rows_result {
	/* 0; else that of elf_rows_open() or elf_rows_build(), -ETIMEDOUT, -EIO
	 * the worker is gone or mad */
	int error;
	bool is_for_slow_lane; /* with an error: there it is worth another try */
	/* with an error: it had little time, and is worth another try in the fast lane */
	bool is_for_later;
	bool has_table; /* else it is the key alone */
	struct elf_rows_key key;
	struct row_table_bytes table; /* the caller's */
	struct unwind_losses losses; /* of the table */
};

/* Starts nothing yet. Errors: -ENOMEM. */
int rows_client_new(const struct rows_client_opts *opts, struct rows_client **ret_client)
	must_check;

/* Ends the workers. NULL is fine. */
void rows_client_free(struct rows_client *client);
DEFINE_FREEP(struct rows_client, rows_client_free)

/* Which lane an owner's files take now; in which order, in the fast one; whether a lane has a
 * file. */
enum worker_lane rows_client_choose(const struct rows_client *client, uint64_t owner);
enum worker_rank rows_client_rank(const struct rows_client *client, uint64_t owner);
bool rows_client_is_busy(const struct rows_client *client, enum worker_lane lane);

/* Begins a file in a lane that is not busy. The descriptor stays the caller's, and open until
 * rows_client_end(). */
void rows_client_begin(struct rows_client *client, enum worker_lane lane, int fd, uint64_t owner);

/* Whether something has come of the lane's file: first the key, then, if that is asked for, the
 * table; or an error. Does not wait. */
bool rows_client_take(struct rows_client *client, enum worker_lane lane,
		      struct rows_result *ret_result);

/* Asks for the table of the file whose key has come. */
void rows_client_build(struct rows_client *client, enum worker_lane lane);

/* The lane is free again. A request that is on its way is given up with its worker. */
void rows_client_end(struct rows_client *client, enum worker_lane lane);

/* Waits until something may have come in a lane, or `wake_fd` can be read, but not past a time
 * (CLOCK_MONOTONIC). */
void rows_client_wait(const struct rows_client *client, int wake_fd, uint64_t until_ns);

/* Ends workers that have nothing to do. To be called now and then. */
void rows_client_tidy(struct rows_client *client);

struct worker_stats rows_client_get_stats(const struct rows_client *client);

#endif
