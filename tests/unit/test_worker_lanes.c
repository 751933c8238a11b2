/* SPDX-License-Identifier: Apache-2.0 */
/* The worker is this program again: how long it takes, and how, is the request's kind. */
#include "worker/worker_lanes.h"

#include "base/clock.h"
#include "base/fileio.h"
#include "base/parse.h"
#include "worker/worker_process.h"
#include "worker/worker_server.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit.h"

#define COMMAND "standin-worker"
#define WAIT_NS (30 * NSEC_PER_SEC)
#define SHORT_NS (100 * NSEC_PER_MSEC)
#define OWNER 77

enum kind {
	ANSWER,
	SLEEP, /* as a worker that waits for something */
	SPIN, /* as one whose library loops */
};

static int answer(struct worker_call *call, struct strbuf *reply, void *data)
{
	volatile bool is_for_ever = call->request.kind != ANSWER;
	char byte;

	(void)data;
	while (is_for_ever)
		if (call->request.kind == SLEEP && read(call->fds[0], &byte, 1) == 0)
			break;
	strbuf_append_str(reply, "answer");
	return 0;
}

static int be_worker(void)
{
	const struct worker_server_opts opts = {
		.name = "the stand-in",
		.sandbox = WORKER_SANDBOX_FILES,
		.answer = answer,
	};

	return worker_server_run(&opts);
}

static struct worker_lanes *new_lanes(void)
{
	static const struct worker_client_opts opts = { .command = COMMAND };
	struct worker_lanes *lanes = NULL;

	assert_int_equal(worker_lanes_new(&opts, &lanes), 0);
	return lanes;
}

/* The end of a pipe that nothing comes from. */
static int open_silence(int *ret_other)
{
	int ends[2];

	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	*ret_other = ends[1];
	return ends[0];
}

static void send_kind(struct worker_lanes *lanes, enum worker_lane lane, enum kind kind, int fd,
		      const struct worker_limits *limits)
{
	const struct worker_request request = { .kind = kind, .max_bytes = 100 };
	const struct worker_payload payload = { .fds = &fd, .nr_fds = 1 };
	uint64_t until_ns = clock_mono_ns() + WAIT_NS;
	int r;

	do
		r = worker_lanes_send(lanes, lane, &request, &payload, limits);
	while (r == -EAGAIN && clock_mono_ns() < until_ns && usleep(1000) == 0);
	assert_int_equal(r, 0);
}

static int take(struct worker_lanes *lanes, enum worker_lane lane)
{
	uint64_t until_ns = clock_mono_ns() + WAIT_NS;
	_cleanup_free_ void *bytes = NULL;
	int error = 1;
	size_t len;

	while (worker_lanes_take(lanes, lane, &error, &bytes, &len) == 0) {
		assert_true(clock_mono_ns() < until_ns);
		worker_lanes_wait(lanes, until_ns);
	}
	assert_int_equal(len, error == 0 ? strlen("answer") : 0);
	return error;
}

static void a_penalty_ends_by_itself(void **state)
{
	_cleanup_(worker_lanes_freep) struct worker_lanes *lanes = new_lanes();
	(void)state;

	assert_int_equal(worker_lanes_choose(lanes, OWNER, 1000), WORKER_LANE_FAST);
	worker_lanes_punish(lanes, OWNER, 1000);
	assert_int_equal(worker_lanes_choose(lanes, OWNER, 1000), WORKER_LANE_SLOW);
	assert_int_equal(worker_lanes_choose(lanes, OWNER + 1, 1000), WORKER_LANE_FAST);
	assert_int_equal(worker_lanes_choose(lanes, OWNER, 999 + WORKER_LANES_PENALTY_NS),
			 WORKER_LANE_SLOW);
	assert_int_equal(worker_lanes_choose(lanes, OWNER, 1000 + WORKER_LANES_PENALTY_NS),
			 WORKER_LANE_FAST);
}

static void nobodys_files_get_no_penalty(void **state)
{
	_cleanup_(worker_lanes_freep) struct worker_lanes *lanes = new_lanes();
	(void)state;

	worker_lanes_punish(lanes, 0, 1000);
	assert_int_equal(worker_lanes_choose(lanes, 0, 1000), WORKER_LANE_FAST);
}

