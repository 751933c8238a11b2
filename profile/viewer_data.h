/* SPDX-License-Identifier: Apache-2.0 */
/* What the viewer (ui/) shows, as JSON in columns: stacks as a tree, label sets, and samples that
 * refer to both. docs/formats.md describes the members. */
#ifndef PROFILE_VIEWER_DATA_H
#define PROFILE_VIEWER_DATA_H

#include "base/err.h"
#include "base/strbuf.h"
#include "profile/caption.h"
#include "profile/diff.h"
#include "profile/profile.h"
#include "profile/view.h"

/* All members are borrowed. Profiles are no views; the viewer makes those itself. */
struct viewer_content {
	const struct profile *profile; /* of a comparison: after */
	const struct diff *diff; /* NULL: no comparison */
	const struct view *view; /* what is shown first */
	const struct caption *caption;
};

/* Errors: -ENOSPC, -ENOMEM, kept in `out` as well. */
int viewer_data_encode(const struct viewer_content *content, struct strbuf *out) must_check;

#endif
