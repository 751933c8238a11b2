/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of a profile as a table of comma-separated values (RFC 4180, with lines that end in
 * a newline), the ones that ran most first:
 *
 *	group,function,kind,module,file,line,self,total,self_percent,total_percent
 *	,memcpy,native,/usr/lib/libc.so.6,,,120,120,60.00,60.00
 *	,main,native,/usr/bin/web,web.c,10,0,200,0.00,100.00
 *
 * `group` has the labels of a grouped profile (view.h), separated by semicolons. `self` counts the
 * samples in which the function ran, `total` those with it in their stack; percentages are of all
 * samples of the profile. Samples without frames have the function "[no stack]", so that the sum of
 * `self` is that of all samples. Values are printable (base/printable.h). A value that a
 * spreadsheet would take for a formula has an apostrophe before it. */
#ifndef PROFILE_CSV_H
#define PROFILE_CSV_H

#include "base/err.h"
#include "base/strbuf.h"
#include "profile/profile.h"

/* Appends a value and a comma. */
void csv_append_text(struct strbuf *out, const char *text);

/* Errors: -ENOSPC, -ENOMEM, kept in `out` as well. */
int csv_encode(const struct profile *profile, struct strbuf *out) must_check;

#endif
