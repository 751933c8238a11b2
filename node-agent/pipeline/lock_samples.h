/* SPDX-License-Identifier: Apache-2.0 */
/* Which samples of a profile of locks are waits for locks of programs. The operation of a futex
 * does not tell for all of them: read-write locks of glibc and the locks of Rust wait by that of
 * condition variables (bpf/futex.bpf.h). So the functions decide, once they have names. */
#ifndef PIPELINE_LOCK_SAMPLES_H
#define PIPELINE_LOCK_SAMPLES_H

#include "base/err.h"
#include "profile/profile.h"

#include <stdint.h>

/* Removes the samples of other waits from a profile that nobody else has yet, and gives those of
 * locks their reason. Sets how many were removed. Errors: -ENOMEM, with the profile unchanged. */
int lock_samples_settle(struct profile *profile, uint64_t *ret_nr_removed) must_check;

#endif
