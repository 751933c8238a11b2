/* SPDX-License-Identifier: Apache-2.0 */
/* A function that takes a lock is near the leaf of the stack. It calls functions that wait, and
 * these call the wrapper of the system call. */
#include "profile/wait_split.h"

#include "base/cleanup.h"
#include "profile/waker_frame.h"

#include <stdbool.h>
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
	[REASON_RUNNING] = WAIT_REST,
};

/* Functions that take a lock of the program. */
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
	"std::sys::sync::mutex::*",
	"std::sys::unix::locks::*",
	"parking_lot::raw_mutex::*",
	"parking_lot::raw_rwlock::*",
	"absl::Mutex::Lock*",
	"absl::Mutex::ReaderLock*",
	"folly::SharedMutexImpl*",
	"tbb::detail::*mutex*",
	"je_malloc_mutex_lock_slow",
	"malloc_mutex_lock_slow",
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

static bool takes_lock(const char *name)
{
	for (size_t i = 0; i < array_len(lock_functions); i++)
		if (is_like(name, lock_functions[i]))
			return true;
	return false;
}

/* `is_lock` is by the number of the string. */
static bool has_lock(const struct profile *profile, uint32_t number, const uint8_t *is_lock)
{
	const struct profile_stack *stack = &profile->stacks[number];
	size_t nr_frames = 0;

	for (size_t i = waker_frame_depth(profile, number); i < stack->nr; i++) {
		const struct profile_location *location =
			&profile->locations[profile->stack_locations[stack->first + i]];
		const struct profile_line *lines = profile_location_lines(profile, location);

		if (location->kind == FRAME_KERNEL || location->kind == FRAME_STOP)
			continue;
		for (uint32_t line = 0; line < location->nr_lines; line++)
			if (is_lock[profile->functions[lines[line].function].name])
				return true;
		if (++nr_frames == USER_FRAMES_MAX)
			break;
	}
	return false;
}

int wait_split_init(struct wait_split *split, const struct profile *profile)
{
	_cleanup_free_ uint8_t *is_lock = calloc(profile->strings.nr_strings + 1, sizeof(*is_lock));
	_cleanup_free_ uint8_t *of_stack = calloc(profile->nr_stacks + 1, sizeof(*of_stack));

	if (!is_lock || !of_stack)
		return -ENOMEM;
	for (size_t i = 0; i < profile->nr_functions; i++) {
		uint32_t name = profile->functions[i].name;

		is_lock[name] = takes_lock(profile_string(profile, name));
	}
	for (uint32_t i = 0; i < profile->nr_stacks; i++)
		of_stack[i] = has_lock(profile, i, is_lock);
	*split = (struct wait_split){ .takes_lock = take_ptr(of_stack) };
	return 0;
}

void wait_split_done(struct wait_split *split)
{
	free(split->takes_lock);
	*split = (struct wait_split){ 0 };
}

enum wait_class wait_split_class(const struct wait_split *split,
				 const struct profile_sample *sample)
{
	if (sample->reason == REASON_FUTEX && split->takes_lock[sample->stack])
		return WAIT_LOCK;
	return classes[sample->reason];
}
