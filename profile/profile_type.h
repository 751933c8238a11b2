/* SPDX-License-Identifier: Apache-2.0 */
/* Types of profiles, and their names in pprof, OpenTelemetry and Pyroscope.
 *
 * The sample type is the meaning of a value; the period type is the event that triggers a sample. A
 * CPU profile counts samples, one per period of CPU time. */
#ifndef PROFILE_PROFILE_TYPE_H
#define PROFILE_PROFILE_TYPE_H

#include <stdbool.h>

enum profile_type {
	PROFILE_CPU, /* values count samples; each stands for a period of CPU time */
	PROFILE_WALL,
	PROFILE_OFF_CPU,
	PROFILE_ALLOC_OBJECTS,
	PROFILE_ALLOC_SPACE,
	PROFILE_INUSE_OBJECTS,
	PROFILE_INUSE_SPACE,
	PROFILE_LOCK_CONTENTIONS,
	PROFILE_LOCK_DELAY,
	PROFILE_RSS_GROWTH,
	PROFILE_IRQ, /* time in hard and soft interrupts */
	/* Values count events (capture/perf_events/counted_event.h). */
	PROFILE_CYCLES,
	PROFILE_INSTRUCTIONS,
	PROFILE_CACHE_MISSES,
	PROFILE_BRANCH_MISSES,
	PROFILE_PAGE_FAULTS,
	PROFILE_MAJOR_FAULTS,
	PROFILE_CONTEXT_SWITCHES,
	PROFILE_MIGRATIONS,
	PROFILE_NR_TYPES,
};

struct profile_type_names {
	/* Pyroscope's group, in its label __name__: "process_cpu", "memory" */
	const char *family;
	const char *sample_type, *sample_unit;
	const char *period_type, *period_unit; /* "": it has no period */
	const char *values; /* in words, for people: "samples", "bytes" */
};

/* Static. */
const struct profile_type_names *profile_type_names(enum profile_type type);

/* Returns whether a profile says what there was at one moment, so that several ones must not be
 * added up. */
static inline bool profile_type_is_snapshot(enum profile_type type)
{
	return type == PROFILE_INUSE_OBJECTS || type == PROFILE_INUSE_SPACE;
}

/* Returns the type with these sample names ("alloc_space", "bytes"), or PROFILE_NR_TYPES. */
enum profile_type profile_type_find(const char *sample_type, const char *sample_unit);

/* Returns the word by which users choose a type: "cpu", "wall", "alloc_space". */
const char *profile_type_word(enum profile_type type);

/* Returns the type with that word, or PROFILE_NR_TYPES. */
enum profile_type profile_type_from_word(const char *word);

#endif
