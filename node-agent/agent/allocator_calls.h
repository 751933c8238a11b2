/* SPDX-License-Identifier: Apache-2.0 */
/* Target processes that tell nothing of their allocations (allocation_probes.h): their calls of the
 * allocator are sampled instead. */
#ifndef AGENT_ALLOCATOR_CALLS_H
#define AGENT_ALLOCATOR_CALLS_H

#include "base/err.h"
#include "capture/sample_source.h"

#include <stddef.h>
#include <stdint.h>

/* Looks into the files that these processes map, and has the source sample the calls of those that
 * have no probes of the contract. Says so in the log, and which processes are left out, and why.
 * Errors: -ENOMEM. */
int allocator_calls_start(const uint32_t *pids, size_t nr_pids, int proc_fd,
			  struct sample_source *source) must_check;

#endif
