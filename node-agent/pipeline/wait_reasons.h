/* SPDX-License-Identifier: Apache-2.0 */
/* Tells why a thread waits, by what the kernel knew of it and by the functions of the kernel in
 * which it does. Their names are those of Linux 5.10 to 7.x. */
#ifndef PIPELINE_WAIT_REASONS_H
#define PIPELINE_WAIT_REASONS_H

#include "bpf/shared/events.h"
#include "profile/wait_reason.h"
#include "symbol/kernel/kernel_symbols.h"

#include <stddef.h>
#include <stdint.h>

#define WAIT_REASONS_MAX_RANGES 256

struct wait_reasons {
	struct wait_range {
		uint64_t start, end;
		enum wait_reason reason;
	} ranges[WAIT_REASONS_MAX_RANGES]; /* in the order of addresses */
	size_t nr;
};

/* Finds the functions that tell a reason. */
void wait_reasons_init(struct wait_reasons *reasons, const struct kernel_symbols *symbols);

/* Returns the reason of a block, whose first `nr_skipped` kernel frames are the scheduler's. Never
 * REASON_NONE. */
enum wait_reason wait_reasons_of(const struct wait_reasons *reasons,
				 const struct sample_event *event, size_t nr_skipped);

#endif
