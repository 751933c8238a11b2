/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* How waits are chosen by their length: shared/off_cpu.h, shared/lock.h. */
#ifndef BPF_THRESHOLD_BPF_H
#define BPF_THRESHOLD_BPF_H

#include "bpf/shared/off_cpu.h"

#define PROBABILITY_BITS 22 /* of the quotient: lengths have up to 34 */

/* Returns the share that a length has of a threshold, up to OFF_CPU_CERTAIN. */
static __always_inline __u32 share_of_threshold(__u64 length_ns, __u64 threshold_ns)
{
	if (length_ns >= threshold_ns)
		return OFF_CPU_CERTAIN;
	return (__u32)(((length_ns << PROBABILITY_BITS) / threshold_ns) << (32 - PROBABILITY_BITS));
}

#endif
