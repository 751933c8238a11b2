/* SPDX-License-Identifier: Apache-2.0 */
/* From top to bottom: two or three lines of totals, the table, the selected row's hottest stack at
 * full width, a message, and the keys. On a low terminal, all but the table are left out by and
 * by. */
#include "top/draw.h"

#include "base/cleanup.h"
#include "top/color.h"
#include "top/path_text.h"
#include "top/row_text.h"
#include "top/totals.h"

#include <inttypes.h>
#include <string.h>

#define LINE_MAX_BYTES 16384
#define ERASE_LINE "\033[K" /* before it is drawn: at the right edge it would erase a character */
#define ERASE_BELOW "\033[J"
#define GO_HOME "\033[H"
#define DETAIL_LINES 3 /* with the blank line above */
#define LINES_FOR_DETAIL 16
#define LINES_FOR_VITALS 20
#define LINES_FOR_TOTALS 8
#define LINES_FOR_KEYS 4
#define LINES_FOR_HEAD 2

struct drawing {
	struct strbuf *out;
	struct screen *screen;
	struct board *board;
	const struct cells_style *style;
	unsigned int nr_lines; /* that were drawn */
};

/* At most 80 columns and 24 lines. */
static const char help_text[] =
	"flamelet top: which applications use the CPU, and in which functions\n"
	"\n"
	"  up, down, j, k  select a row; also PgUp, PgDn, Home, End, g, G\n"
	"  Enter           functions of the selected row; Esc goes back\n"
	"  w               what threads wait for, or CPU time again\n"
	"  t               group by application, workload, pod, container, process,\n"
	"                  thread, comm or function\n"
	"  s, >, <         sort by the next or previous column; r reverses the order\n"
	"  /               show only names that contain a text; Esc shows all\n"
	"  K               leave out the kernel's functions, or show them again\n"
	"  space, q        pause, or go on; quit\n"
	"  CPU    CPUs that the row kept busy; %NODE: share of all CPUs\n"
	"  WAIT   threads that were blocked: by a disk (DISK), for memory (MEM), by a\n"
	"         lock (LOCK); NET: by sockets and pipes, not in WAIT as they may be idle\n"
	"  DELAY  threads that waited for a CPU\n"
	"  APP    share of the row's CPU time in its own code, in percent\n"
	"  KERN   in the kernel for it: system calls, page faults, scheduling\n"
	"  IRQ    in hard interrupts while it ran; SIRQ: in soft interrupts\n"
	"  PROCS  its processes that used the CPU; TREND: CPU in the last refreshes\n"
	"  HOTTEST STACK, HOTTEST WAIT: the path that most of the row's samples share,\n"
	"  and the share of its time there and below. [k] marks the kernel's functions.\n"
	"\n"
	"Any key closes this page.\n";

static void begin_line(struct drawing *drawing)
{
	strbuf_append_str(drawing->out, ERASE_LINE);
}

static void end_line(struct drawing *drawing)
{
	if (++drawing->nr_lines < drawing->style->lines)
		strbuf_append_str(drawing->out, "\r\n");
}

static void draw_blank(struct drawing *drawing)
{
	begin_line(drawing);
	end_line(drawing);
}

/* Fills the rest of a line that began at that offset, and in which there are no colours. */
static void fill_line(struct drawing *drawing, size_t start)
{
	struct strbuf *out = drawing->out;
	size_t width = strbuf_error(out) < 0 ? 0 : cells_width(strbuf_str(out) + start);

	if (width < drawing->style->columns)
		strbuf_appendf(out, "%*s", (int)(drawing->style->columns - width), "");
}

static void draw_text(struct drawing *drawing, const char *text)
{
	begin_line(drawing);
	cells_append(drawing->out, text, drawing->style->columns, ELIDE_MIDDLE, drawing->style);
	end_line(drawing);
}

static void draw_help(struct drawing *drawing)
{
	char line[128];

	for (const char *text = help_text; *text && drawing->nr_lines < drawing->style->lines;) {
		size_t len = strcspn(text, "\n");

		memcpy(line, text, len);
		line[len] = '\0';
		draw_text(drawing, line);
		text += len + 1;
	}
}

/* Appends a word in brackets if there is room for it. */
static void append_state(struct strbuf *line, const char *word)
{
	strbuf_appendf(line, "  [%s]", word);
}

