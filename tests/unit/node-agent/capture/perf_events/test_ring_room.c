/* SPDX-License-Identifier: Apache-2.0 */
#include "capture/perf_events/ring_room.h"

#include "base/clock.h"

#include "unit.h"

#define KB(n) ((n)*UINT64_C(1024))
#define SIDEBAND KB(256 + 4)
#define SAMPLE KB(34) /* with the default copy */

static struct perf_ring_size wanted(uint32_t frequency_hz, uint32_t stack_copy_bytes,
				    uint64_t nr_cpus)
{
	return ring_room_wanted(&(struct ring_load){ .frequency_hz = frequency_hz,
						     .stack_copy_bytes = stack_copy_bytes,
						     .poll_interval_ns = 100 * NSEC_PER_MSEC,
						     .nr_cpus = nr_cpus });
}

static void a_ring_holds_what_comes_in_a_few_polls_within_bounds(void **state)
{
	(void)state;
	assert_int_equal(wanted(19, 32768, 2).bytes, KB(512));
	assert_int_equal(wanted(99, 32768, 2).bytes, KB(4096));
	assert_int_equal(wanted(99, 32768, 256).bytes, KB(512));
	assert_int_equal(wanted(19, 65528, 8192).bytes, KB(256));
	assert_int_equal(wanted(1, 8, 2).bytes, wanted(1, 8, 2).min_bytes);
	assert_true(wanted(19, 32768, 2).min_bytes >= 3 * SAMPLE);
}

struct fit_case {
	uint32_t frequency_hz;
	uint64_t nr_cpus;
	uint64_t cpu_bytes, locked_bytes;
	uint64_t bytes;
};

static void all_rings_of_all_cpus_fit_into_what_may_be_locked(void **state)
{
	static const struct fit_case cases[] = {
		/* The kernel's defaults, with the limits of locked memory that are usual. */
		{ 19, 2, KB(516), KB(8192), KB(512) },
		{ 19, 64, KB(516), KB(8192), KB(256) },
		{ 19, 2, KB(516), KB(64), KB(256) },
		{ 19, 16, KB(516), KB(64), KB(256) },
		{ 19, 32, KB(516), KB(64), KB(128) },
		{ 99, 2, KB(516), KB(8192), KB(4096) },
		{ 99, 64, KB(516), KB(8192), KB(256) },
		/* More, none, and less than the least. */
		{ 99, 64, KB(4096), KB(64), KB(2048) },
		{ 99, 8, RING_ROOM_UNBOUNDED, KB(64), KB(4096) },
		{ 19, 2, 0, 0, KB(128) },
		{ 19, 2, KB(516), UINT64_MAX / 2, KB(512) },
	};
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		struct perf_ring_size size = wanted(cases[i].frequency_hz, 32768, cases[i].nr_cpus);

		ring_room_fit(&(struct ring_limits){ .cpu_bytes = cases[i].cpu_bytes,
						     .locked_bytes = cases[i].locked_bytes,
						     .nr_cpus = cases[i].nr_cpus,
						     .others_bytes = SIDEBAND },
			      &size);
		assert_int_equal(size.bytes, cases[i].bytes);
	}
}

/* Three samples of the largest stacks, their page, and records of tasks. */
static void the_side_band_leaves_room_for_samples(void **state)
{
	static const struct {
		uint64_t cpu_bytes, locked_bytes, nr_cpus;
		size_t sideband_bytes;
	} cases[] = {
		{ RING_ROOM_UNBOUNDED, 0, 2, KB(256) }, { KB(516), KB(8192), 2, KB(256) },
		{ KB(516), KB(8192), 64, KB(256) },	{ KB(516), KB(8192), 128, KB(128) },
		{ KB(516), KB(64), 2, KB(128) },	{ KB(516), 0, 1, KB(128) },
	};
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		const struct ring_limits limits = { .cpu_bytes = cases[i].cpu_bytes,
						    .locked_bytes = cases[i].locked_bytes,
						    .nr_cpus = cases[i].nr_cpus };

		assert_int_equal(ring_room_for_sideband(&limits, KB(256)), cases[i].sideband_bytes);
	}
	assert_true(KB(128) + KB(64) + wanted(19, 65528, 2).min_bytes + KB(16) <= KB(516));
}

static void the_agents_rate_has_room_for_more_than_three_polls(void **state)
{
	struct perf_ring_size size = wanted(19, 32768, 16);

	(void)state;
	ring_room_fit(&(struct ring_limits){ .cpu_bytes = KB(516),
					     .locked_bytes = KB(64),
					     .nr_cpus = 16,
					     .others_bytes = SIDEBAND },
		      &size);
	assert_true(size.bytes / SAMPLE * NSEC_PER_SEC / 19 > 300 * NSEC_PER_MSEC);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_ring_holds_what_comes_in_a_few_polls_within_bounds),
		cmocka_unit_test(all_rings_of_all_cpus_fit_into_what_may_be_locked),
		cmocka_unit_test(the_side_band_leaves_room_for_samples),
		cmocka_unit_test(the_agents_rate_has_room_for_more_than_three_polls),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
