/* SPDX-License-Identifier: Apache-2.0 */
/* The attributes that are sent with the samples of one profile. attribute_maker.h chooses them, and
 * the encoders write them. */
#ifndef OTLP_ATTRIBUTES_EXPORT_ATTRIBUTES_H
#define OTLP_ATTRIBUTES_EXPORT_ATTRIBUTES_H

#include "base/arena.h"
#include "profile/builder.h"

#include <stddef.h>
#include <stdint.h>

/* Attributes of a sample. The guard may have removed values. */
struct kept_attributes {
	uint64_t cgroup_id; /* 0: none */
	uint32_t group;
	uint32_t thread_name; /* string of the profile; 0: none; ATTRIBUTE_OTHER: collapsed */
	uint32_t container; /* the same */
	uint32_t thread_id; /* 0: none */
	uint32_t pid; /* 0: none */
	uint32_t cpu; /* ATTRIBUTE_NONE: none */
	enum wait_reason reason; /* REASON_NONE: none */
};
#define ATTRIBUTE_OTHER_TEXT "[other]" /* sent for ATTRIBUTE_OTHER */
#define ATTRIBUTE_NONE UINT32_MAX
#define ATTRIBUTE_OTHER UINT32_MAX

/* Attributes of a resource, or of a process in a resource. All samples of a group are sent as one
 * profile. */
struct group_attributes {
	const struct attribute *items; /* most important first */
	size_t nr;
	uint32_t pid; /* process.pid, which is a number; 0: none */
};

/* Texts are borrowed from the profile, the maker and `memory`. */
struct export_attributes {
	/* Owned; those of a resource stand together, in the order of the profile */
	struct group_attributes *groups;
	size_t nr_groups;
	struct kept_attributes *samples; /* owned; by the profile's samples */
	struct arena memory;
};

/* Frees what is owned; an empty struct is fine. */
void export_attributes_done(struct export_attributes *attributes);

#endif
