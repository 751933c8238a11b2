/* SPDX-License-Identifier: Apache-2.0 */
/* Merges profiles. */
#ifndef PROFILE_MERGE_H
#define PROFILE_MERGE_H

#include "base/err.h"
#include "profile/builder.h"
#include "profile/profile.h"

#include <stdint.h>

/* Adds all samples of a sealed profile; its time range joins the builder's, and an empty builder
 * gets its type and period. Must come before the builder's first builder_set_resource(). On error
 * part of it may be in already; *ret_lost (may be NULL; always set) is how many samples were taken
 * for what is not.
 * Errors: -EINVAL when the builder has another type or period. */
int merge_profile(struct builder *builder, const struct profile *profile, uint64_t *ret_lost)
	must_check;

/* Adds the samples of a sealed profile of any type; time range, type and period of the builder stay
 * as they are. Must come before the builder's first builder_set_resource(). On error part of it may
 * be in already. Errors: -ENOSPC, -ENOMEM. */
int merge_samples_of(struct builder *builder, const struct profile *profile) must_check;

#endif
