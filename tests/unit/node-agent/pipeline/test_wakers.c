/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/wakers.h"

#include "base/cleanup.h"

#include <string.h>

#include "unit.h"

#define USER 0x1000

/* As wakers_init() makes them of a kernel's names. */
enum place { CODE, TIMER, NETWORK, DISK, ENTRY, NR_PLACES };
#define ADDRESS(place) (0xffffffff81000000 + 0x100 * (uint64_t)(place))

static struct kernel_ranges make_ranges(void)
{
	static const unsigned int meanings[NR_PLACES] = {
		[TIMER] = WAKER_TIMER,
		[NETWORK] = WAKER_NETWORK,
		[DISK] = WAKER_DISK,
		[ENTRY] = WAKER_INTERRUPT + 1,
	};
	struct kernel_ranges ranges = { 0 };

	for (enum place place = TIMER; place < NR_PLACES; place++)
		ranges.ranges[ranges.nr++] = (struct kernel_range){
			.start = ADDRESS(place),
			.end = ADDRESS(place + 1),
			.meaning = meanings[place],
		};
	return ranges;
}

static struct sample_event *event_with(const enum place *places, size_t nr)
{
	static struct sample_event event;

	event = (struct sample_event){ .nr_kernel = (uint16_t)nr, .nr_user = 1 };
	for (size_t i = 0; i < nr; i++)
		event.frames[i] = ADDRESS(places[i]) + 8;
	event.frames[nr] = USER;
	return &event;
}

static void what_an_interrupt_interrupted_is_cut_off(void **state)
{
	static const struct {
		enum place places[5];
		size_t nr, nr_kept;
		enum waker_kind kind;
	} cases[] = {
		{ { CODE, TIMER, TIMER, ENTRY, CODE }, 5, 3, WAKER_TIMER },
		{ { CODE, NETWORK, ENTRY, CODE, CODE }, 5, 2, WAKER_NETWORK },
		{ { DISK, CODE, ENTRY }, 3, 2, WAKER_DISK },
		{ { NETWORK, TIMER, ENTRY }, 3, 2, WAKER_NETWORK }, /* the nearest one */
		{ { CODE, ENTRY, CODE, ENTRY }, 4, 1, WAKER_INTERRUPT },
		{ { ENTRY }, 1, 0, WAKER_INTERRUPT },
		{ { CODE, TIMER, CODE }, 3, 3, WAKER_THREAD }, /* a thread that uses timers */
		{ { CODE }, 1, 1, WAKER_THREAD },
		{ { CODE }, 0, 0, WAKER_THREAD },
	};
	const struct kernel_ranges ranges = make_ranges();

	(void)state;
	for (size_t i = 0; i < array_len(cases); i++) {
		struct sample_event *event = event_with(cases[i].places, cases[i].nr);

		assert_int_equal(wakers_cut(&ranges, event), cases[i].kind);
		assert_int_equal(event->nr_kernel, cases[i].nr_kept);
		assert_int_equal(event->nr_user, cases[i].kind == WAKER_THREAD);
	}
}

static void wakers_have_names(void **state)
{
	static const struct {
		enum waker_kind kind;
		const char *thread, *process, *name;
	} cases[] = {
		{ WAKER_THREAD, "worker", "web", "[woken by worker of web]" },
		{ WAKER_THREAD, "web", "web", "[woken by web]" },
		{ WAKER_THREAD, "web", "", "[woken by web]" },
		{ WAKER_THREAD, "0123456789abcdef", "fedcba9876543210",
		  "[woken by 0123456789abcdef of fedcba9876543210]" },
		{ WAKER_TIMER, "web", "web", "[woken by timer]" },
		{ WAKER_NETWORK, "web", "web", "[woken by network]" },
		{ WAKER_DISK, "web", "web", "[woken by disk]" },
		{ WAKER_INTERRUPT, "web", "web", "[woken by interrupt]" },
	};
	char name[WAKER_NAME_BYTES];

	(void)state;
	for (size_t i = 0; i < array_len(cases); i++) {
		struct sample_event event = { 0 };

		memcpy(event.thread_comm, cases[i].thread, strlen(cases[i].thread));
		memcpy(event.process_comm, cases[i].process, strlen(cases[i].process));
		wakers_name(cases[i].kind, &event, name);
		assert_string_equal(name, cases[i].name);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_an_interrupt_interrupted_is_cut_off),
		cmocka_unit_test(wakers_have_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
