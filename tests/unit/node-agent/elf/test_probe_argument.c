/* SPDX-License-Identifier: Apache-2.0 */
#include "elf/probe_argument.h"

#include "bpf/shared/heap.h"
#include "unit.h"

#include <stddef.h>
#include <sys/user.h>

#define WORD(name) (offsetof(struct user_regs_struct, name) / 8)
#define AT(offset) ((uint64_t)((offset) + HEAP_OFFSET_BIAS) << HEAP_OFFSET_SHIFT)

static void places_are_read(void **state)
{
	static const struct {
		const char *text;
		uint64_t place;
	} cases[] = {
		{ "8@%rdi", WORD(rdi) },
		{ "-8@%r15", WORD(r15) },
		{ "4@%edx", WORD(rdx) | HEAP_IS_SHORT },
		{ "8@(%rbp)", WORD(rbp) | HEAP_IN_MEMORY | AT(0) },
		{ "8@-16(%rbp)", WORD(rbp) | HEAP_IN_MEMORY | AT(-16) },
		{ "-4@4095(%rsp)", WORD(rsp) | HEAP_IN_MEMORY | HEAP_IS_SHORT | AT(4095) },
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

	assert_int_equal(probe_argument_parse_all("8@%rdi 8@%rsi  8@%rdx 8@%rcx", 3, &arguments),
			 0);
	assert_int_equal(arguments, HEAP_USUAL_ARGUMENTS);
}

static void other_places_are_refused(void **state)
{
	static const struct {
		const char *text;
		int error;
	} cases[] = {
		{ "", -EINVAL },
		{ "8", -EINVAL },
		{ "8@", -EINVAL },
		{ "8%rdi", -EINVAL },
		{ "-", -EINVAL },
		{ "8@-", -EINVAL },
		{ "8@16", -EINVAL },
		{ "8@16(", -EINVAL },
		{ "8@16(rbp)", -EINVAL },
		{ "8@(%rbp", -EINVAL },
		{ "2@%di", -EOPNOTSUPP },
		{ "8@%xmm0", -EOPNOTSUPP },
		{ "8@$5", -EOPNOTSUPP },
		{ "8@name(%rip)", -EOPNOTSUPP },
		{ "8@8(%rax,%rbx,8)", -EOPNOTSUPP },
		{ "8@4096(%rbp)", -EOPNOTSUPP },
		{ "8@99999999999999999999999(%rbp)", -EOPNOTSUPP },
		{ "8@0000000000000000000000000000000000008(%rbp)", -EOPNOTSUPP },
	};
	uint64_t arguments = 77;
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++)
		assert_int_equal(probe_argument_parse_all(cases[i].text, 1, &arguments),
				 cases[i].error);
	assert_int_equal(probe_argument_parse_all("8@%rdi", 2, &arguments), -EINVAL);
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
