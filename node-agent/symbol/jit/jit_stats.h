/* SPDX-License-Identifier: Apache-2.0 */
/* Statistics of the JIT cache, which the registry and the client count. */
#ifndef SYMBOL_JIT_JIT_STATS_H
#define SYMBOL_JIT_JIT_STATS_H

#include "worker/worker_client.h"

#include <stdint.h>

struct jit_stats {
	/* counted by the registry */
	uint64_t nr_processes; /* that have a file now */
	uint64_t nr_without_place; /* samples of processes beyond JIT_PROCESS_INDEX_MAX */
	/* files that are not regular, not local, of another user, too large or too many */
	uint64_t nr_refused; /* counted by both */

	/* counted by the client */
	uint64_t nr_functions;
	uint64_t nr_bytes;
	uint64_t nr_evicted; /* processes whose functions were dropped because memory was full */
	uint64_t nr_bad_lines; /* of perf maps, or records of jitdumps */
	uint64_t nr_dropped; /* source lines and rests of files, at a limit or without memory */
	uint64_t nr_failures; /* requests: the worker died, was too slow or sent nonsense */
	struct worker_stats worker; /* of all workers */
};

#endif
