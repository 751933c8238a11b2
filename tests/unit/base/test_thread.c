/* SPDX-License-Identifier: Apache-2.0 */
#include "base/thread.h"

#include "base/capabilities.h"

#include <signal.h>
#include <string.h>

#include "unit.h"

/* What a thread sees of itself. */
struct view {
	sigset_t mask;
	void *data;
};

static void *look(void *data)
{
	struct view *view = data;

	pthread_sigmask(SIG_SETMASK, NULL, &view->mask);
	view->data = data;
	return view;
}

static void *wait_on(void *data)
{
	pthread_mutex_lock(data);
	pthread_mutex_unlock(data);
	return NULL;
}

static void a_thread_runs_with_its_data_and_returns_a_value(void **state)
{
	struct view view = { 0 };
	void *result = NULL;
	pthread_t thread;
	(void)state;

	assert_int_equal(thread_start("look", 0, look, &view, &thread), 0);
	assert_int_equal(pthread_join(thread, &result), 0);
	assert_ptr_equal(view.data, &view);
	assert_ptr_equal(result, &view);
}

static void a_thread_blocks_all_signals_and_its_starter_those_it_did(void **state)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGCHLD, SIGUSR1 };
	struct view view = { 0 };
	sigset_t mask;
	pthread_t thread;
	(void)state;

	sigemptyset(&mask);
	sigaddset(&mask, SIGUSR1);
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
	assert_int_equal(thread_start("look", 0, look, &view, &thread), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	pthread_sigmask(SIG_SETMASK, NULL, &mask);
	for (size_t i = 0; i < array_len(signals); i++) {
		assert_int_equal(sigismember(&view.mask, signals[i]), 1);
		assert_int_equal(sigismember(&mask, signals[i]), signals[i] == SIGUSR1);
	}
}

static void *read_capabilities(void *data)
{
	*(uint64_t *)data = capabilities_effective();
	return NULL;
}

static void a_thread_keeps_the_capabilities_it_is_given_and_its_starter_all(void **state)
{
	uint64_t before = capabilities_effective(), kept = UINT64_MAX;
	pthread_t thread;
	(void)state;

	assert_int_equal(thread_start("look", CAPABILITY(BPF), read_capabilities, &kept, &thread),
			 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(kept, before & CAPABILITY(BPF));
	assert_int_equal(capabilities_effective(), before);
}

static void a_thread_has_its_name(void **state)
{
	pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
	char name[16] = "";
	pthread_t thread;
	(void)state;

	pthread_mutex_lock(&gate);
	assert_int_equal(thread_start("fifteen-letters", 0, wait_on, &gate, &thread), 0);
	assert_int_equal(pthread_getname_np(thread, name, sizeof(name)), 0);
	pthread_mutex_unlock(&gate);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_string_equal(name, "fifteen-letters");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_thread_runs_with_its_data_and_returns_a_value),
		cmocka_unit_test(a_thread_blocks_all_signals_and_its_starter_those_it_did),
		cmocka_unit_test(a_thread_keeps_the_capabilities_it_is_given_and_its_starter_all),
		cmocka_unit_test(a_thread_has_its_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
