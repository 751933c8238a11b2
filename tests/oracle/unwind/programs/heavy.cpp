// SPDX-License-Identifier: Apache-2.0
// Something for the compiler itself to do.
#include <bits/stdc++.h>

template <int N> struct tower {
	std::map<int, std::array<int, N>> floors;
	std::string describe(const std::string &text) const
	{
		std::regex words("(\\w+)\\s+(\\w+)");
		std::string out = std::regex_replace(text, words, "$2 $1");
		for (const auto &[number, rooms] : floors)
			out += std::to_string(number + std::accumulate(rooms.begin(), rooms.end(), N));
		return out + tower<N - 1>().describe(out);
	}
};

template <> struct tower<0> {
	std::string describe(const std::string &text) const
	{
		return text;
	}
};

int main(int argc, char **argv)
{
	return static_cast<int>(tower<60>().describe(argv[argc - 1]).size());
}
