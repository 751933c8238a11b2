/* SPDX-License-Identifier: Apache-2.0 */
/* A page of HTML that holds the viewer (ui/) and its data: one file that needs nothing else.
 *
 * The data (viewer_data.h) are compressed and stand in the page as base64, so no name of a profile
 * can be taken for markup. A content security policy permits only the viewer's own script and style
 * sheet, and no request to anywhere. */
#ifndef PROFILE_VIEWER_PAGE_H
#define PROFILE_VIEWER_PAGE_H

#include "base/err.h"
#include "base/strbuf.h"
#include "profile/viewer_data.h"

#include <stdbool.h>

/* Returns whether this program was built with the viewer. */
bool viewer_page_is_built(void);

/* Errors: -EOPNOTSUPP it was built without the viewer, -ENOSPC, -ENOMEM, kept in `out` as well. */
int viewer_page_encode(const struct viewer_content *content, struct strbuf *out) must_check;

/* The page of `flamelet ui`: the same viewer and what is around it, in three files, of which the
 * other two are its script "viewer.js" and its style sheet "viewer.css". The page gets its data
 * from the address `api`, relative to its own. Failures are kept in `out`. */
void viewer_page_append_live(const char *api, struct strbuf *out);
void viewer_page_append_script(struct strbuf *out);
void viewer_page_append_style(struct strbuf *out);

#endif