static void the_oldest_penalty_makes_room_for_a_new_one(void **state)
{
	_cleanup_(worker_lanes_freep) struct worker_lanes *lanes = new_lanes();
	(void)state;

	for (uint64_t owner = 1; owner <= WORKER_LANES_MAX_OWNERS + 1; owner++)
		worker_lanes_punish(lanes, owner, 1000 + owner);
	assert_int_equal(worker_lanes_choose(lanes, 1, 2000), WORKER_LANE_FAST);
	for (uint64_t owner = 2; owner <= WORKER_LANES_MAX_OWNERS + 1; owner++)
		assert_int_equal(worker_lanes_choose(lanes, owner, 2000), WORKER_LANE_SLOW);
	worker_lanes_punish(lanes, 5, 3000);
	assert_int_equal(worker_lanes_choose(lanes, 2, 3000), WORKER_LANE_SLOW);
}

static void the_fast_lane_answers_while_the_slow_one_hangs(void **state)
{
	static const struct worker_limits limits = { .timeout_ns = WAIT_NS };
	_cleanup_(worker_lanes_freep) struct worker_lanes *lanes = new_lanes();
	_cleanup_close_ int other = -EBADF;
	_cleanup_close_ int silence = open_silence(&other);
	(void)state;

	send_kind(lanes, WORKER_LANE_SLOW, SLEEP, silence, &limits);
	for (int i = 0; i < 3; i++) {
		send_kind(lanes, WORKER_LANE_FAST, ANSWER, silence, &limits);
		assert_int_equal(take(lanes, WORKER_LANE_FAST), 0);
	}
	assert_true(worker_lanes_is_busy(lanes, WORKER_LANE_SLOW));
	worker_lanes_stop(lanes, WORKER_LANE_SLOW);
	assert_false(worker_lanes_is_busy(lanes, WORKER_LANE_SLOW));
	send_kind(lanes, WORKER_LANE_SLOW, ANSWER, silence, &limits);
	assert_int_equal(take(lanes, WORKER_LANE_SLOW), 0);
	assert_int_equal(worker_lanes_get_stats(lanes).nr_requests, 5);
}

static void the_fast_lane_is_not_held_longer_than_its_time(void **state)
{
	static const struct worker_limits limits = { .timeout_ns = 10 * WAIT_NS };
	_cleanup_(worker_lanes_freep) struct worker_lanes *lanes = new_lanes();
	_cleanup_close_ int other = -EBADF;
	_cleanup_close_ int silence = open_silence(&other);
	(void)state;

	send_kind(lanes, WORKER_LANE_FAST, SLEEP, silence, &limits);
	assert_int_equal(take(lanes, WORKER_LANE_FAST), -ETIMEDOUT);
	assert_int_equal(worker_lanes_get_stats(lanes).nr_timeouts, 1);
}

static void too_much_cpu_time_is_told_as_too_much_time(void **state)
{
	static const struct worker_limits limits = { .timeout_ns = 10 * WAIT_NS, .cpu_s = 1 };
	_cleanup_(worker_lanes_freep) struct worker_lanes *lanes = new_lanes();
	_cleanup_close_ int other = -EBADF;
	_cleanup_close_ int silence = open_silence(&other);
	(void)state;

	send_kind(lanes, WORKER_LANE_SLOW, SPIN, silence, &limits);
	assert_int_equal(take(lanes, WORKER_LANE_SLOW), -ETIMEDOUT);
	struct worker_stats stats = worker_lanes_get_stats(lanes);
	assert_int_equal(stats.nr_timeouts, 1);
	assert_int_equal(stats.nr_deaths, 0);
	assert_true(stats.cpu_ns >= NSEC_PER_SEC);
}

/* The limit is that of a request: many of them may take more together. */
static void cpu_time_counts_anew_for_each_request(void **state)
{
	static const struct worker_limits limits = { .timeout_ns = SHORT_NS * 100, .cpu_s = 1 };
	_cleanup_(worker_lanes_freep) struct worker_lanes *lanes = new_lanes();
	_cleanup_close_ int other = -EBADF;
	_cleanup_close_ int silence = open_silence(&other);
	(void)state;

	for (int i = 0; i < 100; i++) {
		send_kind(lanes, WORKER_LANE_FAST, ANSWER, silence, &limits);
		assert_int_equal(take(lanes, WORKER_LANE_FAST), 0);
	}
	assert_int_equal(worker_lanes_get_stats(lanes).nr_started, 1);
}

