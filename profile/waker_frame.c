/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/waker_frame.h"

#include <string.h>

bool waker_frame_is(const struct profile *profile, uint32_t location)
{
	return profile->locations[location].kind == FRAME_STOP &&
	       strncmp(profile_location_name(profile, location), WAKER_FRAME_PREFIX,
		       strlen(WAKER_FRAME_PREFIX)) == 0;
}

size_t waker_frame_depth(const struct profile *profile, uint32_t number)
{
	const struct profile_stack *stack = &profile->stacks[number];

	if (profile->type == PROFILE_CPU)
		return 0;
	for (size_t i = 0; i < stack->nr; i++)
		if (waker_frame_is(profile, profile->stack_locations[stack->first + i]))
			return i + 1;
	return 0;
}
