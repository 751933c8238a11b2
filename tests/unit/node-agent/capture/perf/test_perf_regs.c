/* SPDX-License-Identifier: Apache-2.0 */
#include "capture/perf/perf_regs.h"

#include "base/err.h"
#include "unit.h"

/* Each register that is asked for is another one of the copy's. */
static void no_register_is_lost(void **state)
{
	uint64_t values[64];
	size_t nr = (size_t)__builtin_popcountll(perf_regs_mask);
	struct stack_copy copy = { .ip = 0 };
	(void)state;

	for (size_t i = 0; i < array_len(values); i++)
		values[i] = i + 1;
	perf_regs_to_copy((const uint8_t *)values, &copy);
	uint64_t sum = copy.ip;
	for (size_t i = 0; i < NR_REGS; i++)
		sum += copy.regs[i];
	assert_int_equal(nr, NR_REGS + 1);
	assert_int_equal(sum, nr * (nr + 1) / 2);
}

#ifdef __x86_64__
#define BIT(reg) (UINT32_C(1) << (reg))
#define KEPT (BIT(CFI_RBX) | BIT(CFI_R12) | BIT(CFI_R13) | BIT(CFI_R14) | BIT(CFI_R15))

/* Registers that have the bit are -1, others are not. */
static uint32_t missing_of(uint32_t marked, bool marks_missing)
{
	struct stack_copy copy = { .ip = 0 };

	for (size_t i = 0; i < NR_REGS; i++)
		copy.regs[i] = marked & BIT(i) ? UINT64_MAX : i;
	return perf_regs_missing(&copy, marks_missing);
}

static void registers_that_the_kernel_does_not_tell_are_missing(void **state)
{
	static const struct {
		uint32_t marked;
		bool marks_missing;
		uint32_t missing;
	} cases[] = {
		{ 0, true, 0 },
		{ KEPT | BIT(CFI_RBP), true, KEPT | BIT(CFI_RBP) },
		{ KEPT, true, KEPT },
		{ KEPT | BIT(CFI_RAX), true, KEPT },
		/* The program's own. */
		{ BIT(CFI_RBX) | BIT(CFI_RBP) | BIT(CFI_RAX), true, 0 },
		{ KEPT & ~BIT(CFI_R15), true, 0 },
		/* Nobody knows. */
		{ 0, false, KEPT | BIT(CFI_RBP) },
		{ BIT(CFI_RBX), false, KEPT | BIT(CFI_RBP) },
	};
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++)
		assert_int_equal(missing_of(cases[i].marked, cases[i].marks_missing),
				 cases[i].missing);
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_register_is_lost),
#ifdef __x86_64__
		cmocka_unit_test(registers_that_the_kernel_does_not_tell_are_missing),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
