/* SPDX-License-Identifier: Apache-2.0 */
#include "commands/top_live.h"

#include "agent/agent.h"
#include "agent/signals.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/heartbeat.h"
#include "base/minmax.h"
#include "commands/commands.h"
#include "privilege/privileges.h"
#include "top/draw.h"
#include "top/feed.h"
#include "top/keys.h"
#include "top/terminal.h"
#include "top/wait_window.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#define MESSAGE_MAX_BYTES 4096
#define SCREEN_MAX_BYTES ((size_t)4 << 20)
#define READER_MAX_NS (30 * NSEC_PER_SEC)
#define LAST_WINDOWS_NS (2 * NSEC_PER_SEC)
#define KEYS_NS (40 * NSEC_PER_MSEC) /* from a key to the picture */
#define KEYS_BYTES 256
#define TOLERANCE_NS (200 * NSEC_PER_MSEC) /* seconds may be a little shorter */
#define LATE_NS (5 * NSEC_PER_SEC) /* a second arrives 4 s after its begin at the latest */
#define MESSAGE_NS (10 * NSEC_PER_SEC) /* for which one is shown */
#define LOSS "nothing but the picture is lost"

struct live {
	const struct options *options; /* borrowed */
	struct screen *screen; /* borrowed */
	struct feed feed;
	struct wait_window waits;
	struct board board;
	struct agent *agent; /* owned */
	struct vitals_reader vitals;
	bool has_vitals; /* the reader is open */
	struct utsname host;
	uint64_t nr_lost_before; /* by the agent, when the board was last filled */
	uint64_t nr_unmerged;
};

static void live_done(struct live *live)
{
	agent_free(live->agent);
	if (live->has_vitals)
		vitals_reader_close(&live->vitals);
	board_done(&live->board);
	wait_window_done(&live->waits);
	feed_done(&live->feed);
}

static void take_profile(struct profile *profile, void *data)
{
	feed_add(data, profile);
}

static void start_vitals(struct live *live)
{
	_cleanup_close_ int proc_fd = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct vitals first; /* without counters, which are differences */

	vitals_reader_open(proc_fd, &live->vitals);
	live->has_vitals = true;
	vitals_reader_read(&live->vitals, clock_mono_ns(), &first);
}

static int start(struct live *live, struct strbuf *message)
{
	const struct options *options = live->options;

	int r = privileges_check(backend_set_wanted(options), message);
	if (r == 0)
		r = agent_new(options, take_profile, &live->feed, message, &live->agent);
	if (r == 0)
		r = agent_require_target(live->agent, message);
	if (r == 0)
		r = agent_start(live->agent, message);
	if (r < 0)
		return r;
	uname(&live->host);
	live->board.host = options->node_name ? options->node_name : live->host.nodename;
	live->board.nr_cpus = agent_nr_cpus(live->agent);
	live->screen->has_waits = agent_has_off_cpu(live->agent);
	agent_warm_up(live->agent);
	start_vitals(live);
	feed_begin(&live->feed, clock_real_ns(), NSEC_PER_SEC / options->frequency_hz);
	return 0;
}

/* Returns whether enough time was sampled for the next picture or table. If no second arrives any
 * more, nothing that is sampled uses the CPU. */
static bool is_due(struct live *live, uint64_t interval_ns)
{
	return feed_waiting_ns(&live->feed) + TOLERANCE_NS >= interval_ns ||
	       feed_age_ns(&live->feed, clock_real_ns()) >= interval_ns + LATE_NS;
}

/* Returns the time up to which all that was sampled has arrived, or has been waited for. */
static uint64_t arrived_until_ns(void)
{
	return clock_real_ns() - LATE_NS;
}

/* Shows a profile with the waits until then. */
static int show_profile(struct live *live, struct profile *profile)
{
	_cleanup_(profile_unrefp) struct profile *new_waits = feed_take_waits(&live->feed);
	_cleanup_(profile_unrefp) struct profile *waits = NULL;
	int r = 0;

	if (live->screen->has_waits) {
		wait_window_add(&live->waits, new_waits, profile->duration_ns);
		r = wait_window_merge(&live->waits, &waits);
	}
	return r < 0 ? r : board_show(&live->board, profile, waits, live->screen->by);
}

/* Fills the board with what was sampled since the last time, up to `until_ns` (Unix time) or the
 * last second that arrived. Returns whether there was anything. */
