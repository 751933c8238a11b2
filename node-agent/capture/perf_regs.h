/* SPDX-License-Identifier: Apache-2.0 */
/* The user registers that perf is asked for (attr.sample_regs_user): those that an unwinder needs. */
#ifndef CAPTURE_PERF_REGS_H
#define CAPTURE_PERF_REGS_H

#include "bpf/shared/stack_copy.h"

#include <stddef.h>
#include <stdint.h>

/* Bits by enum perf_event_x86_regs or perf_event_arm_regs. */
extern const uint64_t perf_regs_mask;

/* How many values a sample has. */
extern const size_t perf_regs_nr;

/* Sets `regs` and `ip` from the values, in the order of their bits. `values` need not be aligned. */
void perf_regs_to_copy(const uint8_t *values, struct stack_copy *copy);

#endif
