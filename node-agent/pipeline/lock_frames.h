/* SPDX-License-Identifier: Apache-2.0 */
/* The stack of a wait for a lock of the kernel (bpf/shared/lock.h): without the frames of who
 * traces it, and with one at its tip that says what lock it is. */
#ifndef PIPELINE_LOCK_FRAMES_H
#define PIPELINE_LOCK_FRAMES_H

#include "bpf/shared/events.h"
#include "pipeline/kernel_ranges.h"
#include "symbol/kernel/kernel_data.h"

#include <stddef.h>

/* Finds the functions of the kernel that wait for locks. */
void lock_frames_init(struct kernel_ranges *frames, const struct kernel_symbols *symbols);

/* Returns how many frames at the tip of the kernel's part are those of the tracepoint and the BPF
 * program; 0 if none of the frames behind them is known. */
size_t lock_frames_count(const struct kernel_ranges *frames, const __u64 *addresses, size_t nr);

/* Writes the name of the frame at the tip: "[mutex]", "[rwsem read mmap_lock]", "[spinlock
 * rcu_state+0x40]". `data` tells which variable of the kernel the lock is in; NULL: it is not
 * known. A longer name is cut off. */
#define LOCK_NAME_BYTES 128
void lock_frames_name(const struct sample_event *event, const struct kernel_data *data,
		      char name[static LOCK_NAME_BYTES]);

#endif
