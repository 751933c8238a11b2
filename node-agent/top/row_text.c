/* SPDX-License-Identifier: Apache-2.0 */
#include "top/row_text.h"

#include "base/cleanup.h"
#include "top/color.h"
#include "top/path_text.h"

#include <inttypes.h>
#include <string.h>

#define NAME_COLUMNS_MIN 16
#define NAME_COLUMNS_WISHED 24
#define NAME_COLUMNS_MAX 44
#define CPU_COLUMNS 8 /* of each column, with blanks in front */
#define NODE_COLUMNS 7
#define PROCESSES_COLUMNS 7
#define TREND_COLUMNS (2 + TREND_POINTS)
#define STACK_COLUMNS_MIN 24
#define STACK_COLUMNS_WISHED 48
#define SHARE_COLUMNS 12 /* " 61 % app   " in front of a stack */
#define WAIT_SHARE_COLUMNS 19 /* " 61 % kernel-lock  " */
#define WAIT_COLUMNS 7
#define DELAY_COLUMNS 7
#define REASONS_SHOWN 6
#define TREND_FLOOR_CPUS 0.2f /* a line that stays below it is flat, not a mountain */
#define FUNCTION_FILE_COLUMNS 24
#define SELF_COLUMNS 8
#define TOTAL_COLUMNS 9

static const struct {
	const char *head;
	size_t columns;
	enum row_sort sort;
} sides[] = {
	[CPU_APPLICATION] = { "APP", 5, SORT_APPLICATION },
	[CPU_KERNEL] = { "KERN", 6, SORT_KERNEL },
	[CPU_IRQ] = { "IRQ", 5, SORT_IRQ },
	[CPU_SOFTIRQ] = { "SIRQ", 6, SORT_SOFTIRQ },
};

/* Columns of the page of waits. */
static const struct {
	const char *head;
	size_t columns;
	enum row_sort sort;
	enum wait_class class;
} classes[] = {
	{ "DISK", 7, SORT_DISK, WAIT_DISK },
	{ "MEM", 7, SORT_MEMORY, WAIT_MEMORY },
	{ "LOCK", 7, SORT_LOCK, WAIT_LOCK },
	{ "NET", 7, SORT_PEER, WAIT_PEER },
};

static bool take(size_t *rest, size_t columns, bool is_wanted)
{
	if (!is_wanted || *rest < columns)
		return false;
	*rest -= columns;
	return true;
}

static size_t split_columns(bool shows_waits)
{
	size_t columns = 0;

	for (size_t i = 0; shows_waits && i < array_len(classes); i++)
		columns += classes[i].columns;
	if (shows_waits)
		return columns;
	for (enum cpu_side side = 0; side < CPU_NR_SIDES; side++)
		columns += sides[side].columns;
	return columns;
}

/* Gives a column up to `columns` more cells. */
static void widen(size_t *column, size_t *rest, size_t columns)
{
	size_t more = columns < *rest ? columns : *rest;

	*column += more;
	*rest -= more;
}

struct row_layout row_layout_fit(const struct screen *screen, size_t columns, bool has_trend,
				 bool has_stack)
{
	size_t fixed = NAME_COLUMNS_MIN + CPU_COLUMNS + NODE_COLUMNS;
	size_t rest = columns > fixed ? columns - fixed : 0;
	struct row_layout layout = { .name = NAME_COLUMNS_MIN, .shows_waits = screen->shows_waits };

	layout.has_waits = take(&rest, WAIT_COLUMNS + DELAY_COLUMNS, screen->has_waits);
	layout.has_split = take(&rest, split_columns(screen->shows_waits), true);
	if (take(&rest, STACK_COLUMNS_MIN + 2, has_stack))
		layout.stack = STACK_COLUMNS_MIN;
	widen(&layout.name, &rest, NAME_COLUMNS_WISHED - NAME_COLUMNS_MIN);
	layout.has_trend = take(&rest, TREND_COLUMNS, has_trend && !screen->shows_waits);
	if (layout.stack > 0)
		widen(&layout.stack, &rest, STACK_COLUMNS_WISHED - STACK_COLUMNS_MIN);
	layout.has_processes = take(&rest, PROCESSES_COLUMNS, !screen->shows_waits);
	widen(&layout.name, &rest, layout.stack > 0 ? rest / 4 : NAME_COLUMNS_MAX - layout.name);
	if (layout.stack > 0)
		layout.stack += rest;
	return layout;
}

/* Appends the head of a column, in brackets if the table is sorted by it. */
static void append_head(struct strbuf *out, const char *name, size_t columns, bool is_sorted)
{
	size_t len = strlen(name) + (is_sorted ? 1 : 0);

	strbuf_appendf(out, "%*s%s%s", len < columns ? (int)(columns - len) : 0, "",
		       is_sorted ? "*" : "", name);
}

