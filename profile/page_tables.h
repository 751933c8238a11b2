/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of a page of HTML (html.h): the functions of a profile, and its labels. */
#ifndef PROFILE_PAGE_TABLES_H
#define PROFILE_PAGE_TABLES_H

#include "base/err.h"
#include "base/strbuf.h"
#include "profile/function_table.h"

/* Appends the functions that ran most, with what they called. */
void page_tables_append_functions(const struct frame_rows *rows,
				  const struct function_table *functions, struct strbuf *out);

/* Appends a table for each label that samples have: hosts, pods, processes, threads. One with too
 * many values (RANKING_LABELS_MAX) is left out. Errors: -ENOMEM. */
int page_tables_append_labels(const struct profile *profile, struct strbuf *out) must_check;

#endif
