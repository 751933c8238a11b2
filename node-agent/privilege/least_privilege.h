/* SPDX-License-Identifier: Apache-2.0 */
/* Reduces the agent's capabilities in two steps: first to what profiling needs while it starts,
 * then to what it needs once everything runs. Threads drop what they do not need when they are
 * started (base/thread.h). */
#ifndef PRIVILEGE_LEAST_PRIVILEGE_H
#define PRIVILEGE_LEAST_PRIVILEGE_H

#include "privilege/backend_set.h"

#include <stdbool.h>

/* Warns of capabilities that are missing for these capture backends and drops those that profiling
 * does not need. From then on the process cannot gain privileges, and other processes cannot
 * inspect it. Call it before the first thread is started. */
void least_privilege_begin(enum backend_set wanted);

/* Drops what only the start needed. The reader thread calls it when all other threads run.
 * `has_bpf` says whether BPF programs are in use. */
void least_privilege_finish(bool has_bpf);

#endif
