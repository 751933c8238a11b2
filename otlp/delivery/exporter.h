/* SPDX-License-Identifier: Apache-2.0 */
/* Sends profiles to one destination in its own thread ("exporter"). It merges windows, splits them
 * into requests every interval, and delivers these as the destination accepts them. An exporter
 * never blocks the pushing thread. Each sample is accounted for:
 *
 *	pushed + restored = sent + queued + dropped (by reason), and what is being merged */
#ifndef OTLP_DELIVERY_EXPORTER_H
#define OTLP_DELIVERY_EXPORTER_H

#include "base/cleanup.h"
#include "base/err.h"
#include "otlp/attributes/attribute_maker.h"
#include "otlp/delivery/exporter_stats.h"
#include "otlp/transport/transport.h"
#include "profile/profile.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct exporter;

struct exporter_opts {
	struct transport_opts transport; /* give_up_ns is the exporter's own */
	const char *name; /* for log lines, after the URL; NULL: none */
	struct attribute_opts attributes;
	bool with_times; /* OTLP: samples have timestamps (encode.h) */
	bool with_pprof; /* OTLP: profiles contain pprof as original_payload */
	size_t max_request_bytes; /* encoded, before compression */
	/* 0: a replay; each profile is sent by itself, unmerged, and can be pushed again */
	uint64_t interval_ns;
	/* Directory for this destination's waiting requests; its parent must exist. NULL: memory */
	const char *queue_dir;
	uint64_t max_queue_bytes; /* in that directory; with interval 0 also in memory */
};

/* Copies the options. Errors: -EINVAL bad URL or header, -EBUSY another process has the queue's
 * directory, what making it says, -ENOMEM, -EAGAIN. */
int exporter_start(const struct exporter_opts *opts, struct exporter **ret_exporter) must_check;

/* Pushes a profile, with a new reference; never blocks. */
void exporter_push(struct exporter *exporter, struct profile *profile);

/* Pushes a profile, and waits while the queue is full. */
void exporter_push_wait(struct exporter *exporter, struct profile *profile);

/* Ends pushing; later profiles are dropped. The thread delivers the rest until `deadline_ns`
 * (monotonic clock), then gives up the current request. Undelivered requests stay in the queue's
 * directory. Returns at once. */
void exporter_close(struct exporter *exporter, uint64_t deadline_ns);

/* Waits for the thread's end after exporter_close(): at most a second after the deadline, plus the
 * time to write the queue. */
void exporter_join(struct exporter *exporter);

/* Closes with no time left, joins and frees. NULL is fine. */
void exporter_stop(struct exporter *exporter);
DEFINE_FREEP(struct exporter, exporter_stop)

/* Returns the statistics, which are final after exporter_join(). */
struct exporter_stats exporter_get_stats(struct exporter *exporter);

#endif
