/* SPDX-License-Identifier: Apache-2.0 */
/* As test_probe_argument.c, of arm64. */
#include "elf/probe_argument.h"

#include "bpf/shared/heap.h"
#include "unit.h"

#define AT(offset) ((uint64_t)((offset) + HEAP_OFFSET_BIAS) << HEAP_OFFSET_SHIFT)

static void places_are_read(void **state)
{
	static const struct {
		const char *text;
		uint64_t place;
	} cases[] = {
		{ "8@x0", 0 },
		{ "-4@w30", 30 | HEAP_IS_SHORT },
		{ "8@sp", 31 },
		{ "8@[sp]", 31 | HEAP_IN_MEMORY | AT(0) },
		{ "8@[sp, 16]", 31 | HEAP_IN_MEMORY | AT(16) },
		{ "8@[x29,-4095]", 29 | HEAP_IN_MEMORY | AT(-4095) },
	};
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		uint64_t arguments = 0;

		assert_int_equal(probe_argument_parse_all(cases[i].text, 1, &arguments), 0);
		assert_int_equal(arguments, cases[i].place);
	}
}

static void arguments_follow_each_other(void **state)
{
	uint64_t arguments = 0;
	(void)state;

	assert_int_equal(probe_argument_parse_all("8@x0 8@x1 8@x2", 3, &arguments), 0);
	assert_int_equal(arguments, HEAP_USUAL_ARGUMENTS);
	assert_int_equal(probe_argument_parse_all("8@[sp, 8] 8@x1", 2, &arguments), 0);
	assert_int_equal(arguments >> HEAP_ARGUMENT_BITS, 1);
}

static void other_places_are_refused(void **state)
{
	static const char *const cases[] = {
		"",	      "8@",	      "8@x", "8@x31", "8@x0]",	  "8@[x0", "8@[x0, ]",
		"8@[x0, x1]", "8@[sp, 4096]", "8@5", "8@d0",  "8@[x0, 8", "8@xzr",
	};
	uint64_t arguments = 77;
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++)
		assert_true(probe_argument_parse_all(cases[i], 1, &arguments) < 0);
	assert_int_equal(arguments, 77);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(places_are_read),
		cmocka_unit_test(arguments_follow_each_other),
		cmocka_unit_test(other_places_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
