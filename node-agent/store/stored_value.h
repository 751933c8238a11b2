/* SPDX-License-Identifier: Apache-2.0 */
/* Values of samples in files. As in a profile of CPU time, a value stands for a period there: times
 * off the CPU are kept in microseconds, which takes less room than nanoseconds. */
#ifndef STORE_STORED_VALUE_H
#define STORE_STORED_VALUE_H

#include "base/clock.h"
#include "profile/profile.h"

#include <stdint.h>
#include <string.h>

/* Returns the period of a profile's samples in files: what a value of 1 stands for, in ns of CPU
 * time or in the type's unit. */
static inline uint64_t stored_period(const struct profile *profile)
{
	const char *unit = profile_type_names(profile->type)->sample_unit;

	if (profile->type == PROFILE_CPU)
		return profile->period;
	return strcmp(unit, "nanoseconds") == 0 ? NSEC_PER_USEC : 1;
}

/* Returns the value of a sample in files; it is never 0. */
static inline uint64_t stored_value(const struct profile *profile,
				    const struct profile_sample *sample)
{
	uint64_t period = profile->type == PROFILE_CPU ? 1 : stored_period(profile);
	uint64_t value = sample->count / period + (sample->count % period >= (period + 1) / 2);

	return value > 0 ? value : 1;
}

/* Returns what a value in a file, or a sum of such values, is in a profile. */
static inline uint64_t stored_value_restore(enum profile_type type, uint64_t period, uint64_t value)
{
	uint64_t result;

	if (type == PROFILE_CPU)
		return value;
	return __builtin_mul_overflow(value, period, &result) ? UINT64_MAX : result;
}

/* Returns the period of a profile that has such values. */
static inline uint64_t stored_period_restore(enum profile_type type, uint64_t period)
{
	return type == PROFILE_CPU ? period : 0;
}

/* Returns how many samples those of a profile count as: one of CPU time may stand for several, and
 * others have values instead. */
static inline uint64_t stored_nr_samples(const struct profile *profile)
{
	return profile->type == PROFILE_CPU ? profile_total(profile) : profile->nr_samples;
}

/* The same, of a single sample. */
static inline uint64_t stored_weight(const struct profile *profile,
				     const struct profile_sample *sample)
{
	return profile->type == PROFILE_CPU ? sample->count : 1;
}

#endif
