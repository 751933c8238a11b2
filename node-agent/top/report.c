/* SPDX-License-Identifier: Apache-2.0 */
#include "top/report.h"

#include "base/clock.h"
#include "base/json_text.h"
#include "top/path_text.h"
#include "top/row_text.h"
#include "top/totals.h"

#include <inttypes.h>

#define STACK_INDENT 4
#define COLUMNS_MIN 60

static size_t nr_rows(const struct board *board, size_t max_rows)
{
	return board->nr_order < max_rows ? board->nr_order : max_rows;
}

static void append_stack_line(struct strbuf *out, struct board *board, const struct tally_row *row,
			      const struct cells_style *style)
{
	const struct hot_stack *stack = board_hot_stack(board, row);
	size_t start = out->len;

	if (!stack || stack->nr_frames == 0)
		return;
	strbuf_appendf(out, "%*s", STACK_INDENT, "");
	row_text_append_share(out, stack, row);
	strbuf_append_str(out, ": ");
	size_t used = out->len - start;
	path_text_append(out, stack, style->columns - used, style);
	strbuf_append_char(out, '\n');
}

static void append_wait_line(struct strbuf *out, struct board *board, const struct tally_row *row,
			     const struct cells_style *style)
{
	const struct hot_stack *stack = NULL;
	size_t start = out->len;

	if (tally_threads(&board->tally, tally_blocked_ns(row->waits)) >= TALLY_THREADS_MIN)
		stack = board_hot_wait(board, row);
	if (!stack || stack->nr_frames == 0)
		return;
	strbuf_appendf(out, "%*swaits: ", STACK_INDENT, "");
	row_text_append_wait_share(out, stack);
	strbuf_append_str(out, ": ");
	size_t used = out->len - start;
	path_text_append(out, stack, style->columns - used, style);
	strbuf_append_char(out, '\n');
}

int report_append_text(struct strbuf *out, struct board *board, const struct screen *screen,
		       size_t max_rows, const struct cells_style *style)
{
	struct cells_style wide = *style;

	wide.columns = style->columns < COLUMNS_MIN ? COLUMNS_MIN : style->columns;
	struct row_layout layout = row_layout_fit(screen, wide.columns, false, false);
	totals_append_sentence(out, board);
	totals_append_samples(out, board);
	strbuf_append_char(out, '\n');
	if (totals_append_waits(out, board))
		strbuf_append_char(out, '\n');
	strbuf_append_char(out, '\n');
	row_text_append_head(out, &layout, board, screen);
	strbuf_append_char(out, '\n');
	for (size_t i = 0; i < nr_rows(board, max_rows); i++) {
		const struct tally_row *row = board_row(board, i);

		row_text_append(out, &layout, board, row, &wide);
		strbuf_append_char(out, '\n');
		append_stack_line(out, board, row, &wide);
		append_wait_line(out, board, row, &wide);
	}
	if (board->nr_order > max_rows)
		strbuf_appendf(out, "and %zu more\n", board->nr_order - max_rows);
	return strbuf_error(out);
}

/* Appends the number of CPUs that each side kept busy. */
static void append_sides(struct strbuf *out, const struct board *board,
			 const uint64_t sides[static CPU_NR_SIDES])
{
	for (enum cpu_side side = 0; side < CPU_NR_SIDES; side++)
		strbuf_appendf(out, ",\"%s\":%.4f", cpu_side_name(side),
			       board_cpus(board, sides[side]));
}

static void append_frames(struct strbuf *out, const struct hot_stack *stack)
{
	strbuf_append_str(out, ",\"frames\":[");
	for (size_t i = 0; i < stack->nr_frames; i++) {
		strbuf_append_str(out, i > 0 ? ",{" : "{");
		json_append_member(out, "function", stack->frames[i].name);
		strbuf_appendf(out, ",\"kernel\":%s}",
			       stack->frames[i].kind == FRAME_KERNEL ? "true" : "false");
	}
	strbuf_append_str(out, "]}");
}

static void append_hot_stack(struct strbuf *out, struct board *board, const struct tally_row *row)
{
	const struct hot_stack *stack = board_hot_stack(board, row);

	strbuf_append_str(out, ",\"hottest\":");
	if (!stack || stack->nr_frames == 0) {
		strbuf_append_str(out, "null");
		return;
	}
	strbuf_appendf(out, "{\"side\":\"%s\",\"share\":%.4f", cpu_side_name(stack->side),
		       (double)stack->count / (double)row->total);
	append_frames(out, stack);
}

