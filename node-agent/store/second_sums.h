/* SPDX-License-Identifier: Apache-2.0 */
/* Sums up the samples of a profile by program, by CPU and by time. */
#ifndef STORE_SECOND_SUMS_H
#define STORE_SECOND_SUMS_H

#include "base/err.h"
#include "profile/profile.h"
#include "store/dict.h"
#include "store/second.h"

#include <stddef.h>
#include <stdint.h>

struct second_sums {
	struct second_group *groups; /* owned */
	size_t nr_groups, cap_groups;
	struct second_cpu *cpus; /* owned; ordered */
	size_t nr_cpus, cap_cpus;
	struct second_series series; /* its pointers are the two above */
};

/* Makes the sums of a sealed profile. The groups' label sets are added to `dict`.
 * second_sums_done() is needed after a failure, too. Errors: -ENOSPC, -ENOMEM. */
int second_sums_make(struct second_sums *sums, const struct profile *profile, struct dict *dict)
	must_check;
void second_sums_done(struct second_sums *sums);

#endif
