/* SPDX-License-Identifier: Apache-2.0 */
/* A function that takes a lock is near the leaf of the stack. It calls functions that wait, and
 * these call the wrapper of the system call. */
#include "profile/wait_split.h"

#include "base/cleanup.h"
#include "profile/waker_frame.h"

#include <stdlib.h>
#include <string.h>

#define USER_FRAMES_MAX 12 /* that are looked at */

static const enum wait_class classes[REASON_NR] = {
	[REASON_NONE] = WAIT_REST,	   [REASON_PREEMPTED] = WAIT_CPU,
	[REASON_RUN_QUEUE] = WAIT_CPU,	   [REASON_DISK] = WAIT_DISK,
	[REASON_PAGE_FAULT] = WAIT_MEMORY, [REASON_RECLAIM] = WAIT_MEMORY,
	[REASON_NETWORK] = WAIT_PEER,	   [REASON_PIPE] = WAIT_PEER,
	[REASON_POLL] = WAIT_REST,	   [REASON_FUTEX] = WAIT_REST, /* unless a lock is taken */
	[REASON_KERNEL_LOCK] = WAIT_LOCK,  [REASON_SLEEP] = WAIT_REST,
	[REASON_CHILD] = WAIT_REST,	   [REASON_SIGNAL] = WAIT_REST,
	[REASON_IDLE] = WAIT_REST,	   [REASON_OTHER] = WAIT_REST,
	[REASON_RUNNING] = WAIT_REST,	   [REASON_THROTTLED] = WAIT_CPU,
};

/* Functions that take a lock of the program. In symbols of Rust's version 0, the name of a type's
 * method begins with "<". */
static const char *const lock_functions[] = {
	/* glibc and musl */
	"pthread_mutex_lock",
	"__pthread_mutex_lock*",
	"___pthread_mutex_lock*",
	"pthread_mutex_timedlock",
	"__pthread_mutex_timedlock*",
	"___pthread_mutex_timedlock*",
	"pthread_mutex_clocklock",
	"___pthread_mutex_clocklock*",
	"__pthread_mutex_cond_lock*",
	"pthread_rwlock_*lock",
	"__pthread_rwlock_*",
	"___pthread_rwlock_*",
	"__lll_lock_wait*",
	"lll_mutex_lock*",
	"mtx_lock",
	"__lock", /* musl */
	/* runtimes and libraries */
	"take_gil",
	"runtime.lock2",
	"ObjectMonitor::enter*",
	"ObjectSynchronizer::enter*",
	"java.util.concurrent.locks.Reentrant*.lock*",
	"Monitor::lock*",
	"Mutex::lock*",
	"std::sys::*Mutex::lock_contended",
	"std::sys::*RwLock::read_contended",
	"std::sys::*RwLock::write_contended",
	"<std::sys::*Mutex>::lock_contended",
	"<std::sys::*RwLock>::read_contended",
	"<std::sys::*RwLock>::write_contended",
	"std::sys::sync::mutex::*",
	"parking_lot::raw_mutex::*",
	"parking_lot::raw_rwlock::*",
	"<parking_lot::raw_mutex::*",
	"<parking_lot::raw_rwlock::*",
	"absl::Mutex::Lock*",
	"absl::Mutex::ReaderLock*",
	"folly::SharedMutexImpl*",
	"tbb::detail::*mutex*",
	"je_malloc_mutex_lock_slow",
	"malloc_mutex_lock_slow",
};

/* Functions that wait for something else by the same system call as for a lock. */
static const char *const other_functions[] = {
	"sem_wait",
	"sem_timedwait",
	"__new_sem_wait*",
	"pthread_join",
	"__pthread_join",
	"pthread_timedjoin_np",
	"__pthread_timedjoin_np",
	"__pthread_clockjoin_ex",
	"thrd_join",
	"pthread_barrier_wait",
	"__pthread_barrier_wait*",
	"___pthread_barrier_wait*",
	"parking_lot::condvar::*",
	"<parking_lot::condvar::*",
};

