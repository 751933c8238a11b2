/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles as flame graphs: one SVG file that needs nothing else. Any viewer shows the picture;
 * in a browser its script (flamegraph.js) adds zoom and search. */
#ifndef PROFILE_SVG_H
#define PROFILE_SVG_H

#include "base/err.h"
#include "base/strbuf.h"
#include "profile/caption.h"
#include "profile/diff.h"
#include "profile/profile.h"

/* Appends only the picture, for a page of HTML, which must have its style sheet and its script.
 * Errors: as below. */
int svg_append(const struct profile *profile, const struct caption *caption, struct strbuf *out)
	must_check;

/* Errors: -ENOSPC, -ENOMEM, kept in `out` as well. */
int svg_encode(const struct profile *profile, const struct caption *caption, struct strbuf *out)
	must_check;

/* Appends only the picture of a diff, as svg_append(). The page must have the scripts of the diff
 * and of the flame graph, in this order. Errors: as below. */
int svg_append_diff(const struct diff *diff, const struct caption *caption, struct strbuf *out)
	must_check;

/* Draws a diff as a flame graph in which boxes have the colour of their change (diff_svg.h).
 * Errors: as above. */
int svg_encode_diff(const struct diff *diff, const struct caption *caption, struct strbuf *out)
	must_check;

#endif
