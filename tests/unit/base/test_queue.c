/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "base/queue.h"
#include "unit.h"

#define NR_PRODUCERS 3
#define NR_CONSUMERS 2
#define NR_ITEMS 20000 /* a producer */

static void items_come_out_in_the_order_they_went_in(void **state)
{
	struct queue queue;
	int items[5];
	(void)state;

	assert_int_equal(queue_init(&queue, 3), 0);
	for (size_t i = 0; i < array_len(items); i++) {
		assert_int_equal(queue_push(&queue, &items[i]), 0);
		assert_int_equal(queue_push(&queue, &items[i]), 0);
		assert_ptr_equal(queue_take(&queue, 0), &items[i]);
		assert_ptr_equal(queue_take(&queue, 0), &items[i]);
	}
	queue_done(&queue);
}

static void a_full_queue_refuses_and_keeps_what_it_has(void **state)
{
	struct queue queue;
	int a, b;
	(void)state;

	assert_int_equal(queue_init(&queue, 1), 0);
	assert_int_equal(queue_push(&queue, &a), 0);
	assert_int_equal(queue_push(&queue, &b), -ENOSPC);
	assert_ptr_equal(queue_take(&queue, 0), &a);
	queue_done(&queue);
}

static void taking_from_an_empty_queue_waits_until_the_deadline(void **state)
{
	struct queue queue;
	(void)state;

	assert_int_equal(queue_init(&queue, 1), 0);
	assert_null(queue_take(&queue, 0));
	uint64_t deadline_ns = clock_mono_ns() + 20 * NSEC_PER_MSEC;
	assert_null(queue_take(&queue, deadline_ns));
	assert_true(clock_mono_ns() >= deadline_ns);
	queue_done(&queue);
}

static void a_closed_queue_drains_and_takes_nothing_in(void **state)
{
	struct queue queue;
	int a, b;
	(void)state;

	assert_int_equal(queue_init(&queue, 2), 0);
	assert_int_equal(queue_push(&queue, &a), 0);
	assert_false(queue_is_closed(&queue));
	queue_close(&queue);
	assert_true(queue_is_closed(&queue));
	assert_int_equal(queue_push(&queue, &b), -ESHUTDOWN);
	assert_ptr_equal(queue_take(&queue, UINT64_MAX), &a);
	assert_null(queue_take(&queue, UINT64_MAX));
	queue_done(&queue);
}

static void *take_forever(void *data)
{
	return queue_take(data, clock_mono_ns() + 60 * NSEC_PER_SEC);
}

static void closing_wakes_those_who_wait(void **state)
{
	struct queue queue;
	pthread_t waiters[NR_CONSUMERS];
	void *item;
	(void)state;

	assert_int_equal(queue_init(&queue, 1), 0);
	uint64_t start_ns = clock_mono_ns();
	for (size_t i = 0; i < NR_CONSUMERS; i++)
		assert_int_equal(pthread_create(&waiters[i], NULL, take_forever, &queue), 0);
	queue_close(&queue);
	for (size_t i = 0; i < NR_CONSUMERS; i++) {
		pthread_join(waiters[i], &item);
		assert_null(item);
	}
	assert_true(clock_mono_ns() - start_ns < 30 * NSEC_PER_SEC);
	queue_done(&queue);
}

struct producer {
	struct queue *queue;
	unsigned char taken[NR_ITEMS]; /* times each of its items was taken */
};

static void *produce(void *data)
{
	struct producer *producer = data;

	for (size_t i = 0; i < NR_ITEMS; i++)
		while (queue_push(producer->queue, &producer->taken[i]) == -ENOSPC)
			sched_yield();
	return NULL;
}

static void *consume(void *data)
{
	struct queue *queue = data;

	for (;;) {
		unsigned char *item = queue_take(queue, clock_mono_ns() + 60 * NSEC_PER_SEC);

		if (!item)
			return NULL;
		__atomic_add_fetch(item, 1, __ATOMIC_RELAXED);
	}
}

static void every_item_of_every_producer_is_taken_once(void **state)
{
	static struct producer producers[NR_PRODUCERS];
	pthread_t producer_threads[NR_PRODUCERS], consumer_threads[NR_CONSUMERS];
	struct queue queue;
	(void)state;

	assert_int_equal(queue_init(&queue, 64), 0);
	for (size_t i = 0; i < NR_CONSUMERS; i++)
		assert_int_equal(pthread_create(&consumer_threads[i], NULL, consume, &queue), 0);
	for (size_t i = 0; i < NR_PRODUCERS; i++) {
		producers[i].queue = &queue;
		assert_int_equal(pthread_create(&producer_threads[i], NULL, produce, &producers[i]),
				 0);
	}
	for (size_t i = 0; i < NR_PRODUCERS; i++)
		pthread_join(producer_threads[i], NULL);
	queue_close(&queue);
	for (size_t i = 0; i < NR_CONSUMERS; i++)
		pthread_join(consumer_threads[i], NULL);
	for (size_t i = 0; i < NR_PRODUCERS; i++)
		for (size_t item = 0; item < NR_ITEMS; item++)
			assert_int_equal(producers[i].taken[item], 1);
	queue_done(&queue);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(items_come_out_in_the_order_they_went_in),
		cmocka_unit_test(a_full_queue_refuses_and_keeps_what_it_has),
		cmocka_unit_test(taking_from_an_empty_queue_waits_until_the_deadline),
		cmocka_unit_test(a_closed_queue_drains_and_takes_nothing_in),
		cmocka_unit_test(closing_wakes_those_who_wait),
		cmocka_unit_test(every_item_of_every_producer_is_taken_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
