/* SPDX-License-Identifier: Apache-2.0 */
#include "store/budget.h"

#include "base/err.h"

#define DAY_S UINT64_C(86400)
#define HOURS 24

static const uint64_t steps[] = { 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128 };

static void begin_day(struct budget *budget, uint64_t now_s)
{
	if (budget->day == now_s / DAY_S)
		return;
	budget->day = now_s / DAY_S;
	budget->spent = 0;
}

void budget_spend(struct budget *budget, uint64_t now_s, uint64_t bytes)
{
	begin_day(budget, now_s);
	budget->spent += bytes;
}

uint64_t budget_next_min_count(struct budget *budget, uint64_t now_s)
{
	uint64_t hour = budget->per_day / HOURS;

	if (budget->per_day == 0)
		return 1;
	begin_day(budget, now_s);
	/* An hour's worth is always free, so that a day may begin with a burst. */
	uint64_t due = (budget->per_day - hour) / DAY_S * (now_s % DAY_S) + hour;
	if (budget->spent > due && budget->step + 1 < array_len(steps))
		budget->step++;
	else if (budget->spent < due - hour / 2 && budget->step > 0)
		budget->step--;
	return steps[budget->step];
}

uint64_t budget_min_count(const struct budget *budget)
{
	return steps[budget->step];
}
