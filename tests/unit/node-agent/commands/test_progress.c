/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/text.h"
#include "commands/describe.h"
#include "commands/progress.h"
#include "unit.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct progress wide = {
	.mode = PROGRESS_LIVE,
	.is_utf8 = true,
	.columns = 120,
	.target = "whole machine",
	.duration_ns = 10 * NSEC_PER_SEC,
	.nr_cpus = 128,
};

static const struct progress_state seven_seconds = {
	.elapsed_ns = 7 * NSEC_PER_SEC + 1,
	.nr_samples = 17812,
};

/* Returns the line that the progress draws, without the sequence that erases the old one. */
static void draw(struct progress progress, const struct progress_state *state,
		 struct strbuf *ret_line)
{
	char text[4096];
	int fds[2];

	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	progress.fd = fds[1];
	progress_update(&progress, state);
	close(fds[1]);
	ssize_t len = read(fds[0], text, sizeof(text));
	close(fds[0]);
	assert_true(len > 4);
	assert_memory_equal(text, "\r\033[K", 4);
	strbuf_append(ret_line, text + 4, (size_t)len - 4);
}

static void expect_line(const struct progress *progress, const struct progress_state *state,
			const char *expected)
{
	_cleanup_(strbuf_done) struct strbuf line = strbuf_with_max(1000);

	draw(*progress, state, &line);
	assert_string_equal(strbuf_str(&line), expected);
}

static void a_wide_terminal_shows_everything(void **state)
{
	(void)state;
	expect_line(&wide, &seven_seconds,
		    "profiling whole machine  ▕███████   ▏ 7/10 s  17,812 samples  128 CPUs  lost 0"
		    "  (Ctrl-C = stop and save)");
}

static void the_line_never_wraps(void **state)
{
	struct progress narrow = wide;
	(void)state;

	for (narrow.columns = 70; narrow.columns < 130; narrow.columns++) {
		_cleanup_(strbuf_done) struct strbuf line = strbuf_with_max(1000);

		draw(narrow, &seven_seconds, &line);
		assert_in_range(text_columns(strbuf_str(&line)), 50, narrow.columns - 1);
	}
	narrow.columns = 80;
	narrow.target = "pod a-namespace/with-a-long-pod-name-7d9f8b6c5-x2x9k";
	expect_line(
		&narrow, &seven_seconds,
		"profiling pod a-names…f8b6c5-x2x9k  ▕███████   ▏ 7/10 s  17,812 samples  lost 0");
}

static void without_an_end_there_is_no_bar(void **state)
{
	struct progress endless = wide;
	(void)state;

	endless.duration_ns = 0;
	expect_line(&endless, &seven_seconds,
		    "profiling whole machine  7 s  17,812 samples  128 CPUs  lost 0"
		    "  (Ctrl-C = stop and save)");
}

static void a_terminal_without_utf8_gets_plain_characters(void **state)
{
	struct progress ascii = wide;
	const struct progress_state late = { .elapsed_ns = UINT64_MAX, .is_saving = true };
	(void)state;

	ascii.is_utf8 = false;
	expect_line(&ascii, &seven_seconds,
		    "profiling whole machine  [#######   ] 7/10 s  17,812 samples  128 CPUs  lost 0"
		    "  (Ctrl-C = stop and save)");
	expect_line(&ascii, &late,
		    "profiling whole machine  [##########] saving  0 samples  128 CPUs  lost 0"
		    "  (Ctrl-C = stop and save)");
}

static void losses_are_colored_unless_no_color_is_set(void **state)
{
	struct progress colored = wide;
	struct progress_state lossy = seven_seconds;
	_cleanup_(strbuf_done) struct strbuf line = strbuf_with_max(1000);
	(void)state;

	lossy.nr_lost = 3;
	expect_line(&colored, &lossy,
		    "profiling whole machine  ▕███████   ▏ 7/10 s  17,812 samples  128 CPUs  lost 3"
		    "  (Ctrl-C = stop and save)");
	colored.has_color = true;
	draw(colored, &lossy, &line);
	assert_non_null(strstr(strbuf_str(&line), "\033[33mlost 3\033[0m"));
}

