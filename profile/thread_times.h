/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the samples of each thread add up to the times that it really ran and waited.
 *
 * Samples estimate times. A profile may also have, for a thread, what is known exactly: how long it
 * had a CPU, and how long not. These sums are samples of their own, with a stack of one frame. They
 * are given to the thread's other samples, in proportion to what each of them has. */
#ifndef PROFILE_THREAD_TIMES_H
#define PROFILE_THREAD_TIMES_H

#include "base/err.h"
#include "profile/profile.h"

/* The frames of the sums. */
#define THREAD_TIMES_RAN "[running, not sampled]"
#define THREAD_TIMES_WAITED "[waiting, not sampled]"

/* Distributes the sums of each thread, in a profile that nobody else has yet:
 *
 * - that of the time that it ran, to its samples with the reason REASON_RUNNING;
 * - that of the time that it waited, less its samples of waits for a CPU
 *   (wait_reason_is_queued()), which are exact, to those with other reasons.
 *
 * A sum for which there is no sample stays as it is. Errors: -ENOMEM, and nothing has changed. */
int thread_times_apply(struct profile *profile) must_check;

#endif