/* Draws what is shown: "by application  [paused]". */
static void draw_states(struct drawing *drawing)
{
	const struct screen *screen = drawing->screen;
	_cleanup_(strbuf_done) struct strbuf line = strbuf_with_max(LINE_MAX_BYTES);

	if (screen->page == PAGE_FUNCTIONS)
		strbuf_appendf(&line, "functions of %s", drawing->board->opened);
	else
		strbuf_appendf(&line, "by %s", grouping_name(screen->by));
	totals_append_samples(&line, drawing->board);
	if (screen->is_paused)
		append_state(&line, "paused");
	if (screen->shows_waits)
		append_state(&line, "waits");
	if (screen->hides_kernel)
		append_state(&line, "kernel hidden");
	if (screen->filter[0] && !screen->is_typing)
		strbuf_appendf(&line, "  [filter: %s]", screen->filter);
	draw_text(drawing, strbuf_str(&line));
}

static void draw_totals(struct drawing *drawing, bool has_vitals, bool has_waits)
{
	begin_line(drawing);
	totals_append_bar(drawing->out, drawing->board, drawing->style);
	end_line(drawing);
	if (has_vitals) {
		begin_line(drawing);
		totals_append_vitals(drawing->out, drawing->board, drawing->style);
		end_line(drawing);
	}
	if (has_waits) {
		_cleanup_(strbuf_done) struct strbuf line = strbuf_with_max(LINE_MAX_BYTES);

		totals_append_waits(&line, drawing->board);
		draw_text(drawing, strbuf_str(&line));
	}
	draw_states(drawing);
}

static void draw_head(struct drawing *drawing, const struct row_layout *layout)
{
	begin_line(drawing);
	strbuf_append_str(drawing->out, ATTRIBUTE_REVERSE);
	size_t start = drawing->out->len;
	if (drawing->screen->page == PAGE_ROWS)
		row_text_append_head(drawing->out, layout, drawing->board, drawing->screen);
	else
		row_text_append_function_head(drawing->out, drawing->screen);
	fill_line(drawing, start);
	strbuf_append_str(drawing->out, ATTRIBUTE_NONE);
	end_line(drawing);
}

static void draw_row(struct drawing *drawing, const struct row_layout *layout, size_t line)
{
	bool is_selected = line == drawing->screen->selected;
	struct cells_style style = *drawing->style;

	begin_line(drawing);
	if (is_selected) {
		style.has_color = false; /* the whole line has one */
		strbuf_append_str(drawing->out, ATTRIBUTE_BOLD ATTRIBUTE_REVERSE);
	}
	size_t start = drawing->out->len;
	if (drawing->screen->page == PAGE_ROWS)
		row_text_append(drawing->out, layout, drawing->board,
				board_row(drawing->board, line), &style);
	else
		row_text_append_function(drawing->out, drawing->board,
					 board_function(drawing->board, line), &style);
	if (is_selected) {
		fill_line(drawing, start);
		strbuf_append_str(drawing->out, ATTRIBUTE_NONE);
	}
	end_line(drawing);
}

static void draw_nothing(struct drawing *drawing)
{
	if (drawing->screen->filter[0])
		draw_text(drawing, "no name contains the filter's text; Esc shows all");
	else if (!drawing->board->tally.profile)
		draw_text(drawing, "waiting for the first samples");
	else if (drawing->screen->shows_waits)
		draw_text(drawing,
			  "nothing waited for a disk, memory, a lock, a CPU, a socket or a "
			  "pipe");
	else
		draw_text(drawing, "no CPU time was used");
}

/* Draws the part of the table around the selected row. */
static void draw_table(struct drawing *drawing, size_t nr_lines, bool has_head)
{
	size_t nr = drawing->board->nr_order, selected = drawing->screen->selected;
	size_t first = selected >= nr_lines ? selected - nr_lines + 1 : 0;
	struct row_layout layout = row_layout_fit(drawing->screen, drawing->style->columns, true,
						  true);

	if (has_head)
		draw_head(drawing, &layout);
	if (nr == 0)
		draw_nothing(drawing);
	for (size_t i = nr == 0 ? 1 : 0; i < nr_lines; i++) {
		if (first + i < nr)
			draw_row(drawing, &layout, first + i);
		else
			draw_blank(drawing);
	}
}

