/* SPDX-License-Identifier: Apache-2.0 */
/* Takes a compiler a while; and the program is made of functions inlined into each other, of the library's. */
#include <algorithm>
#include <functional>
#include <map>
#include <random>
#include <regex>
#include <string>
#include <unordered_map>
#include <vector>

using counts = std::map<std::string, std::vector<int>>;

template <int N> struct work {
	static counts sorted(const std::string &text)
	{
		counts found;
		std::mt19937_64 random(N);
		std::unordered_map<std::string, std::function<int(int)>> functions;
		std::regex word("([a-z]+|[0-9]{1,3})" + std::to_string(N % 10), std::regex::icase);
		for (std::sregex_iterator match(text.begin(), text.end(), word), end; match != end; ++match)
			for (int i = 0; i < 32; i++)
				found[match->str()].push_back(static_cast<int>(random()));
		for (auto &[key, numbers] : found) {
			functions[key] = [size = numbers.size()](int i) { return i + static_cast<int>(size); };
			std::stable_sort(numbers.begin(), numbers.end(),
					 [](int a, int b) { return a % (N + 2) < b % (N + 2); });
			numbers[0] = functions[key](numbers[0]);
		}
		auto more = work<N - 1>::sorted(text);
		found.insert(more.begin(), more.end());
		return found;
	}
};

template <> struct work<0> {
	static counts sorted(const std::string &)
	{
		return {};
	}
};

int main()
{
	std::string text;
	for (int i = 0; i < 1000; i++)
		text += "word" + std::to_string(i * i % 997) + (i % 7 ? " " : "\n");
	while (!work<5>::sorted(text).empty())
		;
}
