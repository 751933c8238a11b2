/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles for tests, written as folded text. */
#ifndef TESTS_UNIT_STACKS_H
#define TESTS_UNIT_STACKS_H

#include "profile/profile.h"

#include <stddef.h>
#include <stdint.h>

struct stack_line {
	const char *comm;
	/* root first, separated by ';'; marked as in profile/folded.h; [x] is a stop */
	const char *frames;
	uint32_t count;
};

/* Every location gets an address of its own. What is inlined (_[i]) is at the location of the frame
 * before it. _[j] stands for FRAME_JIT. Fails the test for want of memory. */
struct profile *profile_of_stacks(const struct stack_line *lines, size_t nr);

struct wait_line {
	const char *comm, *frames; /* as above */
	enum wait_reason reason;
	uint64_t time_ns;
};

/* The same of waits, off the CPU. Each line is one wait of a process of its own. */
struct profile *profile_of_waits(const struct wait_line *lines, size_t nr);

#endif