static void append_hot_wait(struct strbuf *out, struct board *board, const struct tally_row *row)
{
	const struct hot_stack *stack = board_hot_wait(board, row);

	strbuf_append_str(out, ",\"hottest_wait\":");
	if (!stack || stack->nr_frames == 0) {
		strbuf_append_str(out, "null");
		return;
	}
	strbuf_appendf(out, "{\"reason\":\"%s\",\"share\":%.4f", wait_reason_word(stack->reason),
		       (double)stack->count / (double)stack->whole);
	append_frames(out, stack);
}

/* Appends how many threads were blocked, waited for a CPU, and waited for what else; null if waits
 * are not known. */
static void append_waits(struct strbuf *out, const struct board *board,
			 const uint64_t waits[static WAIT_NR_CLASSES])
{
	const struct tally *tally = &board->tally;

	if (!tally->waits) {
		strbuf_append_str(out, ",\"wait\":null,\"delay\":null,\"waits\":null");
		return;
	}
	strbuf_appendf(out, ",\"wait\":%.4f,\"delay\":%.4f,\"waits\":{",
		       tally_threads(tally, tally_blocked_ns(waits)),
		       tally_threads(tally, waits[WAIT_CPU]));
	for (enum wait_class class = 0; class < WAIT_NR_CLASSES; class ++)
		strbuf_appendf(out, "%s\"%s\":%.4f", class > 0 ? "," : "", wait_class_name(class),
			       tally_threads(tally, waits[class]));
	strbuf_append_char(out, '}');
}

/* Appends the reasons of a row's waits, the longest first. */
static void append_reasons(struct strbuf *out, const struct board *board,
			   const struct tally_row *row)
{
	enum wait_reason reasons[REASON_NR];
	size_t nr = tally_row_reasons(row, reasons);

	strbuf_append_str(out, ",\"reasons\":{");
	for (size_t i = 0; i < nr; i++)
		strbuf_appendf(out, "%s\"%s\":%.4f", i > 0 ? "," : "", wait_reason_word(reasons[i]),
			       tally_threads(&board->tally, row->reasons[reasons[i]]));
	strbuf_append_char(out, '}');
}

static void append_row(struct strbuf *out, struct board *board, const struct tally_row *row)
{
	strbuf_append_char(out, '{');
	json_append_member(out, "name", row->name);
	strbuf_appendf(out, ",\"kind\":\"%s\",\"samples\":%" PRIu64 ",\"cpus\":%.4f", row->kind,
		       row->total, board_cpus(board, row->total));
	append_sides(out, board, row->sides);
	strbuf_appendf(out, ",\"processes\":%" PRIu32, row->nr_processes);
	append_hot_stack(out, board, row);
	append_waits(out, board, row->waits);
	append_reasons(out, board, row);
	append_hot_wait(out, board, row);
	strbuf_append_char(out, '}');
}

int report_append_json(struct strbuf *out, struct board *board, size_t max_rows)
{
	const struct profile *profile = board->tally.profile;

	strbuf_append_char(out, '{');
	json_append_member(out, "host", board->host ? board->host : "");
	strbuf_appendf(out, ",\"start\":%.3f,\"seconds\":%.3f,\"by\":\"%s\",\"node_cpus\":",
		       (double)profile->time_unix_ns / (double)NSEC_PER_SEC,
		       (double)profile->duration_ns / (double)NSEC_PER_SEC,
		       grouping_name(board->tally.by));
	if (board->nr_cpus > 0)
		strbuf_appendf(out, "%" PRIu32, board->nr_cpus);
	else
		strbuf_append_str(out, "null");
	strbuf_appendf(out, ",\"samples\":%" PRIu64 ",\"lost\":%" PRIu64 ",\"cpus\":%.4f",
		       board->tally.total, board->nr_lost, board_cpus(board, board->tally.total));
	append_sides(out, board, board->tally.sides);
	append_waits(out, board, board->tally.wait_sums);
	strbuf_append_str(out, ",\"rows\":[");
	for (size_t i = 0; i < nr_rows(board, max_rows); i++) {
		strbuf_append_str(out, i > 0 ? "," : "");
		append_row(out, board, board_row(board, i));
	}
	strbuf_append_str(out, "]}\n");
	return strbuf_error(out);
}
