/* SPDX-License-Identifier: Apache-2.0 */
/* The totals of a profile, as part of a page of HTML (html.h). */
#ifndef PROFILE_PAGE_TOTALS_H
#define PROFILE_PAGE_TOTALS_H

#include "base/strbuf.h"
#include "profile/profile.h"

/* Appends a value as people read it: CPU time in seconds, else a number with its unit. */
void page_totals_append_value(const struct profile *profile, uint64_t count, struct strbuf *out);

/* Appends the totals. */
void page_totals_append(const struct profile *profile, struct strbuf *out);

#endif