/* Appends what a row waited for, in what is left of the line behind its name and kind. */
static void append_reasons(struct drawing *drawing, const struct tally_row *row)
{
	_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max(LINE_MAX_BYTES);
	size_t used = drawing->style->columns / 2 + strlen(row->kind) + strlen(" (): ");

	row_text_append_reasons(&text, drawing->board, row);
	if (drawing->style->columns > used)
		cells_append(drawing->out, strbuf_str(&text), drawing->style->columns - used,
			     ELIDE_MIDDLE, drawing->style);
}

/* Draws the hottest stack of a row, or that of its waits, at full width. */
static void draw_stack(struct drawing *drawing, const struct tally_row *row)
{
	bool is_wait = drawing->screen->shows_waits;
	const struct hot_stack *stack = is_wait ? board_hot_wait(drawing->board, row)
						: board_hot_stack(drawing->board, row);
	const struct cells_style *style = drawing->style;

	begin_line(drawing);
	cells_append(drawing->out, row->name, style->columns / 2, ELIDE_MIDDLE, style);
	strbuf_appendf(drawing->out, " (%s)", row->kind);
	if (!stack || stack->nr_frames == 0) {
		end_line(drawing);
		draw_blank(drawing);
		return;
	}
	strbuf_append_str(drawing->out, ": ");
	if (is_wait)
		append_reasons(drawing, row);
	else
		row_text_append_share(drawing->out, stack, row);
	end_line(drawing);
	begin_line(drawing);
	strbuf_append_str(drawing->out, "  ");
	path_text_append(drawing->out, stack, style->columns > 2 ? style->columns - 2 : 0, style);
	end_line(drawing);
}

static void draw_detail(struct drawing *drawing)
{
	const struct board *board = drawing->board;
	size_t selected = drawing->screen->selected;

	draw_blank(drawing);
	if (drawing->screen->page == PAGE_ROWS && selected < board->nr_order) {
		draw_stack(drawing, board_row(board, selected));
		return;
	}
	draw_blank(drawing);
	draw_blank(drawing);
}

static void draw_keys(struct drawing *drawing)
{
	const struct screen *screen = drawing->screen;
	_cleanup_(strbuf_done) struct strbuf line = strbuf_with_max(LINE_MAX_BYTES);

	if (screen->is_typing)
		strbuf_appendf(&line, "filter: %s%s   (Enter: done, Esc: show all)", screen->filter,
			       cells_symbol(drawing->style, "▏", "_"));
	else if (screen->page == PAGE_FUNCTIONS)
		strbuf_append_str(&line, "Esc back  s sort  / filter  K kernel  ? help  q quit");
	else
		strbuf_appendf(&line,
			       "Enter functions  %st group  s sort  / filter  K kernel  ? help  "
			       "q quit",
			       !screen->has_waits    ? ""
			       : screen->shows_waits ? "w CPU time  "
						     : "w waits  ");
	draw_text(drawing, strbuf_str(&line));
}

static void draw_pages(struct drawing *drawing, const char *message)
{
	size_t lines = drawing->style->lines;
	bool has_head = lines >= LINES_FOR_HEAD, has_keys = lines >= LINES_FOR_KEYS;
	bool has_totals = lines >= LINES_FOR_TOTALS, has_detail = lines >= LINES_FOR_DETAIL;
	bool has_message = *message && lines > LINES_FOR_KEYS;
	bool has_vitals = lines >= LINES_FOR_VITALS && drawing->board->vitals.has;
	bool has_waits = lines >= LINES_FOR_VITALS && drawing->board->tally.waits;
	size_t used = (size_t)has_head + has_keys + has_message + has_vitals + has_waits +
		      (has_totals ? 2 : 0) + (has_detail ? DETAIL_LINES : 0);

	drawing->screen->nr_visible = lines > used ? lines - used : 1;
	if (has_totals)
		draw_totals(drawing, has_vitals, has_waits);
	draw_table(drawing, drawing->screen->nr_visible, has_head);
	if (has_detail)
		draw_detail(drawing);
	if (has_message)
		draw_text(drawing, message);
	if (has_keys)
		draw_keys(drawing);
}

void draw_screen(struct strbuf *out, struct screen *screen, struct board *board,
		 const struct cells_style *style, const char *message)
{
	struct drawing drawing = { out, screen, board, style, 0 };

	strbuf_append_str(out, GO_HOME);
	if (screen->shows_help)
		draw_help(&drawing);
	else
		draw_pages(&drawing, message);
	strbuf_append_str(out, ERASE_BELOW);
}
