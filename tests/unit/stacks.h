/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles for tests, written as folded text. */
#ifndef TESTS_UNIT_STACKS_H
#define TESTS_UNIT_STACKS_H

#include "profile/profile.h"

struct stack_line {
	const char *comm;
	const char *frames; /* root first, separated by ';'; _[k] marks the kernel's, [x] a stop */
	uint32_t count;
};

/* Every location gets an address of its own. Fails the test for want of memory. */
struct profile *profile_of_stacks(const struct stack_line *lines, size_t nr);

#endif
