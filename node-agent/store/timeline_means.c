/* SPDX-License-Identifier: Apache-2.0 */
#include "store/timeline_means.h"

#include "base/array.h"
#include "base/cleanup.h"

#include <stdlib.h>
#include <string.h>

int timeline_means_init(struct timeline_means *means, size_t nr_steps, uint64_t nr_range_s)
{
	*means = (struct timeline_means){ .nr_steps = nr_steps, .nr_range_s = nr_range_s };
	means->is_read = calloc(nr_range_s + 1, sizeof(*means->is_read));
	means->nr_read = calloc(nr_steps, sizeof(*means->nr_read));
	means->was_read = calloc(nr_steps, sizeof(*means->was_read));
	return means->is_read && means->nr_read && means->was_read ? 0 : -ENOMEM;
}

void timeline_means_done(struct timeline_means *means)
{
	for (size_t i = 0; i < means->nr; i++) {
		free(means->items[i].sums);
		free(means->items[i].counts);
		free(means->items[i].is_known);
	}
	free(means->items);
	free(means->is_read);
	free(means->nr_read);
	free(means->was_read);
	*means = (struct timeline_means){ 0 };
}

void timeline_means_note(struct timeline_means *means, uint64_t second, size_t step)
{
	means->nr_read[step] += !means->is_read[second];
	means->is_read[second] = true;
	means->was_read[step] = true;
}

/* Makes room for the lines up to one. */
static int grow(struct timeline_means *means, uint32_t line)
{
	int r = array_grow(means->items, means->cap, (size_t)line + 1, TIMELINE_MAX_NUMBERS);

	if (r < 0)
		return r;
	while (means->nr <= line)
		means->items[means->nr++] = (struct mean_line){ 0 };
	return 0;
}

static int prepare(struct timeline_means *means, uint32_t line)
{
	int r = line < means->nr ? 0 : grow(means, line);

	if (r < 0 || means->items[line].is_known)
		return r;
	struct mean_line *item = &means->items[line];
	if (!item->sums)
		item->sums = calloc(means->nr_steps, sizeof(*item->sums));
	if (!item->counts)
		item->counts = calloc(means->nr_steps, sizeof(*item->counts));
	if (item->sums && item->counts)
		item->is_known = calloc(means->nr_steps, sizeof(*item->is_known));
	return item->is_known ? 0 : -ENOMEM;
}

int timeline_means_add(struct timeline_means *means, uint32_t line, size_t step, uint64_t value)
{
	int r = prepare(means, line);

	if (r < 0)
		return r;
	struct mean_line *item = &means->items[line];
	item->sums[step] += value;
	item->counts[step]++;
	item->is_known[step] = true;
	return 0;
}

void timeline_means_settle(struct timeline_means *means, struct timeline_lines *lines,
			   bool has_own_numbers)
{
	for (uint32_t line = 0; line < means->nr; line++) {
		struct mean_line *item = &means->items[line];

		for (size_t step = 0; item->is_known && step < means->nr_steps; step++) {
			uint32_t nr = has_own_numbers ? item->counts[step] : means->nr_read[step];

			if (nr > 0)
				timeline_lines_add(lines, line, step, item->sums[step] / nr);
			item->sums[step] = 0;
			item->counts[step] = 0;
		}
	}
	memset(means->is_read, 0, (means->nr_range_s + 1) * sizeof(*means->is_read));
	memset(means->nr_read, 0, means->nr_steps * sizeof(*means->nr_read));
}

int timeline_means_finish(struct timeline_means *means, struct timeline_lines *lines,
			  bool has_own_numbers)
{
	for (size_t i = 0; i < lines->nr; i++) {
		bool has_own = has_own_numbers && i < means->nr && means->items[i].is_known;
		const bool *known = has_own ? means->items[i].is_known : means->was_read;
		bool *copy = calloc(means->nr_steps, sizeof(*copy));

		if (!copy)
			return -ENOMEM;
		memcpy(copy, known, means->nr_steps * sizeof(*copy));
		lines->items[i].is_known = copy;
	}
	return 0;
}
