// SPDX-License-Identifier: Apache-2.0
// Exceptions thrown through many frames: most samples are in the unwinder of the C++ runtime itself.
#include <stdexcept>

#include "burn.h"

namespace
{

struct guard {
	~guard()
	{
		sink += 1;
	}
};

NOINLINE unsigned long descend(unsigned long depth)
{
	guard on_the_way;

	if (depth == 0)
		throw std::out_of_range("expected");
	return descend(depth - 1) + 1;
}

NOINLINE void attempt(unsigned long depth)
{
	try {
		sink += descend(depth);
	} catch (const std::out_of_range &) {
		sink += burn(100);
	}
}

}

int main()
{
	begin_burning();
	for (unsigned long x = 0;; x++)
		attempt(x % 60);
}
