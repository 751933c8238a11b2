/* SPDX-License-Identifier: Apache-2.0 */
/* Asks the worker of the program under test; and, for what a worker should not do, this program
 * itself, which is a hostile one when it is started as a worker. What such a one does is in the
 * first descriptor it gets. */
#include "worker/worker_client.h"

#include "base/clock.h"
#include "base/fileio.h"
#include "base/parse.h"
#include "symbol/worker/symbol_worker.h"
#include "worker/worker_channel.h"
#include "worker/worker_process.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

#include "unit.h"

#define WAIT_NS (20 * NSEC_PER_SEC)
#define SHORT_NS (50 * NSEC_PER_MSEC)
#define BIG_REPLY_BYTES ((uint32_t)8 << 20)
#define MAX_BYTES ((size_t)64 << 20)

static const struct worker_limits long_limits = { .timeout_ns = WAIT_NS };

enum behaviour {
	BEHAVE, /* answers with as many zeros as are asked for */
	DIE,
	NEVER_ANSWER,
	STOP_HALFWAY,
	DIE_HALFWAY,
	ANNOUNCE_TOO_MUCH,
	ANSWER_TWICE,
	DRIP, /* a byte now and then */
	BE_LAST,
	DIE_AFTERWARDS,
};

static void send_bytes(const void *bytes, size_t len)
{
	for (size_t done = 0; done < len;) {
		ssize_t n = send(WORKER_PROCESS_SOCKET_FD, (const char *)bytes + done, len - done,
				 MSG_NOSIGNAL);

		if (n < 0)
			_exit(1);
		done += (size_t)n;
	}
}

static void send_zeros(size_t len)
{
	static const char zeros[4096];

	for (size_t n; len > 0; len -= n) {
		n = len < sizeof(zeros) ? len : sizeof(zeros);
		send_bytes(zeros, n);
	}
}

static void drip(size_t len)
{
	while (len-- > 0) {
		send_zeros(1);
		usleep(1000);
	}
}

static void misbehave(enum behaviour behaviour, uint32_t max_bytes)
{
	struct worker_reply reply = { .nr_bytes = max_bytes };

	if (behaviour == DIE)
		_exit(1);
	if (behaviour == NEVER_ANSWER)
		return;
	if (behaviour == ANNOUNCE_TOO_MUCH)
		reply.nr_bytes = UINT32_MAX;
	reply.is_last = behaviour == BE_LAST;
	send_bytes(&reply, sizeof(reply));
	if (behaviour == DRIP)
		drip(max_bytes);
	else
		send_zeros(behaviour == STOP_HALFWAY || behaviour == DIE_HALFWAY ? max_bytes / 2
										 : max_bytes);
	if (behaviour == ANSWER_TWICE)
		send_bytes(&reply, sizeof(reply));
	if (behaviour == DIE_HALFWAY || behaviour == DIE_AFTERWARDS)
		_exit(1);
}

static int be_hostile_worker(void)
{
	static struct worker_call call;
	enum behaviour behaviour;

	while (worker_channel_receive_request(WORKER_PROCESS_SOCKET_FD, MAX_BYTES, &call) == 1) {
		if (pread(call.fds[0], &behaviour, sizeof(behaviour), 0) != sizeof(behaviour))
			return 1;
		worker_call_done(&call);
		misbehave(behaviour, (uint32_t)call.request.max_bytes);
	}
	return 0;
}

