/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/sample_label.h"

#include <inttypes.h>
#include <stdio.h>

static const char *as_text(uint64_t value, char number[static LABEL_NUMBER_BYTES])
{
	snprintf(number, LABEL_NUMBER_BYTES, "%" PRIu64, value);
	return number;
}

static const char *first_attribute(const struct profile *profile, uint32_t resource,
				   const struct label_key *key)
{
	const char *value = NULL;

	for (size_t i = 0; !value && i < LABEL_ATTRIBUTES_MAX && key->attributes[i]; i++)
		value = profile_resource_get(profile, resource, key->attributes[i]);
	return value ? value : "";
}

const char *sample_label(const struct profile *profile, const struct profile_sample *sample,
			 const struct label_key *key, char number[static LABEL_NUMBER_BYTES])
{
	switch (key->source) {
	case LABEL_ATTRIBUTE:
		return first_attribute(profile, sample->resource, key);
	case LABEL_COMM:
		return profile_string(profile, sample->process_comm);
	case LABEL_THREAD:
		return profile_string(profile, sample->thread_comm);
	case LABEL_PROCESS:
		return profile_string(profile, profile->processes[sample->process].name);
	case LABEL_PID:
		return as_text(sample->pid, number);
	case LABEL_CGROUP:
		return as_text(sample->cgroup_id, number);
	case LABEL_CPU:
		return sample->cpu == PROFILE_CPU_UNKNOWN ? "" : as_text(sample->cpu, number);
	case LABEL_REASON:
		return wait_reason_word(sample->reason);
	}
	return "";
}
