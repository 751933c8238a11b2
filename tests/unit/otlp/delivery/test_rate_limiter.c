/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "base/err.h"
#include "otlp/delivery/backoff.h"
#include "otlp/delivery/rate_limiter.h"
#include "unit.h"

#define MIB ((uint32_t)1 << 20)
#define START (1000 * NSEC_PER_SEC)

/* Sends a request as soon as it may go; returns when that was. */
static uint64_t send_one(struct rate_limiter *limiter, uint32_t cost_bytes, uint64_t now_ns)
{
	now_ns += rate_limiter_wait_ns(limiter, cost_bytes, now_ns);
	assert_int_equal(rate_limiter_wait_ns(limiter, cost_bytes, now_ns), 0);
	rate_limiter_sent(limiter, cost_bytes, now_ns);
	return now_ns;
}

static void a_burst_goes_at_once(void **state)
{
	struct rate_limiter limiter;
	(void)state;

	rate_limiter_init(&limiter, 1);
	for (int i = 0; i < 8; i++)
		assert_int_equal(send_one(&limiter, MIB / 8, START), START);
	assert_int_equal(rate_limiter_wait_ns(&limiter, MIB / 8, START), NSEC_PER_SEC / 16);
	assert_int_equal(rate_limiter_wait_ns(&limiter, 0, START), 0);
}

static void no_more_than_the_rate_passes_in_the_long_run(void **state)
{
	static const uint32_t costs[] = { 1000, MIB / 10, MIB, 2 * MIB, 7 * MIB, UINT32_MAX };
	(void)state;

	for (size_t i = 0; i < array_len(costs); i++) {
		const uint64_t end = START + 100 * NSEC_PER_SEC;
		uint64_t now = START, nr_bytes = 0;
		struct rate_limiter limiter;

		rate_limiter_init(&limiter, 1);
		while ((now = send_one(&limiter, costs[i], now)) < end)
			nr_bytes += costs[i];
		/* The burst comes on top, and one request that may be above it. */
		assert_in_range(nr_bytes, (uint64_t)200 * MIB, (uint64_t)201 * MIB + costs[i]);
	}
}

static void a_rest_is_saved_up_to_one_burst(void **state)
{
	struct rate_limiter limiter;
	(void)state;

	rate_limiter_init(&limiter, 1);
	send_one(&limiter, MIB, START);
	assert_int_equal(send_one(&limiter, MIB, START + NSEC_PER_SEC / 2),
			 START + NSEC_PER_SEC / 2);
	assert_int_equal(send_one(&limiter, MIB, 2 * START), 2 * START);
	assert_int_equal(rate_limiter_wait_ns(&limiter, MIB, 2 * START), NSEC_PER_SEC / 2);
}

static void a_request_above_the_burst_waits_for_a_full_one(void **state)
{
	struct rate_limiter limiter;
	(void)state;

	rate_limiter_init(&limiter, 1);
	assert_int_equal(send_one(&limiter, 5 * MIB, START), START);
	assert_int_equal(rate_limiter_wait_ns(&limiter, 3 * MIB, START), 5 * NSEC_PER_SEC / 2);
	assert_int_equal(rate_limiter_wait_ns(&limiter, MIB / 2, START), 9 * NSEC_PER_SEC / 4);
}

static void an_agent_without_an_outage_has_no_gaps(void **state)
{
	struct rate_limiter limiter;
	(void)state;

	rate_limiter_init(&limiter, 1);
	for (int i = 0; i < 1000; i++)
		assert_int_equal(send_one(&limiter, 100, START), START);
	rate_limiter_emptied(&limiter);
	assert_int_equal(rate_limiter_wait_ns(&limiter, 100, START), 0);
}

