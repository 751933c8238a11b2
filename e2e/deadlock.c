/* SPDX-License-Identifier: Apache-2.0 */
/* Two threads that wait for each other for ever: each has the lock that the other one wants. Prints
 * a line when both wait. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static pthread_mutex_t accounts = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t orders = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t both_have_one;
static atomic_int depth; /* keeps the frames of the functions */

__attribute__((noinline)) void move_money(void)
{
	pthread_mutex_lock(&accounts);
	pthread_barrier_wait(&both_have_one);
	pthread_mutex_lock(&orders);
	depth--;
}

__attribute__((noinline)) void cancel_order(void)
{
	pthread_mutex_lock(&orders);
	pthread_barrier_wait(&both_have_one);
	pthread_mutex_lock(&accounts);
	depth--;
}

static void *run(void *data)
{
	void (*work)(void) = (void (*)(void))data;

	work();
	depth--;
	return NULL;
}

int main(void)
{
	pthread_t threads[2];

	if (pthread_barrier_init(&both_have_one, NULL, 3) ||
	    pthread_create(&threads[0], NULL, run, (void *)move_money) ||
	    pthread_create(&threads[1], NULL, run, (void *)cancel_order))
		return EXIT_FAILURE;
	pthread_barrier_wait(&both_have_one);
	sleep(1);
	printf("both wait\n");
	fflush(stdout);
	pthread_join(threads[0], NULL);
	return EXIT_SUCCESS;
}
