/* SPDX-License-Identifier: Apache-2.0 */
/* Lines are read back through a pipe that stands in for stderr while a line is written. */
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "hostile_names.h"

#include <fcntl.h>
#include <string.h>

static int stderr_pipe[2];
static int saved_stderr;
static char captured[16384];

static void capture_begin(void)
{
	assert_int_equal(pipe2(stderr_pipe, O_CLOEXEC | O_NONBLOCK), 0);
	saved_stderr = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
	assert_int_equal(dup2(stderr_pipe[1], STDERR_FILENO), STDERR_FILENO);
}

/* Gives stderr back and returns what was written meanwhile. */
static const char *capture_end(void)
{
	fflush(stderr);
	dup2(saved_stderr, STDERR_FILENO);
	close(saved_stderr);
	close(stderr_pipe[1]);
	ssize_t n = read(stderr_pipe[0], captured, sizeof(captured) - 1);
	close(stderr_pipe[0]);
	captured[n > 0 ? n : 0] = '\0';
	return captured;
}

static unsigned int count_lines(const char *text)
{
	unsigned int nr = 0;

	for (; *text; text++)
		nr += *text == '\n';
	return nr;
}

/* The rate limit counts by the clock's minutes: tests of it start early in one. */
static void wait_for_room_in_the_minute(void)
{
	uint64_t minute_ns = 60 * NSEC_PER_SEC;
	uint64_t now_ns = clock_mono_ns();

	if (minute_ns - now_ns % minute_ns > NSEC_PER_SEC)
		return;
	struct timespec next = clock_timespec(now_ns - now_ns % minute_ns + minute_ns);
	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
}

static void a_line_has_level_message_and_error_text(void **state)
{
	(void)state;
	capture_begin();
	int r = log_warn_errno(-ENOENT, "pid %d: no maps, skipping", 7);
	assert_string_equal(
		capture_end(),
		"level=warn msg=\"pid 7: no maps, skipping: No such file or directory\"\n");
	assert_int_equal(r, -ENOENT);
}

static void without_an_error_the_message_stands_alone(void **state)
{
	(void)state;
	capture_begin();
	int r = log_info("started");
	assert_string_equal(capture_end(), "level=info msg=\"started\"\n");
	assert_int_equal(r, 0);
}

static void lines_above_the_level_are_not_written(void **state)
{
	(void)state;
	capture_begin();
	log_debug("hidden");
	log_set_level(LOG_LEVEL_DEBUG);
	log_debug("shown");
	log_set_level(LOG_LEVEL_ERROR);
	log_warn("hidden");
	int r = log_warn_errno(-EIO, "hidden, but the code is passed on");
	log_set_level(LOG_LEVEL_INFO);
	assert_string_equal(capture_end(), "level=debug msg=\"shown\"\n");
	assert_int_equal(r, -EIO);
}

static void names_from_outside_cannot_break_or_forge_a_line(void **state)
{
	static const struct {
		const char *text;
		const char *line;
	} cases[] = {
		{ "a\nlevel=error", "level=info msg=\"a\\\\x0alevel=error\"\n" },
		{ "a\" level=\"x", "level=info msg=\"a\\\" level=\\\"x\"\n" },
		{ "bell\a\x1b[31m\x7f", "level=info msg=\"bell\\\\x07\\\\x1b[31m\\\\x7f\"\n" },
		{ "ends in \\", "level=info msg=\"ends in \\\\\"\n" },
		{ "\r\n", "level=info msg=\"\\\\x0d\\\\x0a\"\n" },
		{ "größe", "level=info msg=\"größe\"\n" },
	};
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		capture_begin();
		log_info("%s", cases[i].text);
		assert_string_equal(capture_end(), cases[i].line);
	}
}

static void a_line_with_any_name_is_printable(void **state)
{
	(void)state;
	for (size_t i = 0; i < array_len(hostile_names); i++) {
		capture_begin();
		log_info("%s", hostile_names[i].name);
		const char *line = capture_end();
		assert_printable(line, strlen(line), true);
		assert_int_equal(count_lines(line), 1);
	}
}

static void a_long_message_is_cut_between_escapes(void **state)
{
	static char text[10000];
	(void)state;

	for (size_t skip = 0; skip < 5; skip++) {
		memset(text, '\x1b', sizeof(text) - 1);
		memset(text, 'x', skip);
		capture_begin();
		log_info("%s", text);
		const char *line = capture_end();
		assert_int_equal(count_lines(line), 1);
		assert_in_range(strlen(line), 2000, 2100);
		assert_string_equal(line + strlen(line) - 7, "\\\\x1b\"\n");
	}
}

static void a_long_message_is_cut_to_one_line(void **state)
{
	static char text[10000];
	(void)state;

	memset(text, 'x', sizeof(text) - 1);
	capture_begin();
	log_warn_errno(-EIO, "%s", text);
	const char *line = capture_end();
	assert_int_equal(count_lines(line), 1);
	assert_in_range(strlen(line), 1000, 2100);
	assert_non_null(strstr(line, "x\"\n"));
}

static void a_site_writes_ten_lines_a_minute(void **state)
{
	struct log_site site = { 0 };
	(void)state;

	wait_for_room_in_the_minute();
	capture_begin();
	for (int i = 0; i < 25; i++)
		log_write(&site, LOG_LEVEL_WARN, 0, "again");
	assert_int_equal(count_lines(capture_end()), LOG_SITE_BURST);
	assert_int_equal(site.nr_held, 15);
}

static void the_next_minute_tells_how_many_were_held_back(void **state)
{
	struct log_site site = { .minute = 1, .nr_lines = LOG_SITE_BURST, .nr_held = 15 };
	(void)state;

	wait_for_room_in_the_minute();
	site.minute = clock_mono_ns() / (60 * NSEC_PER_SEC); /* sites count from 1: the last one */
	capture_begin();
	log_write(&site, LOG_LEVEL_WARN, 0, "again");
	log_write(&site, LOG_LEVEL_WARN, 0, "again");
	assert_string_equal(capture_end(), "level=warn msg=\"again\" suppressed=15\nlevel=warn "
					   "msg=\"again\"\n");
}

static void one_site_does_not_silence_another(void **state)
{
	(void)state;
	wait_for_room_in_the_minute();
	capture_begin();
	for (int i = 0; i < 20; i++)
		log_warn("first");
	log_warn("second");
	assert_non_null(strstr(capture_end(), "second"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_line_has_level_message_and_error_text),
		cmocka_unit_test(without_an_error_the_message_stands_alone),
		cmocka_unit_test(lines_above_the_level_are_not_written),
		cmocka_unit_test(names_from_outside_cannot_break_or_forge_a_line),
		cmocka_unit_test(a_line_with_any_name_is_printable),
		cmocka_unit_test(a_long_message_is_cut_between_escapes),
		cmocka_unit_test(a_long_message_is_cut_to_one_line),
		cmocka_unit_test(a_site_writes_ten_lines_a_minute),
		cmocka_unit_test(the_next_minute_tells_how_many_were_held_back),
		cmocka_unit_test(one_site_does_not_silence_another),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
