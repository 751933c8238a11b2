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

struct value_pair;

/* The part of a profile that is encoded. Files hold the whole profile. */
struct pprof_part {
	const uint32_t *samples; /* borrowed; numbers of the profile's samples; NULL: all */
	size_t nr_samples;
	/* Of a stack; a deeper stack is truncated at the root and marked. 0: any number */
	size_t max_frames;
	/* Without labels, as Pyroscope makes a series of each set; samples
	 * that become equal are joined */
	bool is_bare;
	/* Borrowed; NULL: none. One for each sample of the profile, in place of its count: numbers
	 * of waits for locks and their time. Types and period are those of Go's mutex profiles. */
	const struct value_pair *waits;
};

/* Appends the message without compressing it. `part` may be NULL for the whole profile. `caption`
 * may be NULL; otherwise it becomes the profile's comments, and its subject becomes the first
 * mapping if the profile covers several programs. Errors: -ENOSPC, -ENOMEM, kept in `out` as
 * well. */
int pprof_encode(const struct profile *profile, const struct pprof_part *part,
		 const struct caption *caption, struct strbuf *out) must_check;

/* Appends the message of a whole profile, compressed by gzip as in files. */
int pprof_encode_gzip(const struct profile *profile, const struct caption *caption,
		      struct strbuf *out) must_check;

/* Does the same for waits for locks, which have two values: their number and their time. */
int pprof_encode_waits_gzip(const struct profile *contentions, const struct profile *delay,
			    const struct caption *caption, struct strbuf *out) must_check;

#endif
