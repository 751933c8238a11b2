/* SPDX-License-Identifier: Apache-2.0 */
/* Sends profiles to an OTLP/HTTP endpoint from a thread of its own ("exporter"): windows are merged and
 * one request goes out each interval. An endpoint that is down costs the samples of the interval, a
 * counter and a log line; it never holds up anything. */
#ifndef OTLP_EXPORTER_H
#define OTLP_EXPORTER_H

#include "base/cleanup.h"
#include "base/err.h"
#include "profile/profile.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct exporter;

struct exporter_opts {
	const char *endpoint; /* see transport_url() */
	bool endpoint_is_full;
	const char *const *headers; /* "Name: value" */
	size_t nr_headers;
	const char *ca_file; /* NULL: the system's */
	uint64_t interval_ns;
	uint64_t timeout_ns; /* whole request */
};

/* All monotonic. sent + failed + dropped + what waits = pushed. */
struct exporter_stats {
	uint64_t nr_samples_pushed;
	uint64_t nr_samples_sent; /* in requests answered with 2xx, less what the answer rejected */
	uint64_t nr_samples_failed; /* refused or not delivered */
	uint64_t nr_samples_dropped; /* queue or merge limit */
	uint64_t nr_requests;
	uint64_t nr_request_failures;
	uint64_t nr_bytes_sent; /* compressed bodies */
	uint64_t cpu_ns; /* CPU time of the exporter thread */
};

/* Copies what it needs of `opts`. Errors: -EINVAL bad URL, -ENOMEM, -EAGAIN. */
int exporter_start(const struct exporter_opts *opts, struct exporter **ret_exporter) must_check;

/* Hands over a reference of its own to the profile; never blocks. */
void exporter_push(struct exporter *exporter, struct profile *profile);

/* Sends what is left, once, and ends the thread. What is pushed from now on is dropped. */
void exporter_drain(struct exporter *exporter);

/* Drains and frees. NULL is fine. */
void exporter_stop(struct exporter *exporter);
DEFINE_FREEP(struct exporter, exporter_stop)

/* Final after exporter_drain(). */
struct exporter_stats exporter_get_stats(struct exporter *exporter);

#endif