static int temporary_file(const void *bytes, size_t len)
{
	int fd = memfd_create("test_worker_client", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(fd_write_all(fd, bytes, len), 0);
	return fd;
}

static struct worker_client *new_client(const char *program)
{
	const struct worker_client_opts opts = {
		.program = program,
		.command = SYMBOL_WORKER_COMMAND,
		.max_data_bytes = MAX_BYTES,
	};
	struct worker_client *client = NULL;

	assert_int_equal(worker_client_new(&opts, &client), 0);
	return client;
}

/* Sends, later if it is too early. */
static void send_request(struct worker_client *client, const struct worker_request *request, int fd,
			 uint64_t timeout_ns)
{
	const struct worker_limits limits = { .timeout_ns = timeout_ns };
	uint64_t deadline_ns = clock_mono_ns() + WAIT_NS;
	int r;

	while ((r = worker_client_send(client, request, NULL, &fd, 1, &limits)) == -EAGAIN &&
	       clock_mono_ns() < deadline_ns)
		usleep(1000);
	assert_int_equal(r, 0);
	assert_true(worker_client_is_busy(client));
}

/* Waits for the answer; returns its error, its bytes are the caller's. */
static int wait_for_reply(struct worker_client *client, void **ret_bytes, size_t *ret_len)
{
	int error = 1;

	assert_int_equal(
		worker_client_wait(client, clock_mono_ns() + WAIT_NS, &error, ret_bytes, ret_len),
		1);
	assert_false(worker_client_is_busy(client));
	return error;
}

static int ask_for_crc(struct worker_client *client, int fd, uint32_t *ret_crc)
{
	const struct worker_request request = { .kind = SYMBOL_REQUEST_CRC,
						.key = 1,
						.max_bytes = 100 };
	_cleanup_free_ void *bytes = NULL;
	size_t len;

	send_request(client, &request, fd, WAIT_NS);
	int error = wait_for_reply(client, &bytes, &len);
	if (error == 0) {
		assert_int_equal(len, sizeof(*ret_crc));
		memcpy(ret_crc, bytes, len);
	}
	return error;
}

static int tell_hostile(struct worker_client *client, enum behaviour behaviour, uint32_t nr_bytes,
			uint64_t timeout_ns)
{
	const struct worker_request request = { .key = 1, .max_bytes = nr_bytes };
	_cleanup_close_ int fd = temporary_file(&behaviour, sizeof(behaviour));
	_cleanup_free_ void *bytes = NULL;
	size_t len = 1;

	send_request(client, &request, fd, timeout_ns);
	int error = wait_for_reply(client, &bytes, &len);
	assert_int_equal(len, error == 0 ? nr_bytes : 0);
	assert_int_equal(bytes != NULL, len > 0);
	return error;
}

/* How many descriptors a process has; without a pid, this one. */
static size_t count_fds(pid_t pid)
{
	char path[32] = "/proc/self/fd";
	size_t nr = 0;

	if (pid > 0)
		snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	_cleanup_closedir_ DIR *dir = opendir(path);
	assert_non_null(dir);
	for (const struct dirent *entry; (entry = readdir(dir)) != NULL;)
		nr += entry->d_name[0] != '.';
	return nr - (pid > 0 ? 0 : 1);
}

/* The one child of ours. */
static pid_t find_worker(void)
{
	_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max(100);
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int)getpid());
	assert_int_equal(file_read_at(AT_FDCWD, path, &text), 0);
	const char *cursor = strbuf_str(&text);
	uint64_t pid = 0;
	assert_int_equal(parse_digits(&cursor, cursor + text.len, 10, &pid), 0);
	return (pid_t)pid;
}

static bool status_has(pid_t pid, const char *line)
{
	_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max(1 << 16);
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	assert_int_equal(file_read_at(AT_FDCWD, path, &text), 0);
	return strstr(strbuf_str(&text), line) != NULL;
}

static void a_checksum_is_that_of_the_whole_file(void **state)
{
	static unsigned char bytes[200001];
	static const size_t lengths[] = { 0, 1, 65535, 65536, 65537, sizeof(bytes) };
	_cleanup_(worker_client_freep) struct worker_client *client = new_client(FLAMELET_PROGRAM);
	(void)state;

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (unsigned char)(i * 31 >> 3);
	for (size_t i = 0; i < array_len(lengths); i++) {
		_cleanup_close_ int fd = temporary_file(bytes, lengths[i]);
		uint32_t crc = 1;

		assert_int_equal(ask_for_crc(client, fd, &crc), 0);
		assert_int_equal(crc, crc32(crc32(0, NULL, 0), bytes, (uInt)lengths[i]));
	}
	assert_int_equal(worker_client_get_stats(client).nr_started, 1);
}

