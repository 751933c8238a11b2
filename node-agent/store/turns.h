/* SPDX-License-Identifier: Apache-2.0 */
/* Limits how often something happens: at most so often in any hour, and not twice in a short
 * time. */
#ifndef STORE_TURNS_H
#define STORE_TURNS_H

#include <stdbool.h>
#include <stdint.h>

#define TURNS_HOUR_S 3600
#define TURNS_MAX_PER_HOUR 60

struct turns {
	uint64_t taken_s[TURNS_MAX_PER_HOUR]; /* when; 0: no turn */
};

/* Returns whether it may happen now, and notes that it does. `max_per_hour` may not be above
 * TURNS_MAX_PER_HOUR, and `apart_s` is the least time between two turns. */
bool turns_take(struct turns *turns, uint64_t now_s, uint64_t apart_s, uint64_t max_per_hour);

#endif
