/* SPDX-License-Identifier: Apache-2.0 */
/* The dialogue with the workers that read JIT compilers' lists (jit_worker.h), one file after the
 * other in each lane:
 *
 *	refresh		whose files may have grown ─▶ the next one for this lane ─▶ request
 *	answer		functions are added, as long as there is memory for them
 *			worker dead, or nonsense: the process is left alone for a while
 *			too late in the fast lane: again, in the slow lane
 *
 * Each refresh begins behind the one that was read last. For the loader, except
 * jit_loader_get_stats(). */
#ifndef SYMBOL_JIT_JIT_LOADER_H
#define SYMBOL_JIT_JIT_LOADER_H

#include "base/cleanup.h"
#include "base/err.h"
#include "symbol/jit/jit_registry.h"
#include "symbol/jit/jit_stats.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How long what was dropped, or what a worker failed at, is not read again. */
#define JIT_RETRY_NS (UINT64_C(60) * 1000000000)

/* What jit_loader_refresh() has read from a file, and in all: the rest the next time. */
#define JIT_REFRESH_FILE_BYTES ((size_t)8 << 20)
#define JIT_REFRESH_MAX_BYTES ((size_t)16 << 20)

/* Of it, by one request: ten milliseconds of a worker, which others may keep from the CPU for a
 * while. */
#define JIT_REQUEST_MAX_BYTES ((size_t)2 << 20)

/* Limits of a worker for one request; the first try in the fast lane has less (worker_lanes.h). */
#define JIT_READ_NS (UINT64_C(10) * 1000000000)
#define JIT_READ_CPU_S 5

struct jit_loader;

/* The registry and the program are borrowed; functions and names have `max_bytes`. Starts no
 * worker yet. Errors: -ENOMEM. */
int jit_loader_new(struct jit_registry *registry, size_t max_bytes, const char *worker_program,
		   struct jit_loader **ret_loader) must_check;
void jit_loader_free(struct jit_loader *loader);
DEFINE_FREEP(struct jit_loader, jit_loader_free)

/* As jit_cache_refresh() and jit_cache_work(). */
void jit_loader_refresh(struct jit_loader *loader, uint64_t now_ns, uint64_t until_ns);
bool jit_loader_work(struct jit_loader *loader);

/* Any thread. */
struct jit_stats jit_loader_get_stats(struct jit_loader *loader);

#endif
