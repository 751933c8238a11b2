/* SPDX-License-Identifier: Apache-2.0 */
#include "top/trend.h"

#include "base/array.h"
#include "base/cleanup.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define MAX_LINES (2 * TALLY_ROWS_MAX)
#define NAMES_MAX_BYTES ((size_t)128 << 20)

static int find_line(struct trend *trend, const char *name, struct trend_line **ret_line)
{
	uint32_t id;

	int r = intern_add(&trend->names, name, &id);
	if (r == 0)
		r = array_grow(trend->lines, trend->cap_lines, id, MAX_LINES);
	if (r < 0)
		return r;
	if (id > trend->nr_lines)
		trend->lines[trend->nr_lines++] = (struct trend_line){ 0 };
	*ret_line = &trend->lines[id - 1];
	return 0;
}

static bool is_quiet(const struct trend_line *line)
{
	for (size_t i = 1; i < TREND_POINTS; i++)
		if (line->cpus[i] > 0)
			return false;
	return true;
}

/* Moves the lines that had CPU time one point to the left. */
static int keep_lines(struct trend *next, const struct trend *trend)
{
	for (uint32_t i = 0; i < trend->nr_lines; i++) {
		const struct trend_line *old = &trend->lines[i];
		struct trend_line *line;

		if (is_quiet(old))
			continue;
		int r = find_line(next, intern_get(&trend->names, i + 1), &line);
		if (r < 0)
			return r;
		memcpy(line->cpus, old->cpus + 1, (TREND_POINTS - 1) * sizeof(*line->cpus));
	}
	return 0;
}

int trend_add(struct trend *trend, const struct tally *tally)
{
	_cleanup_(trend_done) struct trend next = { 0 };

	int r = intern_init(&next.names, MAX_LINES, NAMES_MAX_BYTES);
	if (r == 0)
		r = keep_lines(&next, trend);
	for (size_t i = 0; r == 0 && i < tally->nr_rows; i++) {
		struct trend_line *line;

		r = find_line(&next, tally->rows[i].name, &line);
		if (r == 0)
			line->cpus[TREND_POINTS - 1] = (float)tally_cpus(tally,
									 tally->rows[i].total);
	}
	if (r < 0)
		return r;
	trend_done(trend);
	*trend = next;
	next = (struct trend){ 0 };
	return 0;
}

const struct trend_line *trend_find(const struct trend *trend, const char *name)
{
	uint32_t id;

	if (trend->nr_lines == 0 || intern_find(&trend->names, name, &id) < 0)
		return NULL;
	return &trend->lines[id - 1];
}

void trend_done(struct trend *trend)
{
	intern_done(&trend->names);
	free(trend->lines);
	*trend = (struct trend){ 0 };
}
