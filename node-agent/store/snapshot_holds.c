/* SPDX-License-Identifier: Apache-2.0 */
#include "store/snapshot_holds.h"

#include "base/minmax.h"

#include <stdlib.h>
#include <string.h>

static uint64_t nr_seconds(const struct snapshot_holds *holds)
{
	return holds->range.end_s - holds->range.first_s;
}

int snapshot_holds_init(struct snapshot_holds *holds, const struct time_range *range,
			uint64_t first_s, uint64_t step_s)
{
	*holds = (struct snapshot_holds){ .range = *range, .first_s = first_s, .step_s = step_s };
	holds->seconds = calloc(nr_seconds(holds) + 1, sizeof(*holds->seconds));
	return holds->seconds ? 0 : -ENOMEM;
}

void snapshot_holds_done(struct snapshot_holds *holds)
{
	free(holds->seconds);
	holds->seconds = NULL;
}

void snapshot_holds_clear(struct snapshot_holds *holds)
{
	memset(holds->seconds, 0, nr_seconds(holds));
}

void snapshot_holds_note(struct snapshot_holds *holds, uint64_t second)
{
	if (second >= holds->range.first_s && second < holds->range.end_s)
		holds->seconds[second - holds->range.first_s] = 1;
}

void snapshot_holds_settle(struct snapshot_holds *holds)
{
	uint64_t next = nr_seconds(holds);

	for (uint64_t i = next; i-- > 0;) {
		if (holds->seconds[i] == 0)
			continue;
		holds->seconds[i] = (uint8_t)min_u64(next - i, SNAPSHOT_HOLDS_MAX_S);
		next = i;
	}
}

void snapshot_holds_add(const struct snapshot_holds *holds, struct timeline_lines *lines,
			uint32_t index, uint64_t second, uint64_t value)
{
	uint64_t from = second, until = second + holds->seconds[second - holds->range.first_s];

	while (from < until) {
		uint64_t step = (from - holds->first_s) / holds->step_s;
		uint64_t step_s = holds->first_s + step * holds->step_s;
		uint64_t end_s = min_u64(step_s + holds->step_s, holds->range.end_s);
		uint64_t of_step = end_s - max_u64(step_s, holds->range.first_s);
		uint64_t held = min_u64(until, end_s) - from;

		timeline_lines_add(lines, index, step,
				   (uint64_t)((double)value * (double)held / (double)of_step));
		from += held;
	}
}
