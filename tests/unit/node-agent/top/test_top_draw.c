/* SPDX-License-Identifier: Apache-2.0 */
#include "top/draw.h"

#include "hostile_names.h"
#include "stacks.h"
#include "unit.h"

#include "base/cleanup.h"

#include <stdio.h>
#include <string.h>

#define PLENTY_BYTES (1 << 20)
#define MAX_LINES 300

static const struct stack_line lines[] = {
	{ "cart", "main;serve;hash", 90 },
	{ "cart", "main;read;entry_[k];copy_[k]", 30 },
	{ "billing", "main;build;asm_exc_page_fault_[k];fault_[k];clear_[k]", 25 },
};

/* What a terminal shows of the text: without escape sequences, by lines. */
struct shown {
	struct strbuf text;
	const char *lines[MAX_LINES];
	size_t nr;
};

static void shown_done(struct shown *shown)
{
	strbuf_done(&shown->text);
}

static void strip(const char *text, struct strbuf *out)
{
	while (*text) {
		if (text[0] == '\033' && text[1] == '[') {
			text += 2 + strspn(text + 2, "0123456789;?");
			assert_non_null(strchr("HJKm", *text)); /* nothing else is drawn with */
			text++;
		} else {
			strbuf_append_char(out, *text++);
		}
	}
}

static void look(struct board *board, struct screen *screen, const struct cells_style *style,
		 const char *message, struct shown *shown)
{
	_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(PLENTY_BYTES);

	assert_int_equal(board_arrange(board, screen), 0);
	draw_screen(&out, screen, board, style, message);
	assert_int_equal(strbuf_error(&out), 0);
	*shown = (struct shown){ .text = strbuf_with_max(PLENTY_BYTES) };
	strip(strbuf_str(&out), &shown->text);
	char *rest = shown->text.data;
	for (char *line; rest && (line = strsep(&rest, "\n"));) {
		assert_true(shown->nr < MAX_LINES);
		line[strcspn(line, "\r")] = '\0';
		assert_printable(line, strlen(line), false);
		shown->lines[shown->nr++] = line;
	}
}

static void fill(struct board *board, const struct stack_line *list, size_t nr)
{
	_cleanup_(profile_unrefp) struct profile *profile = profile_of_stacks(list, nr);

	assert_int_equal(board_show(board, profile, NULL, BY_COMM), 0);
}

static bool is_shown(const struct shown *shown, const char *text)
{
	for (size_t i = 0; i < shown->nr; i++)
		if (strstr(shown->lines[i], text))
			return true;
	return false;
}

static void a_wide_terminal_shows_everything(void **state)
{
	_cleanup_(board_done) struct board board = { .host = "node-1", .nr_cpus = 2 };
	struct screen screen = { .by = BY_COMM };
	const struct cells_style style = { .columns = 140, .lines = 20, .is_utf8 = true };
	_cleanup_(shown_done) struct shown shown;
	(void)state;

	fill(&board, lines, array_len(lines));
	look(&board, &screen, &style, "a message", &shown);
	assert_int_equal(shown.nr, 20);
	assert_true(is_shown(&shown, "node-1  1.45 of 2 CPUs busy (72.5 %)"));
	assert_true(is_shown(&shown, "application 62.1 %  kernel 37.9 %"));
	assert_true(is_shown(&shown, "by comm, 145 samples in 1.0 s, 0 lost"));
	assert_true(is_shown(&shown, "75 % app   hash ← serve ← main"));
	assert_true(is_shown(&shown, "TREND"));
	assert_true(is_shown(&shown, "cart (process): 75 % application"));
	assert_true(is_shown(&shown, "a message"));
	assert_true(is_shown(&shown, "q quit"));
}

static void what_the_kernel_counts_is_shown_if_it_is_known(void **state)
{
	_cleanup_(board_done) struct board board = { .nr_cpus = 2 };
	struct screen screen = { .by = BY_COMM };
	const struct cells_style style = { .columns = 120, .lines = 24 };
	_cleanup_(shown_done) struct shown without, with;
	(void)state;

	fill(&board, lines, array_len(lines));
	look(&board, &screen, &style, "", &without);
	assert_false(is_shown(&without, "kernel counts"));
	vitals_set(&board.vitals, VITAL_USER, 1500000000);
	vitals_set(&board.vitals, VITAL_IRQ, 250000000);
	vitals_set(&board.vitals, VITAL_RUNNABLE, 7);
	vitals_set(&board.vitals, VITAL_MEMORY_TOTAL, 1000);
	vitals_set(&board.vitals, VITAL_MEMORY_AVAILABLE, 390);
	look(&board, &screen, &style, "", &with);
	assert_true(is_shown(&with,
			     "kernel counts:  user 1.50  irq 0.25  runnable 7  memory used 61 %"));
	assert_int_equal(with.nr, 24);
}

