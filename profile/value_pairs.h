/* SPDX-License-Identifier: Apache-2.0 */
/* Joins two profiles whose values are two measures of the same samples, such as the number of waits
 * for locks and their time. */
#ifndef PROFILE_VALUE_PAIRS_H
#define PROFILE_VALUE_PAIRS_H

#include "base/cleanup.h"
#include "base/err.h"
#include "profile/profile.h"

#include <stddef.h>
#include <stdint.h>

struct value_pair {
	uint64_t first, second;
};

struct value_pairs {
	/* Owned. It has the header of the second profile and the samples of both without their
	 * times. Their counts are sums of both values and mean nothing. */
	struct profile *profile;
	struct value_pair *pairs; /* owned; one for each sample of `profile` */
};

/* A sample that only one profile has gets 0 as its other value. `max_bytes` bounds the joined
 * profile. value_pairs_done() is needed after a failure, too. Errors: -ENOMEM, -ENOSPC. */
int value_pairs_init(struct value_pairs *pairs, const struct profile *first,
		     const struct profile *second, size_t max_bytes) must_check;
void value_pairs_done(struct value_pairs *pairs);

#endif
