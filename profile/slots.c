/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/slots.h"

#include "base/minmax.h"

void slots_add(struct slots *slots, uint64_t time_unix_ns, uint64_t count)
{
	slots->counts[time_unix_ns / SLOT_NS % SLOTS_NR] += count;
}

uint64_t slots_total(const struct slots *slots)
{
	uint64_t total = 0;

	for (unsigned int i = 0; i < SLOTS_NR; i++)
		total += slots->counts[i];
	return total;
}

/* Shares are rounded down; what is missing then is taken from the first slots that have any. */
void slots_remove(struct slots *slots, uint64_t count)
{
	uint64_t total = slots_total(slots), left = min_u64(count, total);
	const uint64_t wanted = left;

	for (unsigned int i = 0; i < SLOTS_NR && total > 0; i++) {
		uint64_t share = (uint64_t)((__uint128_t)slots->counts[i] * wanted / total);

		slots->counts[i] -= share;
		left -= share;
	}
	for (unsigned int i = 0; i < SLOTS_NR && left > 0; i++) {
		uint64_t rest = min_u64(slots->counts[i], left);

		slots->counts[i] -= rest;
		left -= rest;
	}
}
