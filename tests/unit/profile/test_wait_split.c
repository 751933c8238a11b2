/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/wait_split.h"

#include "stacks.h"
#include "unit.h"

#include "base/cleanup.h"

static const struct {
	const char *frames;
	enum wait_reason reason;
	enum wait_class class;
} classes[] = {
	{ "main;read", REASON_DISK, WAIT_DISK },
	{ "main;load", REASON_PAGE_FAULT, WAIT_MEMORY },
	{ "main;load", REASON_RECLAIM, WAIT_MEMORY },
	{ "main;mmap", REASON_KERNEL_LOCK, WAIT_LOCK },
	{ "main;spin", REASON_PREEMPTED, WAIT_CPU },
	{ "main;spin", REASON_RUN_QUEUE, WAIT_CPU },
	{ "main;recv", REASON_NETWORK, WAIT_PEER },
	{ "main;read", REASON_PIPE, WAIT_PEER },
	{ "main;poll", REASON_POLL, WAIT_REST },
	{ "main;nanosleep", REASON_SLEEP, WAIT_REST },
	{ "kthread_[k]", REASON_IDLE, WAIT_REST },
	/* Locks. */
	{ "main;___pthread_mutex_lock;__lll_lock_wait;do_futex_[k]", REASON_FUTEX, WAIT_LOCK },
	{ "run;pthread_mutex_lock.part.0;do_futex_[k]", REASON_FUTEX, WAIT_LOCK },
	{ "main;pthread_rwlock_rdlock", REASON_FUTEX, WAIT_LOCK },
	{ "main;take_gil;pthread_cond_timedwait;do_futex_[k]", REASON_FUTEX, WAIT_LOCK },
	{ "main;std::sys::sync::mutex::futex::Mutex::lock_contended", REASON_FUTEX, WAIT_LOCK },
	{ "main;<std::sys::sync::mutex::futex::Mutex>::lock_contended;syscall", REASON_FUTEX,
	  WAIT_LOCK },
	{ "main;<std::sys::sync::rwlock::futex::RwLock>::read_contended", REASON_FUTEX, WAIT_LOCK },
	{ "main;std::sys::unix::locks::futex_rwlock::RwLock::write_contended", REASON_FUTEX,
	  WAIT_LOCK },
	{ "main;<parking_lot::raw_rwlock::RawRwLock>::lock_shared_slow", REASON_FUTEX, WAIT_LOCK },
	/* Pools that wait for work. */
	{ "run;next_job;pthread_cond_wait;do_futex_[k]", REASON_FUTEX, WAIT_REST },
	{ "run;std::sys::unix::locks::futex_condvar::Condvar::wait;syscall", REASON_FUTEX,
	  WAIT_REST },
	{ "run;<std::sys::sync::condvar::futex::Condvar>::wait;syscall", REASON_FUTEX, WAIT_REST },
	{ "run;sem_wait;sem_timedwait", REASON_FUTEX, WAIT_REST },
	{ "run;runtime.futexsleep;runtime.futex;do_futex_[k]", REASON_FUTEX, WAIT_REST },
	{ "pthread_mutex_lock;a;b;c;d;e;f;g;h;i;j;k;l;m", REASON_FUTEX, WAIT_REST },
	{ "run;pthread_mutex_locked", REASON_FUTEX, WAIT_REST },
	{ "run;pthread_mutex_lock_[k]", REASON_FUTEX, WAIT_REST },
	/* The waker holds a lock, not the one that waits. */
	{ "run;pthread_cond_wait;do_futex_[k];[woken by a];pthread_mutex_lock", REASON_FUTEX,
	  WAIT_REST },
	{ "", REASON_FUTEX, WAIT_REST },
};

static void the_reason_and_for_futexes_the_functions_tell_the_class(void **state)
{
	(void)state;

	for (size_t i = 0; i < array_len(classes); i++) {
		const struct wait_line line = { "a", classes[i].frames, classes[i].reason, 1000 };
		_cleanup_(profile_unrefp) struct profile *profile = profile_of_waits(&line, 1);
		_cleanup_(wait_split_done) struct wait_split split = { 0 };

		assert_int_equal(wait_split_init(&split, profile), 0);
		if (wait_split_class(&split, &profile->samples[0]) != classes[i].class)
			fail_msg("%s is not of the class %s", classes[i].frames,
				 wait_class_name(classes[i].class));
	}
}

/* In a profile of locks, those for locks stay. */
static void waits_of_which_the_kernel_cannot_tell_are_told_by_their_functions(void **state)
{
	static const struct {
		const char *frames;
		enum wait_reason reason;
		bool is_for_lock;
	} cases[] = {
		{ "main;mmap", REASON_KERNEL_LOCK, true },
		{ "run;sem_wait;mmap", REASON_KERNEL_LOCK, true },
		{ "main;___pthread_mutex_lock;futex_wait_[k]", REASON_FUTEX, true },
		{ "main;own_lock;syscall", REASON_FUTEX, true },
		{ "", REASON_FUTEX, true },
		{ "main;pthread_cond_wait;__pthread_mutex_cond_lock", REASON_FUTEX, true },
		{ "main;___pthread_barrier_wait;futex_wait", REASON_FUTEX, false },
		{ "main;sem_wait;sem_timedwait;__timedwait_cp", REASON_FUTEX, false },
		{ "main;pthread_timedjoin_np;__timedwait_cp", REASON_FUTEX, false },
		{ "main;parking_lot::condvar::Condvar::wait_until_internal", REASON_FUTEX, false },
		{ "main;___pthread_rwlock_rdlock;__futex_abstimed_wait_common", REASON_NONE, true },
		{ "main;<std::sys::sync::mutex::futex::Mutex>::lock_contended", REASON_NONE, true },
		{ "main;take_gil;sem_wait", REASON_NONE, true },
		{ "main;pthread_cond_wait;__futex_abstimed_wait_common", REASON_NONE, false },
		{ "main;__pthread_clockjoin_ex", REASON_NONE, false },
		{ "main;own_lock;syscall", REASON_NONE, false },
		{ "", REASON_NONE, false },
	};
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		const struct wait_line line = { "a", cases[i].frames, cases[i].reason, 1000 };
		_cleanup_(profile_unrefp) struct profile *profile = profile_of_waits(&line, 1);
		_cleanup_(wait_split_done) struct wait_split split = { 0 };

		assert_int_equal(wait_split_init(&split, profile), 0);
		if (wait_split_is_for_lock(&split, &profile->samples[0]) != cases[i].is_for_lock)
			fail_msg("%s: taken for the wrong kind of wait", cases[i].frames);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_reason_and_for_futexes_the_functions_tell_the_class),
		cmocka_unit_test(waits_of_which_the_kernel_cannot_tell_are_told_by_their_functions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
