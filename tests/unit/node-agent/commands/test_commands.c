/* SPDX-License-Identifier: Apache-2.0 */
#include "commands/commands.h"
#include "unit.h"

#include <string.h>

#define RAN_FIRST 10
#define RAN_SECOND 20

static uint32_t seen_frequency_hz;

static int run_first(const struct options *options)
{
	seen_frequency_hz = options->frequency_hz;
	return RAN_FIRST;
}

static int run_second(const struct options *options)
{
	seen_frequency_hz = options->frequency_hz;
	return RAN_SECOND;
}

static const struct command commands[] = {
	{ "record", COMMAND_RECORD, run_first, "first" },
	{ "agent", COMMAND_AGENT, run_second, "second" },
};

struct call {
	const char *args[5];
	int status;
	uint32_t frequency_hz; /* 0: no command ran */
};

static void the_first_word_chooses_the_command(void **state)
{
	static const struct call cases[] = {
		{ { "flamelet" }, RAN_FIRST, 99 },
		{ { NULL }, RAN_FIRST, 99 },
		{ { "flamelet", "-F", "7" }, RAN_FIRST, 7 },
		{ { "flamelet", "record", "-F", "7" }, RAN_FIRST, 7 },
		{ { "flamelet", "agent", "-F7" }, RAN_SECOND, 7 },
		{ { "flamelet", "--help" }, STATUS_OK, 0 },
		{ { "flamelet", "-h" }, STATUS_OK, 0 },
		{ { "flamelet", "help" }, STATUS_OK, 0 },
		{ { "flamelet", "help", "agent" }, STATUS_OK, 0 },
		{ { "flamelet", "agent", "--help" }, STATUS_OK, 0 },
		{ { "flamelet", "--help-all" }, STATUS_OK, 0 },
		{ { "flamelet", "--version" }, STATUS_OK, 0 },
		{ { "flamelet", "agnet" }, STATUS_USAGE, 0 },
		{ { "flamelet", "help", "agnet" }, STATUS_USAGE, 0 },
		{ { "flamelet", "" }, STATUS_USAGE, 0 },
		{ { "flamelet", "record", "agent" }, STATUS_USAGE, 0 },
		{ { "flamelet", "-F" }, STATUS_USAGE, 0 },
		{ { "flamelet", "--frequenzy=7" }, STATUS_USAGE, 0 },
		{ { "flamelet", "-o", "out.doc" }, STATUS_USAGE, 0 },
		{ { "flamelet", "-o", ".svg.gz" }, STATUS_USAGE, 0 },
		{ {
			  "flamelet",
			  "--",
		  },
		  STATUS_USAGE,
		  0 },
	};
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		char *argv[array_len(cases[i].args) + 1] = { NULL };

		memcpy(argv, cases[i].args, sizeof(cases[i].args));
		seen_frequency_hz = 0;
		assert_int_equal(commands_run(commands, array_len(commands), argv),
				 cases[i].status);
		assert_int_equal(seen_frequency_hz, cases[i].frequency_hz);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_word_chooses_the_command),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
