/* SPDX-License-Identifier: Apache-2.0 */
/* Encodes part of a profile as the body of a request.
 *
 * The attributes assign each sample to a group. The samples of a group become one profile in the
 * request. */
#ifndef OTLP_ENCODE_ENCODE_H
#define OTLP_ENCODE_ENCODE_H

#include "base/err.h"
#include "base/strbuf.h"
#include "otlp/attributes/export_attributes.h"
#include "profile/profile.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Destinations truncate deeper stacks at the leaf, where the time was spent. We truncate at the
 * root and mark the last frame. */
#define ENCODE_STACK_MAX_FRAMES 1000

struct encode_job { /* all borrowed */
	const struct profile *profile;
	const struct export_attributes *attributes;
	/* Numbers of the samples to encode, with the samples of a group in a row. Each has a
	 * count. */
	const uint32_t *samples;
	size_t nr_samples;
	/* OTLP: frames with a symbol's name have no mapping and address, which makes requests
	 * smaller. */
	bool drops_addresses;
	/* OTLP: timestamps instead of counts, for profiles in which every sample has a time */
	bool with_times;
	/* OTLP: each profile contains its samples, with all their data, as gzip'ed pprof */
	bool with_pprof;
};

struct encode_result {
	uint64_t nr_taken; /* samples that were taken: profile_nr_taken() of the part */
	size_t nr_profiles;
	size_t nr_samples; /* as sent, after joining equal ones */
	size_t cost_bytes; /* size after Pyroscope's conversion: converted_size.h */
};

/* Appends the body; nothing without samples. After a failure, a part of it may be in `out`. Errors,
 * also kept in `out`: -ENOSPC (the buffer's limit: encode fewer samples), -ENOMEM. */

typedef int encode_request(const struct encode_job *job, struct strbuf *out,
			   struct encode_result *ret_result);

/* An ExportProfilesServiceRequest of opentelemetry-proto 1.10 with a dictionary of its own. */
int otlp_encode(const struct encode_job *job, struct strbuf *out, struct encode_result *ret_result)
	must_check;

/* A PushRequest of Pyroscope's push.v1 with a series per profile. Samples have no labels. */
int push_encode(const struct encode_job *job, struct strbuf *out, struct encode_result *ret_result)
	must_check;

#endif