static void a_worker_without_work_is_ended(void **state)
{
	static const struct worker_limits limits = { .timeout_ns = WAIT_NS };
	_cleanup_(worker_lanes_freep) struct worker_lanes *lanes = new_lanes();
	_cleanup_close_ int other = -EBADF;
	_cleanup_close_ int silence = open_silence(&other);
	(void)state;

	for (unsigned int i = 1; i <= 2; i++) {
		send_kind(lanes, WORKER_LANE_FAST, ANSWER, silence, &limits);
		worker_lanes_tidy(lanes, clock_mono_ns() + 2 * WORKER_CLIENT_IDLE_NS);
		assert_int_equal(take(lanes, WORKER_LANE_FAST), 0);
		worker_lanes_tidy(lanes, clock_mono_ns());
		assert_true(worker_lanes_get_stats(lanes).resident_bytes > 0);
		worker_lanes_tidy(lanes, clock_mono_ns() + 2 * WORKER_CLIENT_IDLE_NS);
		assert_int_equal(worker_lanes_get_stats(lanes).nr_started, i);
	}
}

/* The one child of this process. */
static pid_t find_worker(void)
{
	_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max(100);
	char path[64];
	uint64_t pid = 0;

	snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int)getpid());
	assert_int_equal(file_read_at(AT_FDCWD, path, &text), 0);
	const char *cursor = strbuf_str(&text);
	assert_int_equal(parse_digits(&cursor, cursor + text.len, 10, &pid), 0);
	return (pid_t)pid;
}

/* Has a process held back at its very end: what kills it does not make it go. Returns whose end lets it go, or 0 where
 * ptrace(2) is refused. */
static pid_t hold_back(pid_t pid)
{
	int ready[2];
	char byte = 'n';

	assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
	pid_t tracer = fork();
	assert_true(tracer >= 0);
	if (tracer == 0) {
		bool is_held = ptrace(PTRACE_SEIZE, pid, NULL, PTRACE_O_TRACEEXIT) == 0;

		if (write(ready[1], is_held ? "y" : "n", 1) != 1 || !is_held)
			_exit(0);
		for (;;)
			pause();
	}
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	close(ready[1]);
	if (byte == 'y')
		return tracer;
	waitpid(tracer, NULL, 0);
	return 0;
}

static void a_worker_that_cannot_be_killed_is_replaced(void **state)
{
	static const struct worker_limits limits = { .timeout_ns = SHORT_NS };
	static const struct worker_limits long_limits = { .timeout_ns = WAIT_NS };
	_cleanup_(worker_lanes_freep) struct worker_lanes *lanes = new_lanes();
	_cleanup_close_ int other = -EBADF;
	_cleanup_close_ int silence = open_silence(&other);
	uint64_t until_ns = clock_mono_ns() + WAIT_NS;
	(void)state;

	send_kind(lanes, WORKER_LANE_SLOW, ANSWER, silence, &long_limits);
	assert_int_equal(take(lanes, WORKER_LANE_SLOW), 0);
	pid_t tracer = hold_back(find_worker());
	if (tracer == 0)
		skip();
	send_kind(lanes, WORKER_LANE_SLOW, SLEEP, silence, &limits);
	assert_int_equal(take(lanes, WORKER_LANE_SLOW), -ETIMEDOUT);
	send_kind(lanes, WORKER_LANE_SLOW, ANSWER, silence, &long_limits);
	assert_int_equal(take(lanes, WORKER_LANE_SLOW), 0);
	assert_int_equal(worker_lanes_get_stats(lanes).nr_started, 2);
	assert_int_equal(worker_lanes_get_stats(lanes).nr_stuck, 1);

	kill(tracer, SIGKILL);
	waitpid(tracer, NULL, 0);
	while (worker_lanes_get_stats(lanes).nr_stuck > 0 && clock_mono_ns() < until_ns) {
		worker_lanes_tidy(lanes, clock_mono_ns());
		usleep(1000);
	}
	assert_int_equal(worker_lanes_get_stats(lanes).nr_stuck, 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_penalty_ends_by_itself),
		cmocka_unit_test(nobodys_files_get_no_penalty),
		cmocka_unit_test(the_oldest_penalty_makes_room_for_a_new_one),
		cmocka_unit_test(the_fast_lane_answers_while_the_slow_one_hangs),
		cmocka_unit_test(the_fast_lane_is_not_held_longer_than_its_time),
		cmocka_unit_test(too_much_cpu_time_is_told_as_too_much_time),
		cmocka_unit_test(cpu_time_counts_anew_for_each_request),
		cmocka_unit_test(a_worker_without_work_is_ended),
		cmocka_unit_test(a_worker_that_cannot_be_killed_is_replaced),
	};

	if (argc > 1 && strcmp(argv[1], COMMAND) == 0)
		return be_worker();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
