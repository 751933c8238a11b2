/* SPDX-License-Identifier: Apache-2.0 */
#include "top/screen.h"

#include "base/err.h"

#include <string.h>

void screen_clamp(struct screen *screen, size_t nr_rows)
{
	if (screen->selected >= nr_rows)
		screen->selected = nr_rows > 0 ? nr_rows - 1 : 0;
}

/* Once the selection was moved down, it stays with its row. At the first line it stays there. */
static enum screen_wish select_row(struct screen *screen, size_t row, size_t nr_rows)
{
	screen->selected = row;
	screen_clamp(screen, nr_rows);
	screen->is_following = screen->selected > 0;
	return WISH_NOTHING;
}

static enum screen_wish move_up(struct screen *screen, size_t by, size_t nr_rows)
{
	return select_row(screen, screen->selected > by ? screen->selected - by : 0, nr_rows);
}

static enum screen_wish move_down(struct screen *screen, size_t by, size_t nr_rows)
{
	return select_row(screen, screen->selected + by, nr_rows);
}

static enum screen_wish close_page(struct screen *screen)
{
	if (screen->filter[0]) {
		screen->filter[0] = '\0';
	} else if (screen->page == PAGE_FUNCTIONS) {
		screen->page = PAGE_ROWS;
		screen->selected = screen->opened_from;
	}
	return WISH_NOTHING;
}

static enum screen_wish open_row(struct screen *screen, size_t nr_rows)
{
	return screen->page == PAGE_ROWS && nr_rows > 0 ? WISH_OPEN : WISH_NOTHING;
}

/* The columns of the page of rows from left to right, and the name. */
static const enum row_sort cpu_sorts[] = { SORT_CPU,	     SORT_WAIT,	     SORT_DELAY,
					   SORT_APPLICATION, SORT_KERNEL,    SORT_IRQ,
					   SORT_SOFTIRQ,     SORT_PROCESSES, SORT_NAME };
static const enum row_sort wait_sorts[] = { SORT_CPU,	 SORT_WAIT, SORT_DELAY, SORT_DISK,
					    SORT_MEMORY, SORT_LOCK, SORT_PEER,	SORT_NAME };

static bool has_column(const struct screen *screen, enum row_sort sort)
{
	return screen->has_waits || (sort != SORT_WAIT && sort != SORT_DELAY);
}

static enum row_sort step_in(const struct screen *screen, const enum row_sort *sorts, size_t nr,
			     bool is_forward)
{
	size_t i = 0;

	while (i + 1 < nr && sorts[i] != screen->row_sort)
		i++;
	do
		i = (i + (is_forward ? 1 : nr - 1)) % nr;
	while (!has_column(screen, sorts[i]));
	return sorts[i];
}

static enum screen_wish sort_by_next(struct screen *screen, bool is_forward)
{
	unsigned int step = is_forward ? 1 : NR_FUNCTION_SORTS - 1;

	if (screen->page == PAGE_FUNCTIONS)
		screen->function_sort = (screen->function_sort + step) % NR_FUNCTION_SORTS;
	else if (screen->shows_waits)
		screen->row_sort = step_in(screen, wait_sorts, array_len(wait_sorts), is_forward);
	else
		screen->row_sort = step_in(screen, cpu_sorts, array_len(cpu_sorts), is_forward);
	return WISH_NOTHING;
}

/* Shows waits, or CPU time again, with the rows that have most of it at the top. */
static enum screen_wish switch_to_waits(struct screen *screen)
{
	if (!screen->has_waits)
		return WISH_NOTHING;
	screen->shows_waits = !screen->shows_waits;
	screen->row_sort = screen->shows_waits ? SORT_WAIT : SORT_CPU;
	return WISH_REFRESH;
}

static enum screen_wish group_by_next(struct screen *screen)
{
	screen->by = (screen->by + 1) % NR_GROUPINGS;
	screen->page = PAGE_ROWS;
	screen->selected = 0;
	screen->is_following = false;
	return WISH_REGROUP;
}

static enum screen_wish press_text(struct screen *screen, char c, size_t nr_rows)
{
	switch (c) {
	case 'q':
		return WISH_QUIT;
	case 'j':
		return move_down(screen, 1, nr_rows);
	case 'k':
		return move_up(screen, 1, nr_rows);
	case 'g':
		return select_row(screen, 0, nr_rows);
	case 'G':
		return select_row(screen, nr_rows, nr_rows);
	case 's':
	case '>':
		return sort_by_next(screen, true);
	case '<':
		return sort_by_next(screen, false);
	case 'r':
		screen->is_reversed = !screen->is_reversed;
		return WISH_NOTHING;
	case 't':
		return group_by_next(screen);
	case '/':
		screen->is_typing = true;
		screen->filter[0] = '\0';
		return WISH_NOTHING;
	case ' ':
		screen->is_paused = !screen->is_paused;
		return WISH_REFRESH;
	case 'w':
		return switch_to_waits(screen);
	case 'K':
		screen->hides_kernel = !screen->hides_kernel;
		return WISH_REFRESH;
	case '?':
	case 'h':
		screen->shows_help = true;
		return WISH_NOTHING;
	default:
		return WISH_NOTHING;
	}
}

static enum screen_wish press_command(struct screen *screen, const struct key *key, size_t nr_rows)
{
	size_t page = screen->nr_visible > 1 ? screen->nr_visible - 1 : 1;

	switch (key->kind) {
	case KEY_TEXT:
		return press_text(screen, key->text[0], nr_rows);
	case KEY_UP:
		return move_up(screen, 1, nr_rows);
	case KEY_DOWN:
		return move_down(screen, 1, nr_rows);
	case KEY_PAGE_UP:
		return move_up(screen, page, nr_rows);
	case KEY_PAGE_DOWN:
		return move_down(screen, page, nr_rows);
	case KEY_HOME:
		return select_row(screen, 0, nr_rows);
	case KEY_END:
		return select_row(screen, nr_rows, nr_rows);
	case KEY_ENTER:
	case KEY_RIGHT:
		return open_row(screen, nr_rows);
	case KEY_ESCAPE:
	case KEY_LEFT:
	case KEY_BACKSPACE:
		return close_page(screen);
	case KEY_UNKNOWN:
		break;
	}
	return WISH_NOTHING;
}

/* Removes the last character. */
static void erase(char *filter)
{
	size_t len = strlen(filter);

	while (len > 0 && ((unsigned char)filter[len - 1] & 0xc0) == 0x80)
		len--;
	filter[len > 0 ? len - 1 : 0] = '\0';
}

static enum screen_wish type(struct screen *screen, const struct key *key)
{
	size_t len = strlen(screen->filter);

	if (key->kind == KEY_TEXT && len + strlen(key->text) < sizeof(screen->filter))
		memcpy(screen->filter + len, key->text, strlen(key->text) + 1);
	else if (key->kind == KEY_BACKSPACE)
		erase(screen->filter);
	else if (key->kind == KEY_ESCAPE)
		screen->filter[0] = '\0';
	if (key->kind == KEY_ENTER || key->kind == KEY_ESCAPE)
		screen->is_typing = false;
	screen->selected = 0;
	screen->is_following = false;
	return WISH_NOTHING;
}

enum screen_wish screen_press(struct screen *screen, const struct key *key, size_t nr_rows)
{
	if (screen->is_typing)
		return type(screen, key);
	if (screen->shows_help) { /* any key closes it */
		screen->shows_help = false;
		return key->kind == KEY_TEXT && key->text[0] == 'q' ? WISH_QUIT : WISH_NOTHING;
	}
	return press_command(screen, key, nr_rows);
}
