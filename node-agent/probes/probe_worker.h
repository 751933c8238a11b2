/* SPDX-License-Identifier: Apache-2.0 */
/* The process that looks for probes in files of others (elf/elf_probes.h):
 *
 *	agent: probe_finder ──open file──▶ worker: probe_worker_main()
 *	                    ◀──struct heap_probes──
 *
 * As with the other workers, it may be killed at any moment, and keeps no state. */
#ifndef PROBES_PROBE_WORKER_H
#define PROBES_PROBE_WORKER_H

#include "base/err.h"
#include "base/strbuf.h"
#include "bpf/shared/heap.h"
#include "worker/worker_channel.h"

#include <stddef.h>

#define PROBE_WORKER_COMMAND "probe-worker" /* argv[1] */
#define PROBE_WORKER_MAX_DATA_BYTES ((size_t)64 << 20) /* limit of its memory (RLIMIT_DATA) */

/* The command `flamelet probe-worker`: answers requests until the socket is closed. Returns the
 * exit status. */
int probe_worker_main(void);

/* The kinds of requests. */
enum probe_question {
	PROBE_QUESTION_CONTRACT, /* which probes of OpenTelemetry's contract are in a file? */
	PROBE_QUESTION_CALLS, /* and which functions that allocate? */
	PROBE_NR_QUESTIONS,
};

/* Appends the answer to a request, with one file and no bytes, to `reply`: struct heap_probes.
 * Errors: -EINVAL malformed request; those of elf_reader_init(), elf_probes_find() and
 * elf_allocators_find(). */
int probe_worker_answer(struct worker_call *call, struct strbuf *reply, void *data) must_check;

/* Checks a reply on the agent's side, and copies it. Errors: -EBADMSG. */
int probe_worker_check(const void *bytes, size_t len, struct heap_probes *ret_probes) must_check;

#endif
