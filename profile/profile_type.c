/* SPDX-License-Identifier: Apache-2.0 */
/* In OTLP a period type also tells Pyroscope the family, so that of memory is "memory" here and not
 * "space" as in Go's own profiles. off_cpu is the exception: there it must have none. */
#include "profile/profile_type.h"

#include <string.h>

/* The period type is the event, too. */
#define EVENTS(name)                                                                               \
	{                                                                                          \
		(name), (name), "count", (name), "count", (name)                                   \
	}

static const struct profile_type_names names_of[PROFILE_NR_TYPES] = {
	[PROFILE_CPU] = { "process_cpu", "samples", "count", "cpu", "nanoseconds", "samples" },
	[PROFILE_WALL] = { "wall", "wall", "nanoseconds", "wall", "nanoseconds", "nanoseconds" },
	[PROFILE_OFF_CPU] = { "off_cpu", "off_cpu", "nanoseconds", "", "", "nanoseconds" },
	[PROFILE_ALLOC_OBJECTS] = { "memory", "alloc_objects", "count", "memory", "bytes",
				    "objects" },
	[PROFILE_ALLOC_SPACE] = { "memory", "alloc_space", "bytes", "memory", "bytes", "bytes" },
	[PROFILE_INUSE_OBJECTS] = { "memory", "inuse_objects", "count", "memory", "bytes",
				    "objects" },
	[PROFILE_INUSE_SPACE] = { "memory", "inuse_space", "bytes", "memory", "bytes", "bytes" },
	[PROFILE_LOCK_CONTENTIONS] = { "mutex", "contentions", "count", "mutex", "count",
				       "contentions" },
	[PROFILE_LOCK_DELAY] = { "mutex", "delay", "nanoseconds", "mutex", "count", "nanoseconds" },
	[PROFILE_RSS_GROWTH] = { "memory", "rss_growth", "bytes", "memory", "bytes", "bytes" },
	[PROFILE_IRQ] = { "irq", "irq", "nanoseconds", "irq", "nanoseconds", "nanoseconds" },
	[PROFILE_CYCLES] = EVENTS("cycles"),
	[PROFILE_INSTRUCTIONS] = EVENTS("instructions"),
	[PROFILE_CACHE_MISSES] = EVENTS("cache-misses"),
	[PROFILE_BRANCH_MISSES] = EVENTS("branch-misses"),
	[PROFILE_PAGE_FAULTS] = EVENTS("page-faults"),
	[PROFILE_MAJOR_FAULTS] = EVENTS("major-faults"),
	[PROFILE_CONTEXT_SWITCHES] = EVENTS("context-switches"),
	[PROFILE_MIGRATIONS] = EVENTS("migrations"),
};

const struct profile_type_names *profile_type_names(enum profile_type type)
{
	return &names_of[type];
}

enum profile_type profile_type_find(const char *sample_type, const char *sample_unit)
{
	for (enum profile_type type = 0; type < PROFILE_NR_TYPES; type++)
		if (strcmp(names_of[type].sample_type, sample_type) == 0 &&
		    strcmp(names_of[type].sample_unit, sample_unit) == 0)
			return type;
	return PROFILE_NR_TYPES;
}

const char *profile_type_word(enum profile_type type)
{
	return type == PROFILE_CPU ? "cpu" : names_of[type].sample_type;
}

enum profile_type profile_type_from_word(const char *word)
{
	enum profile_type type = 0;

	while (type < PROFILE_NR_TYPES && strcmp(profile_type_word(type), word) != 0)
		type++;
	return type;
}