static void environment_and_descriptor_choose_the_mode(void **state)
{
	struct progress progress = { 0 };
	(void)state;

	setenv("NO_COLOR", "1", 1);
	setenv("LC_ALL", "C.UTF-8", 1);
	progress_init(&progress, true);
	assert_int_equal(progress.mode, PROGRESS_QUIET);
	assert_false(progress.has_color);
	assert_true(progress.is_utf8);

	setenv("NO_COLOR", "", 1);
	setenv("LC_ALL", "POSIX", 1);
	setenv("TERM", "dumb", 1);
	progress_init(&progress, false);
	assert_int_equal(progress.mode, PROGRESS_ONE_LINE);
	assert_true(progress.has_color);
	assert_false(progress.is_utf8);
}

/* Returns everything that a run in that mode writes. */
static void run(enum progress_mode mode, struct strbuf *ret_text)
{
	struct progress progress = wide;
	char text[4096];
	int fds[2];

	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	progress.fd = fds[1];
	progress.mode = mode;
	progress_start(&progress);
	progress_update(&progress, &seven_seconds);
	progress_update(&progress, &seven_seconds);
	progress_done(&progress);
	close(fds[1]);
	ssize_t len = read(fds[0], text, sizeof(text));
	assert_true(len >= 0);
	strbuf_append(ret_text, text, (size_t)len);
	close(fds[0]);
}

static void elsewhere_than_on_a_terminal_one_line_is_enough(void **state)
{
	_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max(10000);
	(void)state;

	run(PROGRESS_ONE_LINE, &text);
	assert_string_equal(strbuf_str(&text), "profiling whole machine on 128 CPUs for 10 s "
					       "(Ctrl-C = stop and save)\n");
	strbuf_clear(&text);
	run(PROGRESS_QUIET, &text);
	assert_string_equal(strbuf_str(&text), "");
	run(PROGRESS_LIVE, &text);
	assert_null(strchr(strbuf_str(&text), '\n'));
	assert_int_equal(memcmp(text.data + text.len - 4, "\r\033[K", 4), 0);
}

static void a_closed_stderr_is_no_failure(void **state)
{
	struct progress progress = wide;
	(void)state;

	progress.fd = -EBADF;
	progress_update(&progress, &seven_seconds);
	progress_done(&progress);
}

static void the_target_is_described_in_words(void **state)
{
	uint32_t pids[] = { 1, 2, 3, 4, 5 };
	char *comms[] = { (char[]){ "a\nb" }, (char[]){ "c" } };
	char *pods[] = { (char[]){ "shop/cart" } };
	char *namespaces[] = { (char[]){ "kube-system" } };
	const struct options everything = { 0 };
	const struct options most = { .excluded_namespaces = { namespaces, 1, 1 } };
	const struct options some = {
		.pods = { pods, 1, 1 },
		.comms = { comms, 2, 2 },
		.pids = { pids, 5, 5 },
	};
	_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(1000);
	(void)state;

	describe_target(&everything, &out);
	assert_string_equal(strbuf_str(&out), "the whole machine");
	strbuf_clear(&out);
	describe_target(&most, &out);
	assert_string_equal(strbuf_str(&out), "the whole machine, without namespace kube-system");
	strbuf_clear(&out);
	describe_target(&some, &out);
	assert_string_equal(strbuf_str(&out),
			    "pod shop/cart, processes named a\\x0ab c, pid 1 2 3 4 …");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_wide_terminal_shows_everything),
		cmocka_unit_test(the_line_never_wraps),
		cmocka_unit_test(without_an_end_there_is_no_bar),
		cmocka_unit_test(a_terminal_without_utf8_gets_plain_characters),
		cmocka_unit_test(losses_are_colored_unless_no_color_is_set),
		cmocka_unit_test(environment_and_descriptor_choose_the_mode),
		cmocka_unit_test(elsewhere_than_on_a_terminal_one_line_is_enough),
		cmocka_unit_test(a_closed_stderr_is_no_failure),
		cmocka_unit_test(the_target_is_described_in_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
