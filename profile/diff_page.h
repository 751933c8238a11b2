/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of a page of HTML (html.h) that show a diff in numbers. */
#ifndef PROFILE_DIFF_PAGE_H
#define PROFILE_DIFF_PAGE_H

#include "base/strbuf.h"
#include "profile/diff.h"
#include "profile/diff_table.h"

/* Appends the totals of both profiles. */
void diff_page_append_totals(const struct diff *diff, struct strbuf *out);

/* Appends the functions whose change is more than noise, and how many others there are. */
void diff_page_append_functions(const struct diff *diff, const struct diff_table *functions,
				struct strbuf *out);

/* Appends the same of pods and processes. */
void diff_page_append_owners(const struct diff *diff, const struct diff_table *owners,
			     struct strbuf *out);

#endif