static char upper(char c)
{
	if (c >= 'a' && c <= 'z')
		return (char)(c - 'a' + 'A');
	return c;
}

static void append_name_head(struct strbuf *out, const char *name, size_t columns, bool is_sorted)
{
	size_t start = out->len;

	if (is_sorted)
		strbuf_append_char(out, '*');
	for (const char *c = name; *c; c++)
		strbuf_append_char(out, upper(*c));
	size_t len = out->len - start;
	strbuf_appendf(out, "%*s", len < columns ? (int)(columns - len) : 0, "");
}

static void append_split_head(struct strbuf *out, const struct row_layout *layout,
			      enum row_sort sort)
{
	for (size_t i = 0; layout->shows_waits && i < array_len(classes); i++)
		append_head(out, classes[i].head, classes[i].columns, sort == classes[i].sort);
	for (enum cpu_side side = 0; !layout->shows_waits && side < CPU_NR_SIDES; side++)
		append_head(out, sides[side].head, sides[side].columns, sort == sides[side].sort);
}

void row_text_append_head(struct strbuf *out, const struct row_layout *layout,
			  const struct board *board, const struct screen *screen)
{
	enum row_sort sort = screen->row_sort;

	append_name_head(out, grouping_name(board->tally.by), layout->name, sort == SORT_NAME);
	append_head(out, "CPU", CPU_COLUMNS, sort == SORT_CPU);
	append_head(out, board->nr_cpus > 0 ? "%NODE" : "%ALL", NODE_COLUMNS, false);
	if (layout->has_waits) {
		append_head(out, "WAIT", WAIT_COLUMNS, sort == SORT_WAIT);
		append_head(out, "DELAY", DELAY_COLUMNS, sort == SORT_DELAY);
	}
	if (layout->has_split)
		append_split_head(out, layout, sort);
	if (layout->has_processes)
		append_head(out, "PROCS", PROCESSES_COLUMNS, sort == SORT_PROCESSES);
	if (layout->has_trend)
		strbuf_appendf(out, "  %-*s", TREND_POINTS, "TREND");
	if (layout->stack > 0)
		strbuf_appendf(out, "  %-*s", (int)layout->stack,
			       layout->shows_waits ? "HOTTEST WAIT" : "HOTTEST STACK");
}

static double percent(uint64_t part, uint64_t whole)
{
	return whole > 0 ? 100.0 * (double)part / (double)whole : 0;
}

static void append_side(struct strbuf *out, const struct tally_row *row, enum cpu_side side,
			const struct cells_style *style)
{
	double value = percent(row->sides[side], row->total);
	int columns = (int)sides[side].columns;

	color_begin(out, style, color_of_side(side));
	if (value > 0 && value < 0.5)
		strbuf_appendf(out, "%*s", columns, "<1");
	else
		strbuf_appendf(out, "%*.0f", columns, value);
	color_end(out, style);
}

