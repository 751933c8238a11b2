/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/wait_reason.h"

#include <string.h>

static const char *const words[REASON_NR] = {
	[REASON_NONE] = "",
	[REASON_PREEMPTED] = "preempted",
	[REASON_RUN_QUEUE] = "run-queue",
	[REASON_DISK] = "disk",
	[REASON_PAGE_FAULT] = "page-fault",
	[REASON_RECLAIM] = "reclaim",
	[REASON_NETWORK] = "network",
	[REASON_PIPE] = "pipe",
	[REASON_POLL] = "poll",
	[REASON_FUTEX] = "futex",
	[REASON_KERNEL_LOCK] = "kernel-lock",
	[REASON_SLEEP] = "sleep",
	[REASON_CHILD] = "child",
	[REASON_SIGNAL] = "signal",
	[REASON_IDLE] = "idle",
	[REASON_OTHER] = "other",
	[REASON_RUNNING] = "running",
	[REASON_THROTTLED] = "throttled",
};

const char *wait_reason_word(enum wait_reason reason)
{
	return words[reason];
}

bool wait_reason_is_queued(enum wait_reason reason)
{
	return reason == REASON_PREEMPTED || reason == REASON_RUN_QUEUE ||
	       reason == REASON_THROTTLED;
}

enum wait_reason wait_reason_from_word(const char *word)
{
	enum wait_reason reason = REASON_NONE + 1;

	while (reason < REASON_NR && strcmp(words[reason], word) != 0)
		reason++;
	return reason;
}
