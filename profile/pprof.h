/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles in pprof's format: https://github.com/google/pprof/tree/main/proto */
#ifndef PROFILE_PPROF_H
#define PROFILE_PPROF_H

#include "base/err.h"
#include "base/strbuf.h"
#include "profile/caption.h"
#include "profile/profile.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The part of a profile that is written, for other purposes than files. */
struct pprof_part {
	const uint32_t *samples; /* borrowed: numbers of the profile's samples; NULL: all */
	size_t nr_samples;
	/* Of a stack; deeper ones are cut at the root and say so. 0: any number */
	size_t max_frames;
	/* No labels (Pyroscope makes a series of each set); samples that are then equal are one */
	bool is_bare;
};

/* Appends the message without compressing it. The caption becomes the profile's comments, and its
 * subject the first mapping if the profile is of several programs; it may be NULL. Errors: -ENOSPC,
 * -ENOMEM, kept in `out` as well. */
int pprof_encode(const struct profile *profile, const struct caption *caption, struct strbuf *out)
	must_check;

/* Appends a part of a profile in the same way, without comments. */
int pprof_encode_part(const struct profile *profile, const struct pprof_part *part,
		      struct strbuf *out) must_check;

/* Appends the message as files have it: compressed by gzip. */
int pprof_encode_gzip(const struct profile *profile, const struct caption *caption,
		      struct strbuf *out) must_check;

#endif