static void append_trend(struct strbuf *out, const struct board *board, const char *name,
			 const struct cells_style *style)
{
	static const char *const blocks[] = { " ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
	static const char ascii[] = " _.,-=+*#";
	const struct trend_line *line = trend_find(&board->trend, name);
	float max = TREND_FLOOR_CPUS;

	for (size_t i = 0; line && i < TREND_POINTS; i++)
		max = line->cpus[i] > max ? line->cpus[i] : max;
	for (size_t i = 0; i < TREND_POINTS; i++) {
		float cpus = line ? line->cpus[i] : 0;
		size_t level = cpus > 0 ? 1 + (size_t)(cpus / max * 7.0f + 0.5f) : 0;

		if (style->is_utf8)
			strbuf_append_str(out, blocks[level]);
		else
			strbuf_append_char(out, ascii[level]);
	}
}

static void append_stack(struct strbuf *out, struct board *board, const struct tally_row *row,
			 size_t columns, const struct cells_style *style)
{
	const struct hot_stack *stack = board_hot_stack(board, row);

	if (!stack || stack->nr_frames == 0)
		return;
	color_begin(out, style, color_of_side(stack->side));
	strbuf_appendf(out, "%3.0f %% %-4s  ", percent(stack->count, row->total),
		       cpu_side_word(stack->side));
	color_end(out, style);
	path_text_append(out, stack, columns - SHARE_COLUMNS, style);
}

static void append_wait_stack(struct strbuf *out, struct board *board, const struct tally_row *row,
			      size_t columns, const struct cells_style *style)
{
	const struct hot_stack *stack = board_hot_wait(board, row);

	if (!stack || stack->nr_frames == 0)
		return;
	strbuf_appendf(out, "%3.0f %% %-11s  ", percent(stack->count, stack->whole),
		       wait_reason_word(stack->reason));
	path_text_append(out, stack, columns - WAIT_SHARE_COLUMNS, style);
}

/* Appends a number of threads. */
static void append_threads(struct strbuf *out, const struct board *board, uint64_t time_ns,
			   size_t columns)
{
	double threads = tally_threads(&board->tally, time_ns);

	strbuf_appendf(out, "%*.*f", (int)columns, threads < 1000 ? 2 : 0, threads);
}

static void append_split(struct strbuf *out, const struct row_layout *layout,
			 const struct board *board, const struct tally_row *row,
			 const struct cells_style *style)
{
	for (size_t i = 0; layout->shows_waits && i < array_len(classes); i++)
		append_threads(out, board, row->waits[classes[i].class], classes[i].columns);
	for (enum cpu_side side = 0; !layout->shows_waits && side < CPU_NR_SIDES; side++)
		append_side(out, row, side, style);
}

void row_text_append(struct strbuf *out, const struct row_layout *layout, struct board *board,
		     const struct tally_row *row, const struct cells_style *style)
{
	double cpus = board_cpus(board, row->total);

	cells_append_padded(out, row->name, layout->name, ELIDE_MIDDLE, style);
	strbuf_appendf(out, "%*.2f%*.1f", CPU_COLUMNS, cpus, NODE_COLUMNS,
		       board->nr_cpus > 0 ? 100.0 * cpus / board->nr_cpus
					  : percent(row->total, board->tally.total));
	if (layout->has_waits) {
		append_threads(out, board, tally_blocked_ns(row->waits), WAIT_COLUMNS);
		append_threads(out, board, row->waits[WAIT_CPU], DELAY_COLUMNS);
	}
	if (layout->has_split)
		append_split(out, layout, board, row, style);
	if (layout->has_processes)
		strbuf_appendf(out, "%*" PRIu32, PROCESSES_COLUMNS, row->nr_processes);
	if (layout->has_trend) {
		strbuf_append_str(out, "  ");
		append_trend(out, board, row->name, style);
	}
	if (layout->stack > 0) {
		strbuf_append_str(out, "  ");
		if (layout->shows_waits)
			append_wait_stack(out, board, row, layout->stack, style);
		else
			append_stack(out, board, row, layout->stack, style);
	}
}

void row_text_append_share(struct strbuf *out, const struct hot_stack *stack,
			   const struct tally_row *row)
{
	strbuf_appendf(out, "%.0f %% %s", percent(stack->count, row->total),
		       cpu_side_name(stack->side));
}

void row_text_append_wait_share(struct strbuf *out, const struct hot_stack *stack)
{
	strbuf_appendf(out, "%.0f %% %s", percent(stack->count, stack->whole),
		       wait_reason_word(stack->reason));
}

void row_text_append_reasons(struct strbuf *out, const struct board *board,
			     const struct tally_row *row)
{
	enum wait_reason reasons[REASON_NR];
	size_t nr = tally_row_reasons(row, reasons);

	for (size_t i = 0; i < nr && i < REASONS_SHOWN; i++)
		strbuf_appendf(out, "%s%s %.2f", i > 0 ? ", " : "", wait_reason_word(reasons[i]),
			       tally_threads(&board->tally, row->reasons[reasons[i]]));
	strbuf_append_str(out, nr > 0 ? " threads" : "no waits");
}

void row_text_append_function_head(struct strbuf *out, const struct screen *screen)
{
	append_head(out, "SELF %", SELF_COLUMNS, screen->function_sort == SORT_SELF);
	append_head(out, "TOTAL %", TOTAL_COLUMNS, screen->function_sort == SORT_TOTAL);
	strbuf_append_str(out, "  ");
	append_name_head(out, "function", 0, screen->function_sort == SORT_FUNCTION);
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

void row_text_append_function(struct strbuf *out, const struct board *board,
			      const struct function_row *row, const struct cells_style *style)
{
	uint64_t total = board_opened_total(board);
	size_t used = SELF_COLUMNS + TOTAL_COLUMNS + 2;
	size_t rest = style->columns > used ? style->columns - used : 0;
	size_t file = rest > 3 * FUNCTION_FILE_COLUMNS ? FUNCTION_FILE_COLUMNS : 0;
	bool is_kernel = row->kind == FRAME_KERNEL;

	strbuf_appendf(out, "%*.1f%*.1f  ", SELF_COLUMNS, percent(row->self, total), TOTAL_COLUMNS,
		       percent(row->total, total));
	color_begin(out, style, is_kernel ? COLOR_KERNEL : COLOR_APPLICATION);
	cells_append_padded(out, *row->name ? row->name : "[unnamed]",
			    rest - file - (file > 0 ? 2 : 0), ELIDE_LEFT, style);
	color_end(out, style);
	if (file == 0)
		return;
	strbuf_append_str(out, "  ");
	cells_append(out, is_kernel ? "[kernel]" : base_name(row->file), file, ELIDE_MIDDLE, style);
}