static void requests_it_does_not_know_are_refused_and_the_worker_lives_on(void **state)
{
	static const struct worker_request requests[] = {
		{ .kind = SYMBOL_REQUEST_CRC + 1, .key = 1, .max_bytes = 100 },
		{ .kind = UINT32_MAX, .key = 1, .max_bytes = 100 },
		{ .kind = SYMBOL_REQUEST_CRC, .key = 0, .max_bytes = 100 },
	};
	static const struct worker_request too_short = { .kind = SYMBOL_REQUEST_CRC,
							 .key = 1,
							 .max_bytes = 3 };
	_cleanup_(worker_client_freep) struct worker_client *client = new_client(FLAMELET_PROGRAM);
	_cleanup_close_ int fd = temporary_file("a", 1);
	_cleanup_free_ void *bytes = NULL;
	size_t len;
	(void)state;

	for (size_t i = 0; i < array_len(requests); i++) {
		send_request(client, &requests[i], fd, WAIT_NS);
		assert_int_equal(wait_for_reply(client, &bytes, &len), -EINVAL);
	}
	send_request(client, &too_short, fd, WAIT_NS);
	assert_int_equal(wait_for_reply(client, &bytes, &len), -ENOSPC);
	assert_int_equal(worker_client_send(client, requests, NULL, NULL, 0, &long_limits), 0);
	assert_int_equal(wait_for_reply(client, &bytes, &len), -EINVAL);
	assert_int_equal(worker_client_get_stats(client).nr_started, 1);
	assert_int_equal(worker_client_get_stats(client).nr_requests, 5);
}

static void only_one_request_is_on_its_way(void **state)
{
	const struct worker_request request = { .kind = SYMBOL_REQUEST_CRC,
						.key = 1,
						.max_bytes = 100 };
	_cleanup_(worker_client_freep) struct worker_client *client = new_client(FLAMELET_PROGRAM);
	_cleanup_close_ int fd = temporary_file("a", 1);
	_cleanup_free_ void *bytes = NULL;
	size_t len;
	int error = 1;
	(void)state;

	assert_int_equal(worker_client_wait(client, 0, &error, &bytes, &len), 0);
	send_request(client, &request, fd, WAIT_NS);
	assert_int_equal(worker_client_send(client, &request, NULL, &fd, 1, &long_limits), -EBUSY);
	assert_int_equal(wait_for_reply(client, &bytes, &len), 0);
	assert_int_equal(worker_client_wait(client, 0, &error, &bytes, &len), 0);
}

static void no_descriptors_are_left_at_either_end(void **state)
{
	size_t nr_open = count_fds(0);
	struct worker_client *client = new_client(FLAMELET_PROGRAM);
	int fd = temporary_file("a", 1);
	uint32_t crc;
	(void)state;

	for (int i = 0; i < 100; i++)
		assert_int_equal(ask_for_crc(client, fd, &crc), 0);
	assert_int_equal(count_fds(0), nr_open + 2); /* the socket and the file */
	if (geteuid() == 0)
		assert_int_equal(count_fds(find_worker()), 4);
	close(fd);
	worker_client_free(client);
	assert_int_equal(count_fds(0), nr_open);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* nor a zombie */
}

static void the_worker_is_confined(void **state)
{
	_cleanup_(worker_client_freep) struct worker_client *client = new_client(FLAMELET_PROGRAM);
	_cleanup_close_ int fd = temporary_file("a", 1);
	uint32_t crc;
	(void)state;

	assert_int_equal(ask_for_crc(client, fd, &crc), 0);
	pid_t pid = find_worker();
	assert_true(status_has(pid, "\nCapEff:\t0000000000000000\n"));
	assert_true(status_has(pid, "\nCapPrm:\t0000000000000000\n"));
	assert_true(status_has(pid, "\nNoNewPrivs:\t1\n"));
	if (!WORKER_PROCESS_IS_SANITIZED)
		assert_true(status_has(pid, "\nSeccomp:\t2\n"));
}

