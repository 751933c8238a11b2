/* SPDX-License-Identifier: Apache-2.0 */
/* Splits a profile into requests that destinations accept, each with its own dictionary.
 *
 * Four things are bounded: the encoded bytes (gRPC servers accept 4 MiB), what Pyroscope makes of
 * them (its rate limit lets at most 2 MiB through at once), the samples (it refuses more than 16
 * 000 in a profile) and the profiles (releases before 2.2 take half a second for each). */
#ifndef OTLP_ENCODE_PARTS_H
#define OTLP_ENCODE_PARTS_H

#include "otlp/encode/encode.h"

#include <stddef.h>
#include <stdint.h>

struct part_limits {
	size_t max_bytes; /* encoded, before compression */
	size_t max_cost_bytes; /* encode_result.cost_bytes */
	size_t max_samples;
	size_t max_profiles;
};

struct parts {
	struct encode_job job; /* of the current part */
	struct part_limits limits;
	encode_request *encode;
	uint32_t *samples; /* owned; numbers of the profile's samples, sorted by group */
	size_t nr_samples;
	size_t next; /* first sample that was in no part yet */
	size_t guess; /* estimate of how many samples fit into the next part */
	struct strbuf body; /* of the last part */
};

/* Borrows the profile and the attributes of `whole` until parts_done(). Errors: -ENOMEM; then
 * parts_done() must not be called. */
int parts_init(struct parts *parts, const struct encode_job *whole,
	       const struct part_limits *limits, encode_request *encode) must_check;
void parts_done(struct parts *parts);

/* Encodes the next part into parts->body. A sample that is too large for any part is left out.
 * Returns 1, or 0 after the last part. Errors: -ENOMEM. */
int parts_next(struct parts *parts, struct encode_result *ret_result) must_check;

#endif
