/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles for speedscope (https://www.speedscope.app): JSON of its file format.
 *
 * Profiles of CPU time are in nanoseconds. A grouped profile (view.h) becomes one profile for each
 * value of its first label, the largest first; the others are one. Samples have no order of time:
 * "Left Heavy" and "Sandwich" are the views for them. */
#ifndef PROFILE_SPEEDSCOPE_H
#define PROFILE_SPEEDSCOPE_H

#include "base/err.h"
#include "base/strbuf.h"
#include "profile/caption.h"
#include "profile/profile.h"

/* Errors: -ENOSPC, -ENOMEM, kept in `out` as well. */
int speedscope_encode(const struct profile *profile, const struct caption *caption,
		      struct strbuf *out) must_check;

#endif
