/* SPDX-License-Identifier: Apache-2.0 */
/* Walks the functions of a stack from its leaf to its root, or from its root to its leaf. A
 * function that was inlined is nearer to the leaf than the one that it was inlined into. */
#ifndef TOP_FRAME_WALK_H
#define TOP_FRAME_WALK_H

#include "profile/profile.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct frame_walk {
	const struct profile *profile; /* borrowed */
	uint32_t stack;
	size_t location; /* in the stack */
	uint32_t line; /* of the location */
};

/* Returns a walk at the leaf. */
static inline struct frame_walk frame_walk_of(const struct profile *profile, uint32_t stack)
{
	return (struct frame_walk){ .profile = profile, .stack = stack };
}

/* Returns the location of the current function, or NULL behind the last one. */
static inline const struct profile_location *frame_walk_location(const struct frame_walk *walk)
{
	const struct profile_stack *stack = &walk->profile->stacks[walk->stack];

	if (walk->location >= stack->nr)
		return NULL;
	uint32_t number = walk->profile->stack_locations[stack->first + walk->location];
	return &walk->profile->locations[number];
}

/* Returns the current function; there must be one. */
static inline const struct profile_function *frame_walk_function(const struct frame_walk *walk)
{
	const struct profile_location *location = frame_walk_location(walk);
	const struct profile_line *lines = profile_location_lines(walk->profile, location);

	return &walk->profile->functions[location->nr_lines > 0 ? lines[walk->line].function : 0];
}

/* Moves to the caller. */
static inline void frame_walk_next(struct frame_walk *walk)
{
	const struct profile_location *location = frame_walk_location(walk);

	if (location && walk->line + 1 < location->nr_lines) {
		walk->line++;
		return;
	}
	walk->location++;
	walk->line = 0;
}

static inline void frame_walk_enter(struct frame_walk *walk)
{
	const struct profile_location *location = frame_walk_location(walk);

	walk->line = location && location->nr_lines > 0 ? location->nr_lines - 1 : 0;
}

/* Returns a walk at the root. */
static inline struct frame_walk frame_walk_from_root(const struct profile *profile, uint32_t stack)
{
	struct frame_walk walk = { .profile = profile, .stack = stack };

	walk.location = profile->stacks[stack].nr - 1; /* of no frames: behind all */
	frame_walk_enter(&walk);
	return walk;
}

/* Moves to the function that was called. */
static inline void frame_walk_inward(struct frame_walk *walk)
{
	if (walk->line > 0) {
		walk->line--;
		return;
	}
	walk->location--; /* from the leaf: behind all */
	frame_walk_enter(walk);
}

/* Moves to the first function that is not the kernel's, if the current one is. */
static inline void frame_walk_skip_kernel(struct frame_walk *walk)
{
	const struct profile_location *location;

	while ((location = frame_walk_location(walk)) && location->kind == FRAME_KERNEL)
		frame_walk_next(walk);
}

#endif
