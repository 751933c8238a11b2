/* SPDX-License-Identifier: Apache-2.0 */
/* The unit of sums of samples that stand for different periods of CPU time: the longest time of
 * which all periods are multiples, so that sums are exact. */
#ifndef STORE_PERIOD_UNIT_H
#define STORE_PERIOD_UNIT_H

#include <stdint.h>

struct period_unit {
	uint64_t ns; /* 0: no period was seen yet */
	uint64_t longest_ns; /* of the periods */
};

/* Makes the unit fit another period; 0 is none, and changes nothing. Returns what the sums so far
 * have to be multiplied by: mostly 1. */
uint64_t period_unit_fit(struct period_unit *unit, uint64_t period);

/* Returns how many units a sample of a period counts as; 1 if it has none. */
static inline uint64_t period_unit_weight(const struct period_unit *unit, uint64_t period)
{
	return period > 0 && unit->ns > 0 ? period / unit->ns : 1;
}

#endif