static void after_an_outage_requests_go_one_about_every_second(void **state)
{
	uint64_t now = START;
	struct rate_limiter limiter;
	(void)state;

	rate_limiter_init(&limiter, 1);
	rate_limiter_failed(&limiter);
	assert_int_equal(send_one(&limiter, 100, now), START);
	for (int i = 0; i < 1000; i++) {
		uint64_t next = send_one(&limiter, 100, now);

		assert_in_range(next - now, NSEC_PER_SEC / 2, 3 * NSEC_PER_SEC / 2);
		now = next;
	}
	assert_in_range(now - START, 960 * NSEC_PER_SEC, 1040 * NSEC_PER_SEC);
}

static void an_empty_queue_ends_the_recovery(void **state)
{
	struct rate_limiter limiter;
	(void)state;

	rate_limiter_init(&limiter, 1);
	rate_limiter_failed(&limiter);
	send_one(&limiter, 100, START);
	assert_true(rate_limiter_wait_ns(&limiter, 100, START) > 0);
	rate_limiter_emptied(&limiter);
	assert_int_equal(rate_limiter_wait_ns(&limiter, 100, START), 0);
	send_one(&limiter, 100, START);
	assert_int_equal(rate_limiter_wait_ns(&limiter, 100, START), 0);
}

/* The queue of an agent that gives up on what it has is empty, and its receiver is still down. */
static void an_empty_queue_does_not_end_an_outage(void **state)
{
	struct rate_limiter limiter;
	(void)state;

	rate_limiter_init(&limiter, 1);
	rate_limiter_failed(&limiter);
	rate_limiter_emptied(&limiter);
	send_one(&limiter, 100, START);
	assert_true(rate_limiter_wait_ns(&limiter, 100, START) > 0);
}

static void the_bytes_count_after_an_outage_too(void **state)
{
	struct rate_limiter limiter;
	(void)state;

	rate_limiter_init(&limiter, 1);
	rate_limiter_failed(&limiter);
	send_one(&limiter, 20 * MIB, START);
	assert_int_equal(rate_limiter_wait_ns(&limiter, MIB, START), 10 * NSEC_PER_SEC);
}

static void requests_made_after_the_outage_do_not_wait(void **state)
{
	struct rate_limiter limiter;
	(void)state;

	rate_limiter_init(&limiter, 1);
	rate_limiter_failed(&limiter);
	rate_limiter_appended(&limiter);
	send_one(&limiter, 100, START);
	assert_true(rate_limiter_wait_ns(&limiter, 100, START) > 0);
	rate_limiter_appended(&limiter);
	rate_limiter_appended(&limiter);
	assert_int_equal(send_one(&limiter, 100, START), START);
	assert_int_equal(send_one(&limiter, 100, START), START);
	assert_true(rate_limiter_wait_ns(&limiter, 100, START) > 0);
}

/* Ten requests a second are made, ten times as many as may go of those that waited. */
static void an_agent_that_makes_many_requests_catches_up(void **state)
{
	uint64_t now = START, nr_waiting = 100;
	struct rate_limiter limiter;
	(void)state;

	rate_limiter_init(&limiter, 1);
	rate_limiter_failed(&limiter);
	for (uint64_t tick = START; nr_waiting > 0; tick += NSEC_PER_SEC / 10) {
		assert_true(tick < START + 120 * NSEC_PER_SEC);
		rate_limiter_appended(&limiter);
		nr_waiting++;
		while (nr_waiting > 0 && now + rate_limiter_wait_ns(&limiter, 100, now) <= tick) {
			now = send_one(&limiter, 100, now);
			nr_waiting--;
		}
		now = tick;
	}
}

/* What comes back: so many agents with an hour of requests each, one more every 15 s. */
#define NR_AGENTS 1000
#define NR_QUEUED 240
#define WINDOW_NS (15 * NSEC_PER_SEC)
#define COST_BYTES (200 * 1024)

#define SECONDS 600
#define TICKS_PER_SEC 100

struct herd {
	uint32_t nr_in_tick[SECONDS * TICKS_PER_SEC]; /* requests that arrived */
	uint64_t nr_requests;
	uint64_t last_done_ns; /* when the last agent had nothing left */
};

