/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the executable mappings of a living process from /proc. */
#ifndef PROCESS_PROCESS_MAPS_H
#define PROCESS_PROCESS_MAPS_H

#include "base/err.h"
#include "process/mapping_list.h"

#include <stdint.h>

/* Counts of what was skipped in a text. Added to, not set. */
struct process_maps_losses {
	uint64_t nr_bad_lines;
	uint64_t nr_mappings_dropped; /* over MAPPING_LIST_MAX, or no memory */
};

/* Adds the executable mappings of `pid` to `list`, if it is the process that started at
 * `start_ns` (0: any). Errors: -ESRCH when that one is gone; -ENOSPC when there is more text
 * than 16 MB, of which the beginning is in the list; -ENOMEM, and those of open(2) and read(2). */
int process_maps_load(int proc_fd, uint32_t pid, uint64_t start_ns, struct mapping_list *list,
		      struct process_maps_losses *losses) must_check;

#endif
