/* SPDX-License-Identifier: Apache-2.0 */
#include "top/totals.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/text.h"
#include "top/color.h"

#include <inttypes.h>
#include <string.h>

#define PART_MAX_BYTES 1024
#define BAR_COLUMNS 24
#define HOST_COLUMNS_MAX 30
#define SHORT_SIDES_COLUMNS 43 /* "  app 100 %  kern 0 %  irq 0 %  sirq 0 %", and a bit more */
#define SIDES_COLUMNS 66 /* "  application 100.0 %  kernel 0.0 %  …" */

static double share_of_side(const struct board *board, enum cpu_side side)
{
	uint64_t total = board->tally.total;

	return total > 0 ? 100.0 * (double)board->tally.sides[side] / (double)total : 0;
}

static void append_busy(struct strbuf *out, const struct board *board)
{
	double cpus = board_cpus(board, board->tally.total);

	strbuf_appendf(out, "%.2f", cpus);
	if (board->nr_cpus > 0)
		strbuf_appendf(out, " of %" PRIu32 " CPUs busy (%.1f %%)", board->nr_cpus,
			       100.0 * cpus / board->nr_cpus);
	else
		strbuf_append_str(out, " CPUs busy");
}

/* Appends the cells of the bar: each side in its own pattern and colour, then what was idle. */
static void append_bar(struct strbuf *out, const struct board *board,
		       const struct cells_style *style)
{
	static const char *const utf8[] = { "█", "▓", "▒", "░" };
	static const char *const ascii[] = { "#", "=", "+", "-" };
	double scale = board->nr_cpus > 0 ? (double)BAR_COLUMNS / board->nr_cpus : 0;
	double sum = 0;
	size_t filled = 0;

	strbuf_append_str(out, cells_symbol(style, "▕", "["));
	for (enum cpu_side side = 0; side < CPU_NR_SIDES; side++) {
		sum += board_cpus(board, board->tally.sides[side]) * scale;
		color_begin(out, style, color_of_side(side));
		for (; filled < BAR_COLUMNS && (double)filled + 0.5 <= sum; filled++)
			strbuf_append_str(out, cells_symbol(style, utf8[side], ascii[side]));
		color_end(out, style);
	}
	strbuf_appendf(out, "%*s", (int)(BAR_COLUMNS - filled), "");
	strbuf_append_str(out, cells_symbol(style, "▏", "]"));
}

/* Appends a part if it fits into the rest of the line. */
static void append_part(struct strbuf *out, const char *part, const char *color, size_t *rest,
			const struct cells_style *style)
{
	size_t width = cells_width(part);

	if (width > *rest) {
		*rest = 0; /* nor does any part after it */
		return;
	}
	*rest -= width;
	color_begin(out, style, color);
	strbuf_append_str(out, part);
	color_end(out, style);
}

void totals_append_bar(struct strbuf *out, const struct board *board,
		       const struct cells_style *style)
{
	_cleanup_(strbuf_done) struct strbuf part = strbuf_with_max(PART_MAX_BYTES);
	size_t rest = style->columns;

	if (board->host) {
		cells_append(&part, board->host, HOST_COLUMNS_MAX, ELIDE_MIDDLE, style);
		strbuf_append_str(&part, "  ");
	}
	append_busy(&part, board);
	append_part(out, strbuf_str(&part), ATTRIBUTE_BOLD, &rest, style);
	if (board->nr_cpus > 0 && rest >= BAR_COLUMNS + 4 + SHORT_SIDES_COLUMNS) {
		strbuf_append_str(out, "  ");
		append_bar(out, board, style);
		rest -= BAR_COLUMNS + 4;
	}
	bool is_short = rest < SIDES_COLUMNS;
	for (enum cpu_side side = 0; side < CPU_NR_SIDES; side++) {
		strbuf_clear(&part);
		strbuf_appendf(&part, "  %s %.*f %%",
			       is_short ? cpu_side_word(side) : cpu_side_name(side),
			       is_short ? 0 : 1, share_of_side(board, side));
		append_part(out, strbuf_str(&part), color_of_side(side), &rest, style);
	}
}

