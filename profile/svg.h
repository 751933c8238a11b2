/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles as flame graphs: one SVG file that needs nothing else. Any viewer shows the picture;
 * in a browser its script (flamegraph.js) adds zoom and search. */
#ifndef PROFILE_SVG_H
#define PROFILE_SVG_H

#include "base/err.h"
#include "base/strbuf.h"
#include "profile/caption.h"
#include "profile/profile.h"

/* Errors: -ENOSPC, -ENOMEM, kept in `out` as well. */
int svg_encode(const struct profile *profile, const struct caption *caption, struct strbuf *out)
	must_check;

#endif
