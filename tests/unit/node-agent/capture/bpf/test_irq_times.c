/* SPDX-License-Identifier: Apache-2.0 */
#include "capture/bpf/irq_times.h"

#include <string.h>

#include "unit.h"

#define NR_CPUS 2
#define MAX_TOLD 8

struct fixture {
	struct irq_cpu cpus[NR_CPUS];
	struct irq_cpu seen[NR_CPUS];
	struct irq_times times;
	struct irq_time told[MAX_TOLD];
	size_t nr_told;
};

static int set_up(void **state)
{
	struct fixture *fixture = test_calloc(1, sizeof(*fixture));

	fixture->times = (struct irq_times){
		.cpus = fixture->cpus,
		.seen = fixture->seen,
		.nr_cpus = NR_CPUS,
		.wanted.words[0] = UINT64_MAX,
	};
	*state = fixture;
	return 0;
}

static int tear_down(void **state)
{
	test_free(*state);
	return 0;
}

static void note(const struct irq_time *time, void *data)
{
	struct fixture *fixture = data;

	assert_true(fixture->nr_told < MAX_TOLD);
	fixture->told[fixture->nr_told++] = *time;
}

static void take(struct fixture *fixture)
{
	fixture->nr_told = 0;
	irq_times_take(&fixture->times, note, fixture);
}

static void only_what_came_is_told(void **state)
{
	struct fixture *fixture = *state;
	struct irq_sum *sum = &fixture->cpus[1].softirqs[SOFTIRQ_NET_RX];

	take(fixture);
	assert_int_equal(fixture->nr_told, 0);
	sum->ns = 700;
	take(fixture);
	assert_int_equal(fixture->nr_told, 1);
	assert_true(fixture->told[0].is_soft);
	assert_int_equal(fixture->told[0].vector, SOFTIRQ_NET_RX);
	assert_int_equal(fixture->told[0].cpu, 1);
	assert_int_equal(fixture->told[0].ns, 700);
	sum->ns += 50;
	take(fixture);
	assert_int_equal(fixture->told[0].ns, 50);
	take(fixture);
	assert_int_equal(fixture->nr_told, 0);
}

static void hard_interrupts_have_names_that_end(void **state)
{
	struct fixture *fixture = *state;
	struct irq_line *lines = fixture->cpus[0].lines;

	lines[3] = (struct irq_line){ .key = 0xffff888000000100, .handler = 0x1000, .sum.ns = 1 };
	memset(lines[3].name, 'x', sizeof(lines[3].name));
	lines[4] = (struct irq_line){ .key = IRQ_VECTOR_BIT | 0xec, .sum.ns = 2 };
	lines[5] = (struct irq_line){ .key = IRQ_VECTOR_BIT | 1, .sum.ns = 3 };
	fixture->cpus[0].others.ns = 4;
	take(fixture);
	assert_int_equal(fixture->nr_told, 4);
	assert_string_equal(fixture->told[0].name, "");
	assert_int_equal(fixture->told[0].ns, 4);
	assert_int_equal(strlen(fixture->told[1].name), IRQ_NAME_BYTES - 1);
	assert_int_equal(fixture->told[1].handler, 0x1000);
	assert_string_equal(fixture->told[2].name, "local timer");
	assert_int_equal(fixture->told[2].handler, 0);
	assert_string_equal(fixture->told[3].name, "");
}

static void cpus_that_are_not_wanted_are_left_out(void **state)
{
	struct fixture *fixture = *state;

	fixture->times.wanted.words[0] = 1;
	fixture->cpus[0].softirqs[SOFTIRQ_RCU].ns = 1;
	fixture->cpus[1].softirqs[SOFTIRQ_RCU].ns = 1;
	take(fixture);
	assert_int_equal(fixture->nr_told, 1);
	assert_int_equal(fixture->told[0].cpu, 0);
}

static void nothing_is_told_where_interrupts_are_not_followed(void **state)
{
	struct fixture *fixture = *state;

	fixture->times.cpus = NULL;
	fixture->cpus[0].softirqs[0].ns = 1;
	take(fixture);
	assert_int_equal(fixture->nr_told, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(only_what_came_is_told, set_up, tear_down),
		cmocka_unit_test_setup_teardown(hard_interrupts_have_names_that_end, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(cpus_that_are_not_wanted_are_left_out, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(nothing_is_told_where_interrupts_are_not_followed,
						set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
