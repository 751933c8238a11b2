// SPDX-License-Identifier: Apache-2.0
// C++: virtual calls, lambdas, containers, destructors that run while an exception passes.
#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "burn.h"
#include "library.h"

namespace
{

struct guard {
	unsigned long value;
	~guard()
	{
		sink += burn(10 + value % 8);
	}
};

struct shape {
	virtual ~shape() = default;
	virtual unsigned long area(unsigned long x) const = 0;
};

struct square : shape {
	NOINLINE unsigned long area(unsigned long x) const override
	{
		return burn(30 + x % 16) * x;
	}
};

struct nested_shape : shape {
	std::unique_ptr<shape> inside;
	explicit nested_shape(std::unique_ptr<shape> of) : inside(std::move(of))
	{
	}
	NOINLINE unsigned long area(unsigned long x) const override
	{
		guard at_end{ x };
		return inside->area(x + 1) + 1;
	}
};

struct failure : std::runtime_error {
	unsigned long depth;
	explicit failure(unsigned long at) : std::runtime_error("expected"), depth(at)
	{
	}
};

NOINLINE unsigned long throwing(unsigned long x, unsigned long depth)
{
	guard on_the_way{ depth };
	std::string text(depth % 40, 'x');

	if (depth == 0) {
		if (x % 4 == 0)
			throw failure(x);
		return burn(20);
	}
	return throwing(x, depth - 1) + text.size();
}

NOINLINE unsigned long catching(unsigned long x)
{
	try {
		return throwing(x, 10 + x % 30);
	} catch (const failure &error) {
		return error.depth;
	}
}

NOINLINE unsigned long rethrowing(unsigned long x)
{
	try {
		try {
			return throwing(x, 5);
		} catch (...) {
			sink += burn(50);
			throw;
		}
	} catch (const std::exception &error) {
		return std::string(error.what()).size();
	}
}

NOINLINE unsigned long with_map(unsigned long x)
{
	std::map<std::string, unsigned long> map;

	for (unsigned long i = 0; i < 20; i++)
		map[std::to_string((x + i) % 97)] += burn(5);
	return map.begin()->second;
}

NOINLINE unsigned long with_sort(unsigned long x)
{
	std::vector<unsigned long> numbers(64);

	for (unsigned long i = 0; i < numbers.size(); i++)
		numbers[i] = (i * 7919 + x) % 1009;
	std::sort(numbers.begin(), numbers.end(),
		  [](unsigned long a, unsigned long b) { return burn(4 + a % 2) + a < burn(4) + b; });
	return numbers[0];
}

}

int main()
{
	std::unique_ptr<shape> shapes = std::make_unique<square>();
	std::vector<std::function<unsigned long(unsigned long)>> functions;

	begin_burning();
	for (int i = 0; i < 8; i++)
		shapes = std::make_unique<nested_shape>(std::move(shapes));
	functions.emplace_back(catching);
	functions.emplace_back(rethrowing);
	functions.emplace_back(with_map);
	functions.emplace_back(with_sort);
	functions.emplace_back([&](unsigned long x) { return shapes->area(x); });
	functions.emplace_back([](unsigned long x) { return library_apply(library_chain, x); });
	for (unsigned long x = 0;; x++)
		for (auto &function : functions)
			sink += function(x);
}