static void count_request(struct herd *herd, uint64_t now_ns)
{
	uint64_t tick = now_ns / (NSEC_PER_SEC / TICKS_PER_SEC);

	assert_true(tick < array_len(herd->nr_in_tick));
	herd->nr_in_tick[tick]++;
	herd->nr_requests++;
}

/* The receiver is back at 0: when does this agent, which fails since an hour, find out? */
static uint64_t first_success_ns(uint64_t seed)
{
	const uint64_t outage = 3600 * NSEC_PER_SEC;
	struct backoff backoff;
	uint64_t now = 0;

	backoff_init(&backoff, seed);
	while (now < outage)
		now += backoff_next_ns(&backoff, 0);
	return now - outage;
}

static void run_agent(struct herd *herd, uint64_t seed)
{
	uint64_t now = first_success_ns(seed), next_window = seed * WINDOW_NS / NR_AGENTS;
	uint32_t nr_waiting = NR_QUEUED;
	struct rate_limiter limiter;

	rate_limiter_init(&limiter, seed);
	rate_limiter_failed(&limiter);
	while (nr_waiting > 0) {
		uint64_t next = now + rate_limiter_wait_ns(&limiter, COST_BYTES, now);

		if (next_window <= next) {
			now = next_window > now ? next_window : now;
			next_window += WINDOW_NS;
			rate_limiter_appended(&limiter);
			nr_waiting++;
			continue;
		}
		now = send_one(&limiter, COST_BYTES, next);
		count_request(herd, now);
		nr_waiting--;
	}
	if (now > herd->last_done_ns)
		herd->last_done_ns = now;
}

/* The most requests in so many ticks on end, beginning at a multiple of them, before `end`. */
static uint32_t most_in(const struct herd *herd, size_t nr_ticks, size_t end)
{
	uint32_t most = 0;

	for (size_t i = 0; i < end; i += nr_ticks) {
		uint32_t nr = 0;

		for (size_t k = i; k < i + nr_ticks; k++)
			nr += herd->nr_in_tick[k];
		most = nr > most ? nr : most;
	}
	return most;
}

static void a_thousand_agents_do_not_stampede(void **state)
{
	static struct herd herd;
	(void)state;

	for (uint64_t seed = 0; seed < NR_AGENTS; seed++)
		run_agent(&herd, seed);

	/* All of it arrives, and not much later than a request a second takes. */
	assert_in_range(herd.nr_requests, NR_AGENTS * NR_QUEUED,
			NR_AGENTS * (NR_QUEUED + herd.last_done_ns / WINDOW_NS + 1));
	assert_in_range(herd.last_done_ns, 240 * NSEC_PER_SEC, 330 * NSEC_PER_SEC);

	/* The first second sees a few of the agents, not all of them; no second sees much more than
	 * a request of each and the windows made meanwhile, and within a second they are spread. */
	assert_true(most_in(&herd, TICKS_PER_SEC, TICKS_PER_SEC) < NR_AGENTS / 10);
	assert_true(most_in(&herd, TICKS_PER_SEC, SECONDS * TICKS_PER_SEC) < NR_AGENTS * 6 / 5);
	assert_true(most_in(&herd, 1, SECONDS * TICKS_PER_SEC) < NR_AGENTS / 25);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_burst_goes_at_once),
		cmocka_unit_test(no_more_than_the_rate_passes_in_the_long_run),
		cmocka_unit_test(a_rest_is_saved_up_to_one_burst),
		cmocka_unit_test(a_request_above_the_burst_waits_for_a_full_one),
		cmocka_unit_test(an_agent_without_an_outage_has_no_gaps),
		cmocka_unit_test(after_an_outage_requests_go_one_about_every_second),
		cmocka_unit_test(an_empty_queue_ends_the_recovery),
		cmocka_unit_test(an_empty_queue_does_not_end_an_outage),
		cmocka_unit_test(the_bytes_count_after_an_outage_too),
		cmocka_unit_test(requests_made_after_the_outage_do_not_wait),
		cmocka_unit_test(an_agent_that_makes_many_requests_catches_up),
		cmocka_unit_test(a_thousand_agents_do_not_stampede),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
