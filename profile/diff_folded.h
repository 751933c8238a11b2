/* SPDX-License-Identifier: Apache-2.0 */
/* A diff as folded text with two counts, as difffolded.pl of FlameGraph writes it: each stack
 * (folded.h), its count before and its count after. flamegraph.pl draws it.
 *
 *	nginx;main;parse 30 90
 *
 * Counts of before are multiplied by the scale of the diff, as those of difffolded.pl -n are. They
 * have two decimals unless the scale is 1. */
#ifndef PROFILE_DIFF_FOLDED_H
#define PROFILE_DIFF_FOLDED_H

#include "base/err.h"
#include "base/strbuf.h"
#include "profile/diff.h"

/* Errors: -ENOSPC, -ENOMEM, kept in `out` as well. */
int diff_folded_encode(const struct diff *diff, struct strbuf *out) must_check;

#endif
