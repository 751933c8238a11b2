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
#include <sys/eventfd.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit.h"

#define COMMAND "standin-worker"
#define WAIT_NS (120 * NSEC_PER_SEC) /* workers have the lowest priority */
#define SHORT_NS (100 * NSEC_PER_MSEC)
#define OWNER 77
#define MEGABYTE ((size_t)1 << 20)

enum kind {
	ANSWER,
	SLEEP, /* as a worker that waits for something */
	SPIN, /* as one whose library loops */
	TELL_LIMIT, /* of its memory, in megabytes */
};

static rlim_t memory_limit; /* the worker's own; inside the sandbox it cannot be asked for */

static int answer(struct worker_call *call, struct strbuf *reply, void *data)
{
	volatile bool is_for_ever = call->request.kind == SLEEP || call->request.kind == SPIN;
	char byte;

	(void)data;
	if (call->request.kind == TELL_LIMIT) {
		strbuf_appendf(reply, "%llu", (unsigned long long)memory_limit / MEGABYTE);
		return 0;
	}
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

	struct rlimit limit;

	if (getrlimit(RLIMIT_DATA, &limit) < 0)
		return 1;
	memory_limit = limit.rlim_cur;
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
		worker_lanes_wait(lanes, -1, until_ns);
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

/* What a worker says of its memory, in megabytes. */
static uint64_t ask_for_limit(struct worker_lanes *lanes, enum worker_lane lane, int fd)
{
	const struct worker_limits limits = { .timeout_ns = WAIT_NS };
	_cleanup_free_ char *text = NULL;
	void *bytes = NULL;
	uint64_t limit = 0;
	int error = 1;
	size_t len;

	send_kind(lanes, lane, TELL_LIMIT, fd, &limits);
	while (worker_lanes_take(lanes, lane, &error, &bytes, &len) == 0)
		worker_lanes_wait(lanes, -1, clock_mono_ns() + SHORT_NS);
	assert_int_equal(error, 0);
	text = strndup(bytes, len);
	free(bytes);
	assert_int_equal(parse_u64(text, &limit), 0);
	return limit;
}

/* Ends the slow worker, and waits until its memory is there again. */
static void end_slow(struct worker_lanes *lanes, const struct memory_pool *pool, uint64_t room)
{
	uint64_t until_ns = clock_mono_ns() + WAIT_NS;

	worker_lanes_stop(lanes, WORKER_LANE_SLOW);
	while (memory_pool_room(pool) != room && clock_mono_ns() < until_ns) {
		worker_lanes_tidy(lanes, clock_mono_ns());
		usleep(1000);
	}
	assert_int_equal(memory_pool_room(pool), room);
}

static void the_slow_workers_memory_is_of_the_pool(void **state)
{
	struct memory_pool pool = { .max_bytes = 200 * MEGABYTE };
	const struct worker_client_opts opts = { .command = COMMAND,
						 .max_data_bytes = 64 * MEGABYTE,
						 .max_fast_data_bytes = 32 * MEGABYTE,
						 .pool = &pool };
	static const struct worker_request request = { .kind = ANSWER, .max_bytes = 100 };
	static const struct worker_limits limits = { .timeout_ns = WAIT_NS };
	_cleanup_(worker_lanes_freep) struct worker_lanes *lanes = NULL;
	int other;
	_cleanup_close_ int fd = open_silence(&other);
	const struct worker_payload payload = { .fds = &fd, .nr_fds = 1 };
	(void)state;

	if (WORKER_PROCESS_IS_SANITIZED)
		skip();
	assert_int_equal(worker_lanes_new(&opts, &lanes), 0);
	assert_int_equal(ask_for_limit(lanes, WORKER_LANE_FAST, fd), 32);
	assert_int_equal(memory_pool_room(&pool), 200 * MEGABYTE);
	assert_int_equal(ask_for_limit(lanes, WORKER_LANE_SLOW, fd), 64);
	assert_int_equal(memory_pool_room(&pool), 136 * MEGABYTE);
	end_slow(lanes, &pool, 200 * MEGABYTE);

	assert_int_equal(memory_pool_take(&pool, 140 * MEGABYTE), 0);
	assert_int_equal(ask_for_limit(lanes, WORKER_LANE_SLOW, fd), 30);
	end_slow(lanes, &pool, 60 * MEGABYTE);
	assert_int_equal(memory_pool_take(&pool, 20 * MEGABYTE), 0);
	assert_int_equal(worker_lanes_send(lanes, WORKER_LANE_SLOW, &request, &payload, &limits),
			 -EAGAIN);
	close(other);
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

/* Somebody's request takes all the time that the fast lane gives. */
static void contend(struct worker_lanes *lanes, uint64_t now_ns)
{
	worker_lanes_charge(lanes, OWNER, WORKER_LANES_FAST_NS, now_ns);
}

static void all_are_equal_while_nobody_is_over_its_share(void **state)
{
	_cleanup_(worker_lanes_freep) struct worker_lanes *lanes = new_lanes();
	(void)state;

	worker_lanes_charge(lanes, OWNER, WORKER_LANES_SHARE_NS, 1000);
	for (uint64_t owner = 0; owner <= OWNER; owner++)
		assert_int_equal(worker_lanes_rank(lanes, owner, 1000), WORKER_RANK_FIRST);
	assert_false(worker_lanes_is_try(lanes, WORKER_RANK_FIRST, 1000));
}

static void an_owner_over_its_share_is_late_for_a_while(void **state)
{
	_cleanup_(worker_lanes_freep) struct worker_lanes *lanes = new_lanes();
	uint64_t now = 1000;
	(void)state;

	worker_lanes_charge(lanes, OWNER, WORKER_LANES_SHARE_NS, now);
	worker_lanes_charge(lanes, OWNER, 1, ++now);
	assert_int_equal(worker_lanes_rank(lanes, OWNER, now), WORKER_RANK_LATE);
	assert_true(worker_lanes_rank(lanes, OWNER + 1, now) < WORKER_RANK_LATE);
	assert_false(worker_lanes_is_try(lanes, WORKER_RANK_LATE, now));
	assert_true(worker_lanes_is_try(lanes, WORKER_RANK_FIRST, now));
	assert_true(worker_lanes_is_try(lanes, WORKER_RANK_SECOND, now));
	now += WORKER_LANES_PENALTY_NS;
	assert_int_equal(worker_lanes_rank(lanes, OWNER, now), WORKER_RANK_FIRST);
	assert_false(worker_lanes_is_try(lanes, WORKER_RANK_FIRST, now));
}

static void what_was_used_long_ago_does_not_count(void **state)
{
	_cleanup_(worker_lanes_freep) struct worker_lanes *lanes = new_lanes();
	(void)state;

	worker_lanes_charge(lanes, OWNER, WORKER_LANES_SHARE_NS, 1000);
	worker_lanes_charge(lanes, OWNER, WORKER_LANES_SHARE_NS, 1000 + WORKER_LANES_PENALTY_NS);
	assert_int_equal(worker_lanes_rank(lanes, OWNER, 1000 + WORKER_LANES_PENALTY_NS),
			 WORKER_RANK_FIRST);
}

static void who_needs_more_than_a_try_is_late(void **state)
{
	_cleanup_(worker_lanes_freep) struct worker_lanes *lanes = new_lanes();
	(void)state;

	contend(lanes, 1000);
	worker_lanes_charge(lanes, 1, WORKER_LANES_TRY_NS - 1, 1000);
	worker_lanes_charge(lanes, 2, WORKER_LANES_TRY_NS, 1000);
	worker_lanes_charge(lanes, 0, WORKER_LANES_TRY_NS, 1000);
	assert_true(worker_lanes_rank(lanes, 1, 1000) < WORKER_RANK_LATE);
	assert_int_equal(worker_lanes_rank(lanes, 2, 1000), WORKER_RANK_LATE);
	assert_int_equal(worker_lanes_rank(lanes, 0, 1000), WORKER_RANK_LATE);
}

/* What `nr` owners that nobody knows cost one that comes when they are there: by the clock of
 * this test, with requests that never end. */
static uint64_t measure_wait(struct worker_lanes *lanes, uint64_t nr, uint64_t victim)
{
	static const struct worker_limits limits = { .timeout_ns = WAIT_NS };
	_cleanup_close_ int other = -EBADF;
	_cleanup_close_ int silence = open_silence(&other);
	uint64_t nr_left = nr;
	uint64_t waited_ns = 0;

	while (nr_left > 0) {
		uint64_t now_ns = 1000 + waited_ns;
		uint64_t owner = 1000 + nr_left;
		enum worker_rank rank = worker_lanes_rank(lanes, owner, now_ns);

		if (worker_lanes_rank(lanes, victim, now_ns) < rank)
			break;
		uint64_t took_ns = worker_lanes_is_try(lanes, rank, now_ns) ? WORKER_LANES_TRY_NS
									    : WORKER_LANES_FAST_NS;
		waited_ns += took_ns;
		worker_lanes_charge(lanes, owner, took_ns, now_ns + took_ns);
		nr_left--;
		send_kind(lanes, WORKER_LANE_FAST, ANSWER, silence, &limits);
		assert_int_equal(take(lanes, WORKER_LANE_FAST), 0);
	}
	return waited_ns;
}

static void many_new_owners_do_not_hold_up_one_that_is_new_as_well(void **state)
{
	_cleanup_(worker_lanes_freep) struct worker_lanes *lanes = new_lanes();
	(void)state;

	assert_true(measure_wait(lanes, 12, OWNER) <= 5 * NSEC_PER_SEC);
}

static void any_number_of_new_owners_does_not_hold_up_one_that_was_there(void **state)
{
	_cleanup_(worker_lanes_freep) struct worker_lanes *lanes = new_lanes();
	(void)state;

	worker_lanes_charge(lanes, OWNER, 1, 1000);
	assert_true(measure_wait(lanes, 200, OWNER) <= 3 * NSEC_PER_SEC);
}

/* To have been good once is worth nothing any more. */
static void who_was_late_has_not_proved_itself(void **state)
{
	_cleanup_(worker_lanes_freep) struct worker_lanes *lanes = new_lanes();
	uint64_t later = 1000 + WORKER_LANES_PENALTY_NS;
	(void)state;

	worker_lanes_charge(lanes, 1, 1, 1000);
	worker_lanes_charge(lanes, 2, WORKER_LANES_FAST_NS, 1000);
	contend(lanes, later);
	assert_true(worker_lanes_rank(lanes, 1, later) < WORKER_RANK_LATE);
	assert_true(worker_lanes_rank(lanes, 2, later) < WORKER_RANK_LATE);
	assert_int_equal(worker_lanes_rank(lanes, 2, later), worker_lanes_rank(lanes, 3, later));
	assert_int_not_equal(worker_lanes_rank(lanes, 1, later),
			     worker_lanes_rank(lanes, 2, later));
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

static void a_wait_is_over_when_its_descriptor_can_be_read(void **state)
{
	_cleanup_(worker_lanes_freep) struct worker_lanes *lanes = new_lanes();
	_cleanup_close_ int wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	uint64_t start_ns = clock_mono_ns();
	(void)state;

	worker_lanes_wait(lanes, wake_fd, start_ns + SHORT_NS);
	assert_true(clock_mono_ns() - start_ns >= SHORT_NS);
	assert_int_equal(eventfd_write(wake_fd, 1), 0);
	worker_lanes_wait(lanes, wake_fd, clock_mono_ns() + 2 * WAIT_NS);
	assert_true(clock_mono_ns() - start_ns < WAIT_NS);
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

/* The child that this process has started last. */
static pid_t find_worker(void)
{
	_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max(1000);
	char path[64];
	uint64_t pid = 0;

	snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int)getpid());
	assert_int_equal(file_read_at(AT_FDCWD, path, &text), 0);
	const char *end = strbuf_str(&text) + text.len;
	for (const char *cursor = strbuf_str(&text); cursor < end; cursor++)
		assert_int_equal(parse_digits(&cursor, end, 10, &pid), 0);
	return (pid_t)pid;
}

/* Has a process held back at its very end: what kills it does not make it go. Returns whose end
 * lets it go, or 0 where ptrace(2) is refused. */
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

/* One more than could be with their memory. */
#define NR_STUCK (WORKER_CLIENT_MAX_STUCK_WITH_MEMORY + 1)

static void many_that_cannot_be_killed_are_replaced(void **state)
{
	static const struct worker_limits limits = { .timeout_ns = SHORT_NS };
	static const struct worker_limits long_limits = { .timeout_ns = WAIT_NS };
	_cleanup_(worker_lanes_freep) struct worker_lanes *lanes = new_lanes();
	_cleanup_close_ int other = -EBADF;
	_cleanup_close_ int silence = open_silence(&other);
	pid_t tracers[NR_STUCK];
	(void)state;

	if (syscall(SYS_process_mrelease, -1, 0) < 0 && errno == ENOSYS)
		skip();
	for (size_t i = 0; i < NR_STUCK; i++) {
		send_kind(lanes, WORKER_LANE_SLOW, ANSWER, silence, &long_limits);
		assert_int_equal(take(lanes, WORKER_LANE_SLOW), 0);
		tracers[i] = hold_back(find_worker());
		if (tracers[i] == 0)
			skip();
		send_kind(lanes, WORKER_LANE_SLOW, SLEEP, silence, &limits);
		assert_int_equal(take(lanes, WORKER_LANE_SLOW), -ETIMEDOUT);
	}
	send_kind(lanes, WORKER_LANE_SLOW, ANSWER, silence, &long_limits);
	assert_int_equal(take(lanes, WORKER_LANE_SLOW), 0);
	assert_int_equal(worker_lanes_get_stats(lanes).nr_stuck, NR_STUCK);
	for (size_t i = 0; i < NR_STUCK; i++) {
		kill(tracers[i], SIGKILL);
		waitpid(tracers[i], NULL, 0);
	}
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
		cmocka_unit_test(the_slow_workers_memory_is_of_the_pool),
		cmocka_unit_test(nobodys_files_get_no_penalty),
		cmocka_unit_test(the_oldest_penalty_makes_room_for_a_new_one),
		cmocka_unit_test(all_are_equal_while_nobody_is_over_its_share),
		cmocka_unit_test(an_owner_over_its_share_is_late_for_a_while),
		cmocka_unit_test(what_was_used_long_ago_does_not_count),
		cmocka_unit_test(who_needs_more_than_a_try_is_late),
		cmocka_unit_test(many_new_owners_do_not_hold_up_one_that_is_new_as_well),
		cmocka_unit_test(any_number_of_new_owners_does_not_hold_up_one_that_was_there),
		cmocka_unit_test(who_was_late_has_not_proved_itself),
		cmocka_unit_test(the_fast_lane_answers_while_the_slow_one_hangs),
		cmocka_unit_test(the_fast_lane_is_not_held_longer_than_its_time),
		cmocka_unit_test(too_much_cpu_time_is_told_as_too_much_time),
		cmocka_unit_test(cpu_time_counts_anew_for_each_request),
		cmocka_unit_test(a_wait_is_over_when_its_descriptor_can_be_read),
		cmocka_unit_test(a_worker_without_work_is_ended),
		cmocka_unit_test(a_worker_that_cannot_be_killed_is_replaced),
		cmocka_unit_test(many_that_cannot_be_killed_are_replaced),
	};

	if (argc > 1 && strcmp(argv[1], COMMAND) == 0)
		return be_worker();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