/* Appends the CPUs that a counter of CPU time stands for. */
static void append_cpus(struct strbuf *part, const struct vitals *vitals, enum vital vital,
			const char *name)
{
	if (vitals_has(vitals, vital))
		strbuf_appendf(part, "  %s %.2f", name,
			       (double)vitals->values[vital] / (double)NSEC_PER_SEC);
}

static void append_runnable(struct strbuf *part, const struct vitals *vitals)
{
	if (vitals_has(vitals, VITAL_RUNNABLE))
		strbuf_appendf(part, "  runnable %" PRIu64, vitals->values[VITAL_RUNNABLE]);
}

static void append_memory(struct strbuf *part, const struct vitals *vitals)
{
	uint64_t total = vitals->values[VITAL_MEMORY_TOTAL];
	uint64_t available = vitals->values[VITAL_MEMORY_AVAILABLE];

	if (vitals_has(vitals, VITAL_MEMORY_TOTAL) && vitals_has(vitals, VITAL_MEMORY_AVAILABLE) &&
	    total >= available && total > 0)
		strbuf_appendf(part, "  memory used %.0f %%",
			       100.0 * (double)(total - available) / (double)total);
}

void totals_append_vitals(struct strbuf *out, const struct board *board,
			  const struct cells_style *style)
{
	static const enum vital vitals[] = { VITAL_USER,    VITAL_SYSTEM, VITAL_IRQ,
					     VITAL_SOFTIRQ, VITAL_STEAL,  VITAL_IOWAIT };
	_cleanup_(strbuf_done) struct strbuf part = strbuf_with_max(PART_MAX_BYTES);
	size_t rest = style->columns;

	append_part(out, "kernel counts:", "", &rest, style);
	for (size_t i = 0; i < array_len(vitals); i++) {
		strbuf_clear(&part);
		append_cpus(&part, &board->vitals, vitals[i], vital_info(vitals[i])->name);
		append_part(out, strbuf_str(&part), "", &rest, style);
	}
	strbuf_clear(&part);
	append_runnable(&part, &board->vitals);
	append_part(out, strbuf_str(&part), "", &rest, style);
	strbuf_clear(&part);
	append_memory(&part, &board->vitals);
	append_part(out, strbuf_str(&part), "", &rest, style);
}

void totals_append_sentence(struct strbuf *out, const struct board *board)
{
	append_busy(out, board);
	for (enum cpu_side side = 0; side < CPU_NR_SIDES; side++)
		strbuf_appendf(out, "%s%s %.1f %%", side == 0 ? ": " : ", ", cpu_side_name(side),
			       share_of_side(board, side));
}

bool totals_append_waits(struct strbuf *out, const struct board *board)
{
	const struct tally *tally = &board->tally;
	const uint64_t *sums = tally->wait_sums;

	if (!tally->waits)
		return false;
	strbuf_appendf(out,
		       "threads blocked %.2f: disk %.2f, memory %.2f, locks %.2f; waiting for a "
		       "CPU %.2f",
		       tally_threads(tally, tally_blocked_ns(sums)),
		       tally_threads(tally, sums[WAIT_DISK]),
		       tally_threads(tally, sums[WAIT_MEMORY]),
		       tally_threads(tally, sums[WAIT_LOCK]), tally_threads(tally, sums[WAIT_CPU]));
	return true;
}

void totals_append_samples(struct strbuf *out, const struct board *board)
{
	const struct profile *profile = board->tally.profile;

	if (!profile)
		return;
	strbuf_append_str(out, ", ");
	text_append_count(out, board->tally.total);
	strbuf_appendf(out, " samples in %.1f s, ",
		       (double)profile->duration_ns / (double)NSEC_PER_SEC);
	text_append_count(out, board->nr_lost);
	strbuf_append_str(out, " lost");
}
