/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles for tests, written as folded text. */
#ifndef TESTS_UNIT_STACKS_H
#define TESTS_UNIT_STACKS_H

#include "profile/profile.h"

struct stack_line {
	const char *comm;
	/* root first, separated by ';'; marked as in profile/folded.h; [x] is a stop */
	const char *frames;
	uint32_t count;
};

/* Every location gets an address of its own. What is inlined (_[i]) is at the location of the frame
 * before it. _[j] stands for FRAME_JIT. Fails the test for want of memory. */
struct profile *profile_of_stacks(const struct stack_line *lines, size_t nr);

#endif