static int fill_board(struct live *live, uint64_t until_ns)
{
	struct agent_stats stats;
	uint64_t nr_unmerged = 0;
	_cleanup_(profile_unrefp) struct profile *profile = feed_take(&live->feed, until_ns,
								      &nr_unmerged);

	if (!profile)
		return 0;
	agent_get_stats(live->agent, &stats);
	live->nr_unmerged += nr_unmerged;
	uint64_t nr_lost = agent_stats_lost(&stats) + live->nr_unmerged;
	live->board.nr_lost = nr_lost - live->nr_lost_before;
	live->nr_lost_before = nr_lost;
	vitals_reader_read(&live->vitals, clock_mono_ns(), &live->board.vitals);
	int r = show_profile(live, profile);
	return r < 0 ? r : 1;
}

static int tell_failure(int error, const struct strbuf *message)
{
	fprintf(stderr, "flamelet: %s\n", message->len > 0 ? message->data : strerror(-error));
	return STATUS_FAILED;
}

/* Tables, one after the other. */

static void sample_until(struct live *live, uint64_t deadline_ns)
{
	while (!signals_stop_requested() && clock_mono_ns() < deadline_ns)
		agent_poll(live->agent, min_u64(deadline_ns, clock_mono_ns() + AGENT_POLL_NS));
}

/* Prints the board after fill_board(), whose result is `r`. */
static int print_board(struct live *live, int r)
{
	if (r < 0) {
		fprintf(stderr, "flamelet: cannot sum the samples: %s\n", strerror(-r));
		return STATUS_FAILED;
	}
	return top_print(live->options, &live->board, live->screen);
}

static int print_only_table(struct live *live)
{
	sample_until(live, clock_mono_ns() + live->options->interval_ns);
	uint64_t end_ns = clock_real_ns();
	int r = agent_stop(live->agent, LAST_WINDOWS_NS);
	(void)r; /* the table shows what was lost */
	r = fill_board(live, end_ns);
	if (r >= 0 && live->board.tally.nr_rows == 0) {
		fputs("flamelet: no samples: nothing that was selected used the CPU\n", stderr);
		return STATUS_NO_SAMPLES;
	}
	return print_board(live, r);
}

static int print_tables(struct live *live)
{
	int status = STATUS_OK;

	if (live->options->iterations <= 1)
		return print_only_table(live);
	for (uint32_t i = 0; status == STATUS_OK && i < live->options->iterations; i++) {
		while (!signals_stop_requested() && !is_due(live, live->options->interval_ns))
			agent_poll(live->agent, clock_mono_ns() + AGENT_POLL_NS);
		int r = fill_board(live, arrived_until_ns());
		if (r == 0) /* the end was asked for */
			break;
		if (i > 0 && !live->options->json && puts("") >= 0)
			fflush(stdout); /* the table does not go through it */
		status = print_board(live, r);
	}
	return status;
}

int top_live_tables(const struct options *options, struct screen *screen)
{
	_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(MESSAGE_MAX_BYTES);
	_cleanup_(live_done) struct live live = { .options = options,
						  .screen = screen,
						  .feed = FEED_EMPTY };

	int r = signals_setup(LOSS, STATUS_FAILED);
	if (r == 0)
		r = start(&live, &message);
	if (r == 0)
		heartbeat_begin("reader", READER_MAX_NS);
	int status = r < 0 ? tell_failure(r, &message) : print_tables(&live);
	heartbeat_end();
	signals_done(status);
	return status;
}

/* The screen. */

struct input {
	char bytes[KEYS_BYTES];
	size_t len;
};

struct view {
	struct live *live;
	struct input input;
	struct strbuf message; /* the last one that was logged */
	uint64_t message_ns; /* when it came */
	bool is_dirty;
	bool must_quit;
};

/* Shows the profile of the board anew, after the grouping or the kernel's frames have changed. */
static int regroup(struct view *view)
{
	struct board *board = &view->live->board;
	_cleanup_(profile_unrefp) struct profile *profile = NULL;
	_cleanup_(profile_unrefp) struct profile *waits = NULL;

	if (!board->tally.profile)
		return 0;
	profile = profile_ref(board->tally.profile);
	if (board->tally.waits)
		waits = profile_ref(board->tally.waits);
	return board_show(board, profile, waits, view->live->screen->by);
}

static int press(struct view *view, const struct key *key)
{
	struct live *live = view->live;

	enum screen_wish wish = screen_press(live->screen, key, live->board.nr_order);
	view->is_dirty = true;
	if (wish == WISH_QUIT)
		view->must_quit = true;
	else if (wish == WISH_REGROUP)
		return regroup(view);
	else if (wish == WISH_OPEN)
		return board_open(&live->board, live->screen);
	return 0;
}