static void fill_with_waits(struct board *board)
{
	static const struct wait_line waits[] = {
		{ "cart", "main;serve;pthread_mutex_lock;do_futex_[k]", REASON_FUTEX, 700000000 },
		{ "cart", "main;poll", REASON_POLL, 900000000 },
		{ "db", "main;save;fsync;io_schedule_[k]", REASON_DISK, 800000000 },
	};
	_cleanup_(profile_unrefp) struct profile *profile = profile_of_stacks(lines,
									      array_len(lines));
	_cleanup_(profile_unrefp) struct profile *off = profile_of_waits(waits, array_len(waits));

	assert_int_equal(board_show(board, profile, off, BY_COMM), 0);
}

static void waits_replace_the_shares_of_cpu_time(void **state)
{
	_cleanup_(board_done) struct board board = { .nr_cpus = 2 };
	struct screen screen = { .by = BY_COMM, .has_waits = true };
	const struct cells_style style = { .columns = 140, .lines = 24, .is_utf8 = true };
	_cleanup_(shown_done) struct shown cpu, waits;
	(void)state;

	fill_with_waits(&board);
	look(&board, &screen, &style, "", &cpu);
	assert_true(is_shown(&cpu, "  WAIT  DELAY  APP"));
	assert_true(is_shown(&cpu, "threads blocked 1.50"));
	assert_true(is_shown(&cpu, "w waits"));
	screen.shows_waits = true;
	screen.row_sort = SORT_WAIT;
	look(&board, &screen, &style, "", &waits);
	assert_true(is_shown(&waits, "*WAIT  DELAY   DISK    MEM   LOCK    NET  HOTTEST WAIT"));
	assert_true(is_shown(&waits, "100 % disk         fsync ← save ← main"));
	assert_true(is_shown(&waits, "db (process): disk 0.80 threads"));
	assert_true(is_shown(&waits, "[waits]"));
	assert_false(is_shown(&waits, "billing")); /* which did not wait */
}

static void assert_fits(struct board *board, const struct cells_style *style)
{
	struct screen screen = { .by = BY_COMM,
				 .has_waits = board->tally.waits,
				 .shows_waits = board->tally.waits && style->lines % 3 == 0,
				 .page = style->columns % 2 ? PAGE_ROWS : PAGE_FUNCTIONS,
				 .shows_help = style->lines % 4 == 0 };
	_cleanup_(shown_done) struct shown shown;

	look(board, &screen, style, style->lines % 2 ? "message" : "", &shown);
	assert_true(shown.nr <= style->lines);
	for (size_t i = 0; i < shown.nr; i++)
		if (cells_width(shown.lines[i]) > style->columns)
			fail_msg("%u columns: %s", style->columns, shown.lines[i]);
}

static void fit_all(struct board *board)
{
	struct cells_style style = { 0 };

	for (style.columns = 36; style.columns < 260; style.columns += 7) {
		style.is_utf8 = style.columns % 3 > 0;
		style.has_color = style.columns % 5 > 0;
		for (style.lines = 1; style.lines < 60; style.lines += 3)
			assert_fits(board, &style);
	}
}

static void each_size_of_a_terminal_is_filled_and_not_exceeded(void **state)
{
	_cleanup_(board_done) struct board board = { .host = "a-rather-long-name-of-a-host",
						     .nr_cpus = 2 };
	(void)state;

	vitals_set(&board.vitals, VITAL_USER, 1500000000);
	fill(&board, lines, array_len(lines));
	fit_all(&board);
	fill_with_waits(&board);
	fit_all(&board);
}

