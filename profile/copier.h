/* SPDX-License-Identifier: Apache-2.0 */
/* Copies elements of a sealed profile into a builder. */
#ifndef PROFILE_COPIER_H
#define PROFILE_COPIER_H

#include "base/err.h"
#include "base/htable.h"
#include "profile/builder.h"
#include "profile/profile.h"

#include <stddef.h>
#include <stdint.h>

/* Translations hold the new number + 1; 0 stands for "not asked yet". */
struct copier {
	struct builder *to; /* borrowed */
	const struct profile *from; /* borrowed */
	uint32_t *numbers; /* owned; the memory of the following */
	uint32_t *strings;
	uint32_t *mappings;
	uint32_t *functions;
	uint32_t *locations;
	uint32_t *stacks;
	uint32_t *resources;
	uint32_t *processes;
	struct htable known_mappings; /* of the builder, by content */
	uint32_t *stack; /* owned; the translated stack */
	size_t cap_stack;
	struct profile_line *lines; /* owned; those of a location, translated */
	size_t cap_lines;
	struct attribute *attributes; /* owned; those of a resource */
	size_t cap_attributes;
};

/* Both must outlive the copier, and while it is used, only it may add mappings to the builder.
 * copier_done() is needed after a failure, too. Errors: -ENOMEM. */
int copier_init(struct copier *copier, struct builder *to, const struct profile *from) must_check;
void copier_done(struct copier *copier);

/* Add an element unless an equal one exists. Errors: -ENOSPC, -ENOMEM. */
int copier_add_location(struct copier *copier, uint32_t old, uint32_t *ret_new) must_check;
int copier_add_mapping(struct copier *copier, uint32_t old, uint32_t *ret_new) must_check;
int copier_add_function(struct copier *copier, uint32_t old, uint32_t *ret_new) must_check;
int copier_add_stack(struct copier *copier, uint32_t old, uint32_t *ret_new) must_check;

/* Adds a sample of the profile. Its stack is already one of the builder. Errors: -ENOSPC,
 * -ENOMEM. */
int copier_add_sample(struct copier *copier, struct profile_sample sample) must_check;

#endif
