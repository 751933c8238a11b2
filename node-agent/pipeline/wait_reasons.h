/* SPDX-License-Identifier: Apache-2.0 */
/* Tells why a thread waits, by what the kernel knew of it and by the functions of the kernel in
 * which it does. Their names are those of Linux 5.10 to 7.x. */
#ifndef PIPELINE_WAIT_REASONS_H
#define PIPELINE_WAIT_REASONS_H

#include "bpf/shared/events.h"
#include "pipeline/kernel_ranges.h"
#include "profile/wait_reason.h"

#include <stddef.h>

/* Finds the functions that tell a reason. */
void wait_reasons_init(struct kernel_ranges *reasons, const struct kernel_symbols *symbols);

/* Returns the reason of a block, whose first `nr_skipped` kernel frames are the scheduler's. Never
 * REASON_NONE. */
enum wait_reason wait_reasons_of(const struct kernel_ranges *reasons,
				 const struct sample_event *event, size_t nr_skipped);

#endif
