/* SPDX-License-Identifier: Apache-2.0 */
/* Statistics of an exporter. */
#ifndef OTLP_DELIVERY_EXPORTER_STATS_H
#define OTLP_DELIVERY_EXPORTER_STATS_H

#include "worker/worker_client.h"

#include <stdint.h>

/* Why samples were dropped: X(NAME, word, help) */
#define EXPORT_DROPS(X)                                                                            \
	X(REJECTED, "rejected", "the destination refused the request")                             \
	X(PARTIAL, "partial", "the destination took the request and rejected profiles of it")      \
	X(TOO_LARGE, "too_large", "the destination refused the request for its size")              \
	X(GAVE_UP, "gave_up", "the request failed again and again while others were taken")        \
	X(EVICTED, "evicted", "the queue was full; the oldest go first")                           \
	X(DAMAGED, "damaged", "a file of the queue was damaged")                                   \
	X(WINDOW, "window", "too much at once, or the exporter did not get to run")                \
	X(ENCODE, "encode", "no memory, or one sample is larger than a request")                   \
	X(SHUTDOWN, "shutdown",                                                                    \
	  "still waiting when flamelet stopped, without a directory to wait in")

enum export_drop {
#define X(NAME, word, help) EXPORT_DROP_##NAME,
	EXPORT_DROPS(X)
#undef X
		EXPORT_NR_DROPS,
};

/* Samples are those that were taken (profile_nr_taken()), however many rows they became. The
 * nr_queue_ fields are gauges; all others only grow. */
struct exporter_stats {
	uint64_t nr_samples_pushed;
	uint64_t nr_samples_restored; /* found in the queue's directory at the start */
	uint64_t nr_samples_sent;
	uint64_t nr_samples_dropped[EXPORT_NR_DROPS];
	/* samples with attributes that the guard replaced (attribute_maker.h) */
	uint64_t nr_samples_collapsed;
	uint64_t nr_attributes_dropped; /* over the limit of attributes */
	uint64_t nr_queue_samples;
	uint64_t nr_queue_requests;
	uint64_t nr_queue_disk_bytes;
	uint64_t nr_queue_memory_bytes;
	uint64_t nr_queue_write_failures;
	uint64_t nr_queue_files_damaged; /* the samples of some are unknown */
	uint64_t nr_requests;
	uint64_t nr_request_failures; /* failed or refused */
	uint64_t nr_retries;
	uint64_t nr_bytes_sent; /* compressed bodies that were answered */
	uint64_t cpu_ns; /* CPU time of the exporter thread */
	struct worker_stats worker; /* of the transport worker; only uint64_t */
};

/* Returns the name of a reason, as in metrics and summaries: "rejected", … */
const char *export_drop_name(enum export_drop drop);

/* Returns the sum over all reasons. */
uint64_t exporter_stats_dropped(const struct exporter_stats *stats);

#endif