/* Applies the keys that were pressed. The board's order is that of the last picture. */
static int take_keys(struct view *view)
{
	struct input *input = &view->input;
	size_t nr = terminal_read(input->bytes + input->len, sizeof(input->bytes) - input->len);
	size_t used = 0;
	int r = 0;

	input->len += nr;
	while (r == 0 && used < input->len) {
		struct key key;
		size_t len = keys_next(input->bytes + used, input->len - used, nr == 0, &key);

		if (len == 0)
			break;
		used += len;
		r = press(view, &key);
		if (r == 0)
			r = board_arrange(&view->live->board, view->live->screen);
		board_note_selection(&view->live->board, view->live->screen);
	}
	memmove(input->bytes, input->bytes + used, input->len - used);
	input->len -= used;
	return r;
}

/* Takes the finished seconds when they are due. While the screen is paused, they are dropped. */
static int refresh(struct view *view)
{
	struct live *live = view->live;
	bool is_first = !live->board.tally.profile; /* it comes with the first second */
	uint64_t nr_lost = 0;

	if (!is_due(live, is_first ? TOLERANCE_NS + 1 : live->options->interval_ns))
		return 0;
	if (live->screen->is_paused) {
		profile_unref(feed_take(&live->feed, arrived_until_ns(), &nr_lost));
		profile_unref(feed_take_waits(&live->feed));
		wait_window_done(&live->waits);
		return 0;
	}
	view->is_dirty = true;
	int r = fill_board(live, arrived_until_ns());
	return r < 0 ? r : 0;
}

static void take_message(struct view *view, uint64_t now_ns)
{
	_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(MESSAGE_MAX_BYTES);

	terminal_take_message(&message);
	if (message.len > 0) {
		strbuf_clear(&view->message);
		strbuf_append_str(&view->message, strbuf_str(&message));
		view->message_ns = now_ns;
		view->is_dirty = true;
	} else if (view->message.len > 0 && now_ns > view->message_ns + MESSAGE_NS) {
		strbuf_clear(&view->message);
		view->is_dirty = true;
	}
}

static int draw(struct view *view)
{
	_cleanup_(strbuf_done) struct strbuf picture = strbuf_with_max(SCREEN_MAX_BYTES);
	struct live *live = view->live;
	struct cells_style style;

	terminal_get_style(STDOUT_FILENO, &style);
	int r = board_arrange(&live->board, live->screen);
	if (r < 0)
		return r;
	board_note_selection(&live->board, live->screen);
	draw_screen(&picture, live->screen, &live->board, &style, strbuf_str(&view->message));
	r = strbuf_error(&picture);
	return r < 0 ? r : terminal_write(strbuf_str(&picture), picture.len);
}

static int show(struct view *view)
{
	int r = 0;

	while (r == 0 && !view->must_quit && !signals_stop_requested()) {
		agent_poll(view->live->agent, clock_mono_ns() + KEYS_NS);
		uint64_t now_ns = clock_mono_ns();

		take_message(view, now_ns);
		r = refresh(view);
		if (r == 0)
			r = take_keys(view);
		if (terminal_take_redraw())
			view->is_dirty = true;
		if (r == 0 && view->is_dirty)
			r = draw(view);
		view->is_dirty = false;
	}
	return r;
}

static int show_screen(struct live *live)
{
	struct view view = { .live = live,
			     .message = strbuf_with_max(MESSAGE_MAX_BYTES),
			     .is_dirty = true };

	heartbeat_begin("reader", READER_MAX_NS);
	int r = show(&view);
	heartbeat_end();
	strbuf_done(&view.message);
	return r;
}

int top_live_screen(const struct options *options, struct screen *screen)
{
	_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(MESSAGE_MAX_BYTES);
	_cleanup_(live_done) struct live live = { .options = options,
						  .screen = screen,
						  .feed = FEED_EMPTY };
	bool is_open = false;

	int r = signals_setup(LOSS, STATUS_FAILED);
	if (r == 0)
		r = start(&live, &message);
	if (r == 0) {
		signals_on_stop(terminal_restore);
		r = terminal_open();
		is_open = r == 0;
	}
	if (r == 0)
		r = show_screen(&live);
	signals_on_stop(NULL);
	if (is_open)
		terminal_close();
	int status = r < 0 ? tell_failure(r, &message) : STATUS_OK;
	signals_done(status);
	return status;
}
