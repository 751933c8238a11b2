/* SPDX-License-Identifier: Apache-2.0 */
/* All functions of a diff as a table of comma-separated values (as csv.h), from the surest growth
 * to the surest decline:
 *
 *	function,kernel,self_before,self_after,self_points,self_noise,total_before,total_after,\
 *		total_points,total_noise
 *	brotli,0,0,500,50.0000,0,0,500,50.0000,0
 *
 * Counts are those of samples, points those of the change of the share. A change that may be noise
 * (diff.h) has a 1. */
#ifndef PROFILE_DIFF_CSV_H
#define PROFILE_DIFF_CSV_H

#include "base/err.h"
#include "base/strbuf.h"
#include "profile/diff.h"
#include "profile/diff_table.h"

/* Errors: -ENOSPC, -ENOMEM, kept in `out` as well. */
int diff_csv_encode(const struct diff *diff, const struct diff_table *functions, struct strbuf *out)
	must_check;

#endif
