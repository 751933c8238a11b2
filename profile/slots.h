/* SPDX-License-Identifier: Apache-2.0 */
/* When within a second samples were taken: their number in each of its 20 parts of 50 ms. A
 * recorded second has these counts, so that bursts shorter than a second can be seen, although its
 * samples are not told apart by time. */
#ifndef PROFILE_SLOTS_H
#define PROFILE_SLOTS_H

#include <stdint.h>

#define SLOTS_NR 20
#define SLOT_NS UINT64_C(50000000)

struct slots {
	uint64_t counts[SLOTS_NR];
};

/* Adds samples that were taken at a Unix time. */
void slots_add(struct slots *slots, uint64_t time_unix_ns, uint64_t count);

/* Removes samples whose times are not known: as if they were distributed like all others. */
void slots_remove(struct slots *slots, uint64_t count);

/* Returns the number of all samples. */
uint64_t slots_total(const struct slots *slots);

#endif