/* Sends these bytes to the program's worker and hangs up; returns how it ended. */
static int end_worker(const void *bytes, size_t len)
{
	const struct worker_process_opts opts = {
		.program = FLAMELET_PROGRAM,
		.command = SYMBOL_WORKER_COMMAND,
	};
	struct worker_process worker = WORKER_PROCESS_NONE;
	char byte;

	assert_int_equal(worker_process_start(&opts, &worker), 0);
	assert_int_equal(send(worker.socket, bytes, len, MSG_NOSIGNAL), len);
	assert_int_equal(shutdown(worker.socket, SHUT_WR), 0);
	while (recv(worker.socket, &byte, 1, 0) > 0)
		;
	waitid(P_PID, (id_t)worker.pid, &(siginfo_t){ 0 }, WEXITED | WNOWAIT);
	assert_true(worker_process_has_ended(&worker));
	worker_process_stop(&worker, 0);
	return worker.status;
}

static void the_worker_ends_by_itself_when_nobody_asks_any_more(void **state)
{
	static const struct worker_request request = { .kind = SYMBOL_REQUEST_CRC, .key = 1 };
	static const struct worker_request too_long = { .nr_bytes = UINT32_MAX };
	const int exit_failed = 1 << 8;
	(void)state;

	assert_int_equal(end_worker(NULL, 0), 0);
	assert_int_equal(end_worker(&request, sizeof(request)), 0);
	assert_int_equal(end_worker(&request, sizeof(request) - 1), exit_failed);
	assert_int_equal(end_worker(&too_long, sizeof(too_long)), exit_failed);
}

static void a_worker_that_takes_too_long_is_killed(void **state)
{
	static const enum behaviour behaviours[] = { NEVER_ANSWER, STOP_HALFWAY, DRIP };
	_cleanup_(worker_client_freep) struct worker_client *client = new_client(NULL);
	(void)state;

	for (size_t i = 0; i < array_len(behaviours); i++) {
		uint64_t start_ns = clock_mono_ns();

		assert_int_equal(tell_hostile(client, behaviours[i], 100000, SHORT_NS), -ETIMEDOUT);
		assert_true(clock_mono_ns() - start_ns >= SHORT_NS);
		assert_int_equal(worker_client_get_stats(client).nr_timeouts, i + 1);
	}
	assert_int_equal(tell_hostile(client, BEHAVE, 100, WAIT_NS), 0);
	assert_int_equal(worker_client_get_stats(client).nr_started, 4);
	assert_int_equal(worker_client_get_stats(client).nr_deaths, 0);
}

static void a_death_is_told_and_another_worker_answers(void **state)
{
	static const struct {
		enum behaviour behaviour;
		int error;
	} cases[] = {
		{ DIE, -EPIPE },
		{ DIE_HALFWAY, -EPIPE },
		{ ANNOUNCE_TOO_MUCH, -EBADMSG },
	};
	_cleanup_(worker_client_freep) struct worker_client *client = new_client(NULL);
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		assert_int_equal(tell_hostile(client, cases[i].behaviour, 100000, WAIT_NS),
				 cases[i].error);
		assert_int_equal(worker_client_get_stats(client).nr_deaths, i + 1);
		assert_int_equal(tell_hostile(client, BEHAVE, 100, WAIT_NS), 0);
	}
	assert_int_equal(worker_client_get_stats(client).nr_started, 4);
	assert_int_equal(worker_client_get_stats(client).nr_timeouts, 0);
}

/* How long no request is taken after a death. */
static uint64_t measure_delay_ns(struct worker_client *client)
{
	const enum behaviour behaviour = DIE;

	assert_int_equal(tell_hostile(client, behaviour, 100, WAIT_NS), -EPIPE);
	uint64_t start_ns = clock_mono_ns();
	const struct worker_request request = { .key = 1, .max_bytes = 100 };
	_cleanup_close_ int fd = temporary_file(&behaviour, sizeof(behaviour));
	_cleanup_free_ void *bytes = NULL;
	size_t len;

	send_request(client, &request, fd, WAIT_NS);
	uint64_t delay_ns = clock_mono_ns() - start_ns;
	assert_int_equal(wait_for_reply(client, &bytes, &len), -EPIPE);
	return delay_ns;
}

