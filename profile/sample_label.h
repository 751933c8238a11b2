/* SPDX-License-Identifier: Apache-2.0 */
/* The values of a sample's labels. */
#ifndef PROFILE_SAMPLE_LABEL_H
#define PROFILE_SAMPLE_LABEL_H

#include "profile/label_key.h"
#include "profile/profile.h"

/* Returns the value of a label, "" if the sample lacks it. It is borrowed from the profile, or in
 * `number`. */
const char *sample_label(const struct profile *profile, const struct profile_sample *sample,
			 const struct label_key *key, char number[static LABEL_NUMBER_BYTES]);

#endif
