/* SPDX-License-Identifier: Apache-2.0 */
#include "store/period_unit.h"

#include "base/minmax.h"

static uint64_t greatest_divisor(uint64_t a, uint64_t b)
{
	while (b > 0) {
		uint64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

uint64_t period_unit_fit(struct period_unit *unit, uint64_t period)
{
	uint64_t before_ns = unit->ns;

	if (period == 0)
		return 1;
	unit->ns = greatest_divisor(before_ns, period);
	unit->longest_ns = max_u64(unit->longest_ns, period);
	return before_ns > 0 ? before_ns / unit->ns : 1;
}
