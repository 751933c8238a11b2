/* SPDX-License-Identifier: Apache-2.0 */
/* The dialogue with the workers that read JIT compilers' lists (jit_worker.h), one
 * file at a time in each lane:
 *
 *	refresh		processes whose files may have grown ─▶ the next one for this lane ─▶ request
 *	answer		functions are added, as long as there is memory for them
 *	worker died, or sent nonsense		the process is skipped for a while
 *	worker too slow in the fast lane	the request is repeated in the slow lane
 *
 * Each refresh begins after the process that was read last. Only the symbolizer thread may call
 * these functions, except jit_client_get_stats(). */
#ifndef SYMBOL_JIT_JIT_CLIENT_H
#define SYMBOL_JIT_JIT_CLIENT_H

#include "base/err.h"
#include "symbol/jit/jit_registry.h"
#include "symbol/jit/jit_stats.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A process is skipped for this time after its functions were dropped or a worker failed. */
#define JIT_RETRY_NS (UINT64_C(60) * 1000000000)

/* Limits of one jit_client_refresh(), per file and in total. The next one reads the rest. */
#define JIT_REFRESH_FILE_BYTES ((size_t)8 << 20)
#define JIT_REFRESH_MAX_BYTES ((size_t)16 << 20)

/* Limit of one request. It takes a worker about ten milliseconds, or longer on a busy machine. */
#define JIT_REQUEST_MAX_BYTES ((size_t)2 << 20)

/* Time limits of one request. The first try in the fast lane has less time (worker_lanes.h). */
#define JIT_READ_NS (UINT64_C(10) * 1000000000)
#define JIT_READ_CPU_S 5

struct jit_client;

/* Makes a client. The registry and the program are borrowed. `max_bytes` limits the memory of
 * functions and names. Starts no worker yet. Errors: -ENOMEM. */
int jit_client_new(struct jit_registry *registry, size_t max_bytes, const char *worker_program,
		   struct jit_client **ret_client) must_check;
void jit_client_free(struct jit_client *client);

/* See jit_cache_refresh() and jit_cache_work(). */
void jit_client_refresh(struct jit_client *client, uint64_t now_ns, uint64_t until_ns);
bool jit_client_work(struct jit_client *client);

/* Any thread. */
struct jit_stats jit_client_get_stats(struct jit_client *client);

#endif
