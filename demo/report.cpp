/* SPDX-License-Identifier: Apache-2.0 */
/* Something to see in a flame graph: parses orders from JSON into a tree, sums them up by customer, and sorts the
 * customers. Ends by itself after a minute. */
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <unistd.h>

namespace
{

constexpr unsigned life_seconds = 60;
constexpr int nr_orders = 4000;

struct Value {
	std::map<std::string, Value> members;
	std::vector<Value> items;
	std::string text;
	double number = 0;
};

class Parser
{
      public:
	explicit Parser(std::string_view json) : rest(json)
	{
	}

	Value parse_value()
	{
		skip_blanks();
		switch (rest.empty() ? '\0' : rest.front()) {
		case '{':
			return parse_object();
		case '[':
			return parse_array();
		case '"':
			return parse_text();
		default:
			return parse_number();
		}
	}

      private:
	void skip_blanks()
	{
		rest.remove_prefix(std::min(rest.find_first_not_of(" \n"), rest.size()));
	}

	bool accept(char wanted)
	{
		skip_blanks();
		if (rest.empty() || rest.front() != wanted)
			return false;
		rest.remove_prefix(1);
		return true;
	}

	[[gnu::noinline]] Value parse_object()
	{
		Value object;

		accept('{');
		while (!accept('}') && !rest.empty()) {
			std::string name = parse_text().text;

			accept(':');
			object.members.emplace(std::move(name), parse_value());
			accept(',');
		}
		return object;
	}

	[[gnu::noinline]] Value parse_array()
	{
		Value array;

		accept('[');
		while (!accept(']') && !rest.empty()) {
			array.items.push_back(parse_value());
			accept(',');
		}
		return array;
	}

	[[gnu::noinline]] Value parse_text()
	{
		Value value;

		accept('"');
		value.text = rest.substr(0, rest.find('"'));
		rest.remove_prefix(value.text.size());
		accept('"');
		return value;
	}

	[[gnu::noinline]] Value parse_number()
	{
		Value value;
		std::string digits(rest.substr(0, rest.find_first_not_of("0123456789.")));

		value.number = std::strtod(digits.c_str(), nullptr);
		rest.remove_prefix(std::max<size_t>(digits.size(), 1));
		return value;
	}

	std::string_view rest;
};

struct Customer {
	std::string name;
	double total;
};

std::string write_orders()
{
	std::string json = "[";
	uint32_t random = 17;

	for (int i = 0; i < nr_orders; i++) {
		random = random * 1664525 + 1013904223;
		json += "{\"customer\": \"customer " + std::to_string((random >> 16) % 500) +
			"\", \"lines\": [";
		for (uint32_t line = 0; line < 1 + (random >> 30); line++)
			json += "{\"article\": \"" + std::to_string((random >> 12) % 10000) +
				"\", \"amount\": " + std::to_string(1 + line) +
				", \"price\": " + std::to_string((random >> 20) * 0.25) + "},";
		json += "]},\n";
	}
	return json + "]";
}

[[gnu::noinline]] double sum_lines(const Value &order)
{
	double total = 0;

	for (const Value &line : order.members.at("lines").items)
		total += line.members.at("amount").number * line.members.at("price").number;
	return total;
}

[[gnu::noinline]] std::vector<Customer> sum_by_customer(const Value &orders)
{
	std::unordered_map<std::string, double> totals;
	std::vector<Customer> customers;

	for (const Value &order : orders.items)
		totals[order.members.at("customer").text] += sum_lines(order);
	for (const auto &[name, total] : totals)
		customers.push_back({ name, total });
	return customers;
}

[[gnu::noinline]] void sort_by_total(std::vector<Customer> &customers)
{
	std::sort(customers.begin(), customers.end(),
		  [](const Customer &a, const Customer &b) { return a.total > b.total; });
}

[[gnu::noinline]] std::vector<Customer> make_report(const std::string &json)
{
	Value orders = Parser(json).parse_value();
	std::vector<Customer> customers = sum_by_customer(orders);

	sort_by_total(customers);
	return customers;
}

} // namespace

int main()
{
	const std::string json = write_orders();

	alarm(life_seconds);
	while (!make_report(json).empty())
		;
	return 0;
}
