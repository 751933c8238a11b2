/* SPDX-License-Identifier: Apache-2.0 */
/* The lives of all processes of the machine, from perf's side-band records and without BPF: a
 * dummy event on each CPU counts nothing, and makes the kernel report forks, execs, executable
 * mappings and exits.
 *
 * The events are merged with samples by time. Samples that were taken from their own buffer
 * before sideband_collect() was called are older than what it promises to have seen, so
 *
 *	take samples; sideband_collect(sideband);
 *	for each sample:
 *		while ((event = sideband_peek(sideband)) && event->time_ns <= sample->time_ns)
 *			process_table_handle(table, event), sideband_pop(sideband);
 *		handle the sample
 *	handle and pop the events that are left
 *
 * applies every event before the samples it matters to. An event that a CPU was just writing
 * during the collection comes with the next one. Belongs to one thread. */
#ifndef CAPTURE_SIDEBAND_SIDEBAND_H
#define CAPTURE_SIDEBAND_SIDEBAND_H

#include "base/cleanup.h"
#include "base/err.h"
#include "process/proc_event.h"

#include <stddef.h>
#include <stdint.h>

#define SIDEBAND_RING_BYTES ((size_t)256 * 1024) /* the agent's, of each CPU */
#define SIDEBAND_MAX_PENDING 65536 /* events collected and not yet popped */

struct sideband;

struct sideband_stats {
	uint64_t nr_events;
	uint64_t nr_lost; /* records that found no room in a ring */
	uint64_t nr_dropped; /* events over SIDEBAND_MAX_PENDING, or without memory */
	uint64_t nr_bad_records;
};

/* Starts on every CPU that is online, with a ring of at least `ring_bytes` each, or as much as
 * the limit of locked memory permits. Errors: -EACCES or -EPERM without CAP_PERFMON, -ENOMEM,
 * others of perf_event_open(). */
int sideband_open(size_t ring_bytes, struct sideband **ret_sideband) must_check;

/* Returns the locked memory of each CPU's ring as it was opened, including its first page. */
size_t sideband_ring_bytes(const struct sideband *sideband);
void sideband_close(struct sideband *sideband);
DEFINE_FREEP(struct sideband, sideband_close)

/* Adds a CPU that went online, where the event has to be opened anew, and removes one that goes
 * offline, after its records are collected. Nothing changes where that was done already. Errors:
 * -ENODEV offline, and as above. */
int sideband_add_cpu(struct sideband *sideband, unsigned int cpu) must_check;
void sideband_remove_cpu(struct sideband *sideband, unsigned int cpu);

/* Reads the records that are in the rings. */
void sideband_collect(struct sideband *sideband);

/* Returns the time of the last collection, 0 before the first one. No older event is
 * outstanding. */
uint64_t sideband_collected_until_ns(const struct sideband *sideband);

/* Returns the earliest event that is left, or NULL; borrowed until it is popped or the next
 * collection. Events that happened during a collection are held back until the next. */
const struct proc_event *sideband_peek(const struct sideband *sideband);

/* Drops the event that sideband_peek() shows; there must be one. */
void sideband_pop(struct sideband *sideband);

struct sideband_stats sideband_get_stats(const struct sideband *sideband);

#endif
