/* SPDX-License-Identifier: Apache-2.0 */
/* The user registers that perf copies (attr.sample_regs_user): those that an unwinder needs. */
#ifndef CAPTURE_PERF_PERF_REGS_H
#define CAPTURE_PERF_PERF_REGS_H

#include "unwind/local_unwinder.h"

#include <stdbool.h>
#include <stdint.h>

/* Bits by enum perf_event_x86_regs or perf_event_arm_regs. */
extern const uint64_t perf_regs_mask;

/* Sets `regs` and `ip` from the values, in the order of their bits. `values` need not be
 * aligned. */
void perf_regs_to_copy(const uint8_t *values, struct stack_copy *copy);

/* Returns which registers have no value in a thread that was sampled in the kernel, for
 * copy->missing. On old kernels an x86-64 system call saves only the registers that it may
 * change. From Linux 3.19 to 5.10 perf sets the others to -1. Before that (`marks_missing` is
 * false) it copies whatever lies in their place, so that none of them is known. */
uint32_t perf_regs_missing(const struct stack_copy *copy, bool marks_missing);

#endif
