/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/lock_samples.h"

#include "base/cleanup.h"
#include "profile/wait_split.h"

int lock_samples_settle(struct profile *profile, uint64_t *ret_nr_removed)
{
	_cleanup_(wait_split_done) struct wait_split split = { 0 };
	size_t nr_kept = 0;

	int r = wait_split_init(&split, profile);
	if (r < 0)
		return r;
	*ret_nr_removed = 0;
	for (size_t i = 0; i < profile->nr_samples; i++) {
		struct profile_sample *sample = &profile->samples[i];

		if (!wait_split_is_for_lock(&split, sample)) {
			*ret_nr_removed += profile_sample_nr_taken(profile, sample);
			continue;
		}
		if (sample->reason == REASON_NONE)
			sample->reason = REASON_FUTEX;
		profile->samples[nr_kept++] = *sample;
	}
	profile->nr_samples = nr_kept;
	return 0;
}
