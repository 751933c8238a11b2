/* SPDX-License-Identifier: Apache-2.0 */
/* Who ended a wait, and whose it was: an edge of the graph of wakers. */
#ifndef PROFILE_WAKER_EDGE_H
#define PROFILE_WAKER_EDGE_H

#include "base/err.h"
#include "base/strbuf.h"
#include "profile/profile.h"
#include "profile/ranking.h"

#include <stdbool.h>

/* Appends the process of the waker, or what an interrupt was of ("timer"), `between`, and the pod
 * of the thread that waited, or its process. Appends nothing and returns false if the waker is not
 * known. The time in which the thread waited for a CPU afterwards is no waker's. */
bool waker_edge_append(const struct profile *profile, const struct profile_sample *sample,
		       const char *between, struct strbuf *out);

/* Sums the values of all samples by edge, with `between` in their labels. Errors: -ENOMEM,
 * -ENOSPC. */
int waker_edge_rank(const struct profile *profile, const char *between, struct ranking *ranking)
	must_check;

#endif
