/* SPDX-License-Identifier: Apache-2.0 */
#include "otlp/encode/point_times.h"

#include "base/array.h"

#include <stdlib.h>

void point_times_done(struct point_times *times)
{
	free(times->items);
}

int point_times_add(struct point_times *times, uint32_t point, uint64_t unix_ns, uint64_t count)
{
	if (count > SIZE_MAX - times->nr)
		return -ENOMEM;
	int r = array_grow(times->items, times->cap, times->nr + count, SIZE_MAX);
	if (r < 0)
		return r;
	for (uint64_t i = 0; i < count; i++)
		times->items[times->nr++] = (struct point_time){ unix_ns, point };
	return 0;
}

static int compare(const void *left, const void *right)
{
	const struct point_time *a = left;
	const struct point_time *b = right;

	if (a->point != b->point)
		return a->point < b->point ? -1 : 1;
	return (a->unix_ns > b->unix_ns) - (a->unix_ns < b->unix_ns);
}

void point_times_sort(struct point_times *times)
{
	if (times->nr > 0)
		qsort(times->items, times->nr, sizeof(*times->items), compare);
	times->next = 0;
}

const struct point_time *point_times_take(struct point_times *times, uint32_t point, size_t *ret_nr)
{
	size_t first = times->next;

	while (times->next < times->nr && times->items[times->next].point == point)
		times->next++;
	*ret_nr = times->next - first;
	return times->items + first;
}

void point_times_clear(struct point_times *times)
{
	times->nr = 0;
	times->next = 0;
}