static void deaths_in_a_row_slow_down_restarts(void **state)
{
	const uint64_t first_ns = WORKER_CLIENT_RESTART_NS - NSEC_PER_MSEC;
	_cleanup_(worker_client_freep) struct worker_client *client = new_client(NULL);
	(void)state;

	assert_true(measure_delay_ns(client) >= first_ns);
	assert_true(measure_delay_ns(client) >= 4 * first_ns);
	assert_int_equal(tell_hostile(client, BEHAVE, 100, WAIT_NS), 0);
	uint64_t delay_ns = measure_delay_ns(client);
	assert_true(delay_ns >= first_ns);
	assert_true(delay_ns < 8 * first_ns);
}

static void many_deaths_do_not_delay_others_for_long(void **state)
{
	_cleanup_(worker_client_freep) struct worker_client *client = new_client(NULL);
	(void)state;

	for (size_t i = 0; i < 4; i++)
		assert_true(measure_delay_ns(client) < 3 * WORKER_CLIENT_MAX_RESTART_NS);
	assert_int_equal(tell_hostile(client, BEHAVE, 100, WAIT_NS), 0);
}

static void a_program_that_cannot_be_started_is_not_tried_all_the_time(void **state)
{
	const struct worker_request request = { .key = 1, .max_bytes = 100 };
	struct worker_client *client = new_client("/no/such/program");
	(void)state;

	assert_int_equal(worker_client_send(client, &request, NULL, NULL, 0, &long_limits),
			 -ENOENT);
	assert_int_equal(worker_client_send(client, &request, NULL, NULL, 0, &long_limits),
			 -EAGAIN);
	assert_false(worker_client_is_busy(client));
	assert_int_equal(worker_client_get_stats(client).nr_started, 0);
	worker_client_free(client);
}

static void a_death_between_requests_is_noticed(void **state)
{
	_cleanup_(worker_client_freep) struct worker_client *client = new_client(NULL);
	(void)state;

	assert_int_equal(tell_hostile(client, DIE_AFTERWARDS, 100, WAIT_NS), 0);
	waitid(P_PID, (id_t)find_worker(), &(siginfo_t){ 0 }, WEXITED | WNOWAIT);
	assert_int_equal(tell_hostile(client, BEHAVE, 100, WAIT_NS), 0);
	assert_int_equal(worker_client_get_stats(client).nr_deaths, 1);
	assert_int_equal(worker_client_get_stats(client).nr_started, 2);
}

static void a_second_answer_is_not_taken_for_the_next_ones(void **state)
{
	_cleanup_(worker_client_freep) struct worker_client *client = new_client(NULL);
	(void)state;

	assert_int_equal(tell_hostile(client, ANSWER_TWICE, 100, WAIT_NS), 0);
	usleep(20000); /* for the second one to be sent */
	assert_int_equal(tell_hostile(client, BEHAVE, 200, WAIT_NS), 0);
	assert_int_equal(worker_client_get_stats(client).nr_deaths, 1);
}

static void a_worker_that_ends_to_free_memory_is_replaced_at_once(void **state)
{
	_cleanup_(worker_client_freep) struct worker_client *client = new_client(NULL);
	uint64_t start_ns = clock_mono_ns();
	(void)state;

	for (int i = 0; i < 3; i++)
		assert_int_equal(tell_hostile(client, BE_LAST, 100, WAIT_NS), 0);
	assert_int_equal(worker_client_get_stats(client).nr_started, 3);
	assert_int_equal(worker_client_get_stats(client).nr_deaths, 0);
	assert_true(clock_mono_ns() - start_ns < WAIT_NS);
}