static void the_selected_row_is_in_the_picture(void **state)
{
	struct stack_line many[100];
	char names[100][16];
	_cleanup_(board_done) struct board board = { .nr_cpus = 2 };
	struct screen screen = { .by = BY_COMM, .selected = 77 };
	const struct cells_style style = { .columns = 80, .lines = 10 };
	_cleanup_(shown_done) struct shown shown;
	(void)state;

	for (size_t i = 0; i < array_len(many); i++) {
		snprintf(names[i], sizeof(names[i]), "row-%zu", i);
		many[i] = (struct stack_line){ names[i], "main", (uint32_t)(1000 - i) };
	}
	fill(&board, many, array_len(many));
	look(&board, &screen, &style, "", &shown);
	assert_true(is_shown(&shown, "row-77"));
	assert_false(is_shown(&shown, "row-78"));
	assert_int_equal(screen.nr_visible, 6);
}

static void functions_are_listed_with_their_shares(void **state)
{
	_cleanup_(board_done) struct board board = { .nr_cpus = 2 };
	struct screen screen = { .by = BY_COMM };
	const struct cells_style style = { .columns = 100, .lines = 20 };
	_cleanup_(shown_done) struct shown shown;
	(void)state;

	fill(&board, lines, array_len(lines));
	assert_int_equal(board_arrange(&board, &screen), 0);
	assert_int_equal(board_open(&board, &screen), 0);
	look(&board, &screen, &style, "", &shown);
	assert_true(is_shown(&shown, "functions of cart"));
	assert_true(is_shown(&shown, "    75.0     75.0  hash"));
	assert_true(is_shown(&shown, "    25.0     25.0  copy"));
	assert_true(is_shown(&shown, "[kernel]"));
	assert_true(is_shown(&shown, "     0.0    100.0  main"));
}

static void an_empty_table_says_why(void **state)
{
	_cleanup_(board_done) struct board board = { 0 };
	struct screen screen = { .by = BY_COMM };
	const struct cells_style style = { .columns = 100, .lines = 20 };
	_cleanup_(shown_done) struct shown first, filtered;
	(void)state;

	look(&board, &screen, &style, "", &first);
	assert_true(is_shown(&first, "waiting for the first samples"));
	fill(&board, lines, array_len(lines));
	snprintf(screen.filter, sizeof(screen.filter), "none of them");
	look(&board, &screen, &style, "", &filtered);
	assert_true(is_shown(&filtered, "no name contains the filter's text"));
	assert_true(is_shown(&filtered, "[filter: none of them]"));
}

static void states_are_shown(void **state)
{
	_cleanup_(board_done) struct board board = { 0 };
	struct screen screen = {
		.is_paused = true, .hides_kernel = true, .is_typing = true, .filter = "ca"
	};
	const struct cells_style style = { .columns = 100, .lines = 20 };
	_cleanup_(shown_done) struct shown shown;
	(void)state;

	fill(&board, lines, array_len(lines));
	look(&board, &screen, &style, "", &shown);
	assert_true(is_shown(&shown, "[paused]  [kernel hidden]"));
	assert_true(is_shown(&shown, "filter: ca_"));
}

static void hostile_names_do_nothing_to_the_terminal(void **state)
{
	const struct cells_style style = {
		.columns = 120, .lines = 20, .is_utf8 = true, .has_color = true
	};
	(void)state;

	for (size_t i = 0; i < array_len(hostile_names); i++) {
		const struct stack_line line = { hostile_names[i].name, hostile_names[i].name, 5 };
		_cleanup_(board_done) struct board board = { .host = hostile_names[i].name };
		struct screen screen = { .by = BY_COMM };
		_cleanup_(shown_done) struct shown rows, functions;

		fill(&board, &line, 1);
		snprintf(screen.filter, sizeof(screen.filter), "%s", hostile_names[i].name);
		look(&board, &screen, &style, hostile_names[i].name, &rows);
		assert_int_equal(board_open(&board, &screen), 0);
		look(&board, &screen, &style, hostile_names[i].name, &functions);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_wide_terminal_shows_everything),
		cmocka_unit_test(what_the_kernel_counts_is_shown_if_it_is_known),
		cmocka_unit_test(waits_replace_the_shares_of_cpu_time),
		cmocka_unit_test(each_size_of_a_terminal_is_filled_and_not_exceeded),
		cmocka_unit_test(the_selected_row_is_in_the_picture),
		cmocka_unit_test(functions_are_listed_with_their_shares),
		cmocka_unit_test(an_empty_table_says_why),
		cmocka_unit_test(states_are_shown),
		cmocka_unit_test(hostile_names_do_nothing_to_the_terminal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
