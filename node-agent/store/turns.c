/* SPDX-License-Identifier: Apache-2.0 */
#include "store/turns.h"

#include "base/minmax.h"

#include <stddef.h>

bool turns_take(struct turns *turns, uint64_t now_s, uint64_t apart_s, uint64_t max_per_hour)
{
	uint64_t *taken = turns->taken_s, *oldest = &taken[0];
	uint64_t nr_in_hour = 0;

	for (size_t i = 0; i < TURNS_MAX_PER_HOUR; i++) {
		if (taken[i] > 0 && now_s < taken[i] + apart_s)
			return false;
		nr_in_hour += taken[i] > 0 && now_s < taken[i] + TURNS_HOUR_S;
		if (taken[i] < *oldest)
			oldest = &taken[i];
	}
	if (nr_in_hour >= min_u64(max_per_hour, TURNS_MAX_PER_HOUR))
		return false;
	*oldest = now_s;
	return true;
}