/* It is larger than what a socket holds. How many pieces there are depends on who is faster. */
static void a_big_answer_is_collected_in_pieces(void **state)
{
	const struct worker_request request = { .key = 1, .max_bytes = BIG_REPLY_BYTES };
	const enum behaviour behaviour = BEHAVE;
	_cleanup_(worker_client_freep) struct worker_client *client = new_client(NULL);
	_cleanup_close_ int fd = temporary_file(&behaviour, sizeof(behaviour));
	_cleanup_free_ void *bytes = NULL;
	size_t len = 0;
	int error = 1;
	(void)state;

	send_request(client, &request, fd, WAIT_NS);
	while (worker_client_wait(client, 0, &error, &bytes, &len) == 0)
		continue;
	assert_int_equal(error, 0);
	assert_int_equal(len, BIG_REPLY_BYTES);
	for (size_t i = 0; i < len; i++)
		assert_int_equal(((char *)bytes)[i], 0);
}

static void waiting_ends_when_it_is_told_to(void **state)
{
	const struct worker_request request = { .key = 1, .max_bytes = 100 };
	const enum behaviour behaviour = NEVER_ANSWER;
	_cleanup_(worker_client_freep) struct worker_client *client = new_client(NULL);
	_cleanup_close_ int fd = temporary_file(&behaviour, sizeof(behaviour));
	void *bytes = NULL;
	size_t len = 0;
	int error = 1;
	(void)state;

	send_request(client, &request, fd, 10 * WAIT_NS);
	uint64_t start_ns = clock_mono_ns();
	assert_int_equal(worker_client_wait(client, start_ns + SHORT_NS, &error, &bytes, &len), 0);
	assert_true(clock_mono_ns() - start_ns >= SHORT_NS);
	assert_true(clock_mono_ns() - start_ns < WAIT_NS);
	assert_true(worker_client_is_busy(client));
	assert_int_equal(error, 1); /* untouched */
}

static void what_workers_took_is_added_up(void **state)
{
	_cleanup_(worker_client_freep) struct worker_client *client = new_client(NULL);
	(void)state;

	assert_int_equal(tell_hostile(client, BEHAVE, BIG_REPLY_BYTES, WAIT_NS), 0);
	struct worker_stats stats = worker_client_get_stats(client);
	assert_true(stats.resident_bytes > 100000);
	assert_true(stats.cpu_ns > 0);
	assert_int_equal(tell_hostile(client, DIE, 100, WAIT_NS), -EPIPE);
	assert_int_equal(tell_hostile(client, BEHAVE, 100, WAIT_NS), 0);
	assert_true(worker_client_get_stats(client).cpu_ns > stats.cpu_ns / 2);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_checksum_is_that_of_the_whole_file),
		cmocka_unit_test(requests_it_does_not_know_are_refused_and_the_worker_lives_on),
		cmocka_unit_test(only_one_request_is_on_its_way),
		cmocka_unit_test(no_descriptors_are_left_at_either_end),
		cmocka_unit_test(the_worker_is_confined),
		cmocka_unit_test(the_worker_ends_by_itself_when_nobody_asks_any_more),
		cmocka_unit_test(a_worker_that_takes_too_long_is_killed),
		cmocka_unit_test(a_death_is_told_and_another_worker_answers),
		cmocka_unit_test(deaths_in_a_row_slow_down_restarts),
		cmocka_unit_test(many_deaths_do_not_delay_others_for_long),
		cmocka_unit_test(a_program_that_cannot_be_started_is_not_tried_all_the_time),
		cmocka_unit_test(a_death_between_requests_is_noticed),
		cmocka_unit_test(a_second_answer_is_not_taken_for_the_next_ones),
		cmocka_unit_test(a_worker_that_ends_to_free_memory_is_replaced_at_once),
		cmocka_unit_test(a_big_answer_is_collected_in_pieces),
		cmocka_unit_test(waiting_ends_when_it_is_told_to),
		cmocka_unit_test(what_workers_took_is_added_up),
	};

	if (argc > 1 && strcmp(argv[1], SYMBOL_WORKER_COMMAND) == 0)
		return be_hostile_worker();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
