/* SPDX-License-Identifier: Apache-2.0 */
/* 400 frames deep, all of them within the part of a stack that perf copies. */
#include "burn.h"

#define DEPTH 400

NOINLINE static unsigned long ping(unsigned int depth);

NOINLINE static unsigned long pong(unsigned int depth)
{
	return depth == 0 ? burn(2000000) : ping(depth - 1) + 1;
}

NOINLINE static unsigned long ping(unsigned int depth)
{
	return depth == 0 ? burn(1000000) : pong(depth - 1) + depth;
}

int main(void)
{
	begin_burning();
	for (;;)
		sink += ping(DEPTH) + ping(DEPTH - 1);
}
