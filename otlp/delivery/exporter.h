/* SPDX-License-Identifier: Apache-2.0 */
/* Sends profiles to one destination, in a thread of its own ("exporter"). It merges windows, cuts
 * them into requests every interval, and delivers these when the destination accepts them. An
 * exporter never blocks the thread that pushes. Each sample is accounted for:
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
	const char *name; /* for log lines, behind the URL; NULL: the URL tells it from others */
	struct attribute_opts attributes;
	bool with_times; /* OTLP: samples say when they were taken (encode.h) */
	bool with_pprof; /* OTLP: pprof rides along as original_payload */
	size_t max_request_bytes; /* encoded, before compression */
	uint64_t interval_ns; /* 0: each profile leaves by itself, as it is */
	/* This destination's own, where what waits is kept; made in a directory that is there.
	 * NULL: memory */
	const char *queue_dir;
	uint64_t max_queue_bytes; /* in that directory; with interval 0 also in memory */
};

/* Copies what it needs of `opts`. Errors: -EINVAL bad URL or header, -EBUSY another process has the
 * queue's directory, what making it says, -ENOMEM, -EAGAIN. */
int exporter_start(const struct exporter_opts *opts, struct exporter **ret_exporter) must_check;

/* Hands over a reference of its own to the profile; never blocks. */
void exporter_push(struct exporter *exporter, struct profile *profile);

/* The same, but waits while the queue is full. */
void exporter_push_wait(struct exporter *exporter, struct profile *profile);

/* Ends pushing: a profile that is pushed later is dropped. Delivers what is left until
 * `deadline_ns` (monotonic clock); then gives up the request that is under way, and what is not
 * delivered stays in the queue's directory. Returns at once. */
void exporter_close(struct exporter *exporter, uint64_t deadline_ns);

/* Waits for the end that exporter_close() has asked for. It comes at most a second after the
 * deadline, plus the time it takes to write the queue. */
void exporter_join(struct exporter *exporter);

/* Closes with no time left, joins and frees. NULL is fine. */
void exporter_stop(struct exporter *exporter);
DEFINE_FREEP(struct exporter, exporter_stop)

/* Final after exporter_join(). */
struct exporter_stats exporter_get_stats(struct exporter *exporter);

#endif
