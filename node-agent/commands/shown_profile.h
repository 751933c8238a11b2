/* SPDX-License-Identifier: Apache-2.0 */
/* The profile that output files show: a view of the one that was sampled or queried. */
#ifndef COMMANDS_SHOWN_PROFILE_H
#define COMMANDS_SHOWN_PROFILE_H

#include "base/err.h"
#include "base/strbuf.h"
#include "config/options.h"
#include "profile/profile.h"
#include "profile/view.h"

/* Returns whether the outputs or their groups need the labels of samples, not only the process. */
bool shown_profile_wants_labels(const struct options *options);

/* Returns the view that the options ask for; it borrows their texts. */
struct view shown_profile_view(const struct options *options);

/* Makes the view that the options ask for; the caller drops the reference. Appends to `note`, as
 * sentences, how it differs from the profile. Errors: -ENOSPC too many groups, -ENOMEM. */
int shown_profile_make(const struct options *options, struct profile *profile, struct strbuf *note,
		       struct profile **ret_shown) must_check;

#endif