const char *wait_class_name(enum wait_class class)
{
	static const char *const names[] = {
		[WAIT_DISK] = "disk", [WAIT_MEMORY] = "memory", [WAIT_LOCK] = "lock",
		[WAIT_CPU] = "cpu",   [WAIT_PEER] = "peer",	[WAIT_REST] = "rest",
	};

	return names[class];
}

/* Returns whether a name is the pattern, in which "*" stands for any text. A compiler's suffix,
 * such as ".part.0", is no part of a name. */
static bool is_like(const char *name, const char *pattern)
{
	size_t len = strcspn(pattern, "*");

	if (strncmp(name, pattern, len) != 0)
		return false;
	if (pattern[len] == '\0')
		return name[len] == '\0' || name[len] == '.';
	return strstr(name + len, pattern + len + 1);
}

static bool is_in(const char *name, const char *const *patterns, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (is_like(name, patterns[i]))
			return true;
	return false;
}

static enum wait_purpose purpose_of(const char *name)
{
	if (is_in(name, lock_functions, array_len(lock_functions)))
		return WAITS_FOR_LOCK;
	return is_in(name, other_functions, array_len(other_functions)) ? WAITS_FOR_OTHER
									: WAITS_FOR_UNKNOWN;
}

static enum wait_purpose later(enum wait_purpose a, enum wait_purpose b)
{
	return a > b ? a : b;
}

static enum wait_purpose purpose_of_location(const struct profile *profile,
					     const struct profile_location *location,
					     const uint8_t *of_names)
{
	const struct profile_line *lines = profile_location_lines(profile, location);
	enum wait_purpose purpose = WAITS_FOR_UNKNOWN;

	for (uint32_t line = 0; line < location->nr_lines; line++)
		purpose = later(purpose, of_names[profile->functions[lines[line].function].name]);
	return purpose;
}

/* `of_names` is by the number of the string. A function that takes a lock may itself wait by a
 * condition variable or a semaphore. */
static enum wait_purpose purpose_of_stack(const struct profile *profile, uint32_t number,
					  const uint8_t *of_names)
{
	const struct profile_stack *stack = &profile->stacks[number];
	enum wait_purpose purpose = WAITS_FOR_UNKNOWN;
	size_t nr_frames = 0;

	for (size_t i = waker_frame_depth(profile, number); i < stack->nr; i++) {
		const struct profile_location *location =
			&profile->locations[profile->stack_locations[stack->first + i]];

		if (location->kind == FRAME_KERNEL || location->kind == FRAME_STOP)
			continue;
		purpose = later(purpose, purpose_of_location(profile, location, of_names));
		if (++nr_frames == USER_FRAMES_MAX)
			break;
	}
	return purpose;
}

int wait_split_init(struct wait_split *split, const struct profile *profile)
{
	_cleanup_free_ uint8_t *of_names = calloc(profile->strings.nr_strings + 1,
						  sizeof(*of_names));
	_cleanup_free_ uint8_t *of_stacks = calloc(profile->nr_stacks + 1, sizeof(*of_stacks));

	if (!of_names || !of_stacks)
		return -ENOMEM;
	for (size_t i = 0; i < profile->nr_functions; i++) {
		uint32_t name = profile->functions[i].name;

		of_names[name] = (uint8_t)purpose_of(profile_string(profile, name));
	}
	for (uint32_t i = 0; i < profile->nr_stacks; i++)
		of_stacks[i] = (uint8_t)purpose_of_stack(profile, i, of_names);
	*split = (struct wait_split){ .purposes = take_ptr(of_stacks) };
	return 0;
}

void wait_split_done(struct wait_split *split)
{
	free(split->purposes);
	*split = (struct wait_split){ 0 };
}

enum wait_class wait_split_class(const struct wait_split *split,
				 const struct profile_sample *sample)
{
	if (sample->reason == REASON_FUTEX && split->purposes[sample->stack] == WAITS_FOR_LOCK)
		return WAIT_LOCK;
	return classes[sample->reason];
}

bool wait_split_is_for_lock(const struct wait_split *split, const struct profile_sample *sample)
{
	uint8_t purpose = split->purposes[sample->stack];

	if (sample->reason == REASON_NONE)
		return purpose == WAITS_FOR_LOCK;
	return sample->reason != REASON_FUTEX || purpose != WAITS_FOR_OTHER;
}
