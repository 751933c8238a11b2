/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles as a plain page of HTML, where the viewer (viewer_page.h) was not built: one file that
 * needs nothing else, with the totals, the flame graph of
 * svg.h, the functions, and the pods and processes.
 *
 * All names are escaped, and a content security policy permits only the two scripts of the page
 * itself, so that no name of a profile can run as a script. */
#ifndef PROFILE_HTML_H
#define PROFILE_HTML_H

#include "base/err.h"
#include "base/strbuf.h"
#include "profile/caption.h"
#include "profile/diff.h"
#include "profile/diff_table.h"
#include "profile/profile.h"

/* Errors: -ENOSPC, -ENOMEM, kept in `out` as well. */
int html_encode(const struct profile *profile, const struct caption *caption, struct strbuf *out)
	must_check;

/* The same for a diff: its differential flame graph, and tables of what changed. The tables must be
 * sorted; they may be those of another view of the same profiles. Errors: as above. */
struct html_diff {
	const struct diff *shown; /* in the graph */
	const struct diff *diff; /* of the tables */
	const struct diff_table *functions, *owners;
};
int html_encode_diff(const struct html_diff *page, const struct caption *caption,
		     struct strbuf *out) must_check;

#endif
