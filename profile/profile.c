/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/profile.h"

#include <stdlib.h>
#include <string.h>

const char *profile_location_name(const struct profile *profile, uint32_t location)
{
	const struct profile_line *line = profile->lines + profile->locations[location].first_line;

	return profile_string(profile, profile->functions[line->function].name);
}

const char *profile_resource_get(const struct profile *profile, uint32_t resource, const char *key)
{
	const struct profile_resource *of = &profile->resources[resource];

	for (size_t i = of->first; i < of->first + of->nr; i++)
		if (strcmp(profile_string(profile, profile->attributes[i].key), key) == 0)
			return profile_string(profile, profile->attributes[i].value);
	return NULL;
}

uint64_t profile_period(const struct profile *profile)
{
	if (!profile_type_names(profile->type)->period_type[0])
		return 0;
	return profile->period ? profile->period : 1;
}

uint64_t profile_total(const struct profile *profile)
{
	uint64_t total = 0;

	for (size_t i = 0; i < profile->nr_samples; i++)
		total += profile->samples[i].count;
	return total;
}

uint64_t profile_nr_taken(const struct profile *profile)
{
	uint64_t nr = 0;

	for (size_t i = 0; i < profile->nr_samples; i++)
		nr += profile_sample_nr_taken(profile, &profile->samples[i]);
	return nr;
}

struct profile *profile_ref(struct profile *profile)
{
	__atomic_add_fetch(&profile->nr_refs, 1, __ATOMIC_RELAXED);
	return profile;
}

static void profile_free(struct profile *profile)
{
	intern_done(&profile->strings);
	free(profile->mappings);
	free(profile->functions);
	free(profile->lines);
	free(profile->locations);
	free(profile->stack_locations);
	free(profile->stacks);
	free(profile->attributes);
	free(profile->resources);
	free(profile->processes);
	free(profile->samples);
	free(profile);
}

void profile_unref(struct profile *profile)
{
	/* Accesses of other holders happen before the profile is freed. */
	if (profile && __atomic_sub_fetch(&profile->nr_refs, 1, __ATOMIC_ACQ_REL) == 0)
		profile_free(profile);
}
