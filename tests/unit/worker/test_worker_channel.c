/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/worker_channel.h"

#include "base/cleanup.h"
#include "base/clock.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "unit.h"

#define WAIT_NS (20 * NSEC_PER_SEC)
#define MAX_BYTES 32768 /* of a request; fits into the socket */

/* Both ends in one process: what the tests send fits into the socket. */
struct ends {
	int agent;
	int worker;
};

static struct ends open_ends(void)
{
	int fds[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
	return (struct ends){ .agent = fds[0], .worker = fds[1] };
}

static void close_end(int *fd)
{
	cleanup_closep(fd);
	*fd = -EBADF;
}

static void close_ends(struct ends *ends)
{
	close_end(&ends->agent);
	close_end(&ends->worker);
}

static size_t count_fds(void)
{
	_cleanup_closedir_ DIR *dir = opendir("/proc/self/fd");
	size_t nr = 0;

	assert_non_null(dir);
	while (readdir(dir))
		nr++;
	return nr;
}

static struct worker_call call;
static char pattern[MAX_BYTES];

static int send_request(const struct ends *ends, uint32_t nr_bytes, const int *fds, size_t nr_fds)
{
	const struct worker_request request = {
		.kind = 7,
		.nr_bytes = nr_bytes,
		.key = 42,
		.max_bytes = 1000,
	};

	for (size_t i = 0; i < sizeof(pattern); i++)
		pattern[i] = (char)(i * 3);
	return worker_channel_send_request(ends->agent, &request, pattern, fds, nr_fds,
					   clock_mono_ns() + WAIT_NS);
}

static void a_request_arrives_as_it_was_sent(void **state)
{
	static const uint32_t numbers[] = { 0, 1, MAX_BYTES };
	_cleanup_(close_ends) struct ends ends = open_ends();
	(void)state;

	for (size_t i = 0; i < array_len(numbers); i++) {
		uint32_t nr = numbers[i];

		assert_int_equal(send_request(&ends, nr, NULL, 0), 0);
		assert_int_equal(worker_channel_receive_request(ends.worker, MAX_BYTES, &call), 1);
		assert_int_equal(call.request.kind, 7);
		assert_int_equal(call.request.nr_bytes, nr);
		assert_int_equal(call.request.key, 42);
		assert_int_equal(call.nr_fds, 0);
		assert_int_equal(call.bytes != NULL, nr > 0);
		if (nr > 0)
			assert_memory_equal(call.bytes, pattern, nr);
		worker_call_done(&call);
		assert_null(call.bytes);
	}
}

static void descriptors_come_with_it(void **state)
{
	_cleanup_(close_ends) struct ends ends = open_ends();
	_cleanup_close_ int null_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	_cleanup_close_ int dir_fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	const int fds[WORKER_MAX_FDS] = { null_fd, dir_fd, null_fd, dir_fd };
	struct stat st;
	(void)state;

	size_t nr_open = count_fds();
	for (size_t nr = 0; nr <= WORKER_MAX_FDS; nr++) {
		assert_int_equal(send_request(&ends, 5, fds, nr), 0);
		assert_int_equal(worker_channel_receive_request(ends.worker, MAX_BYTES, &call), 1);
		assert_int_equal(call.nr_fds, nr);
		assert_int_equal(count_fds(), nr_open + nr);
		for (size_t i = 0; i < nr; i++) {
			assert_true(fcntl(call.fds[i], F_GETFD) & FD_CLOEXEC);
			assert_int_equal(fstat(call.fds[i], &st), 0);
			assert_int_equal(S_ISDIR(st.st_mode), i % 2 == 1);
		}
		worker_call_done(&call);
		assert_int_equal(count_fds(), nr_open);
	}
}

static void too_many_descriptors_are_not_sent(void **state)
{
	_cleanup_(close_ends) struct ends ends = open_ends();
	const int fds[WORKER_MAX_FDS + 1] = { 0 };
	(void)state;

	assert_int_equal(send_request(&ends, 1, fds, array_len(fds)), -EINVAL);
	assert_int_equal(recv(ends.worker, &call, sizeof(call), MSG_DONTWAIT), -1);
}

static void a_closed_socket_is_told_at_either_end(void **state)
{
	struct worker_reply_reader reader = worker_reply_reader_with_max(100);
	struct ends ends = open_ends();
	(void)state;

	close_end(&ends.agent);
	assert_int_equal(worker_channel_receive_request(ends.worker, MAX_BYTES, &call), 0);
	close_ends(&ends);

	ends = open_ends();
	close_end(&ends.worker);
	assert_int_equal(send_request(&ends, 1, NULL, 0), -EPIPE);
	assert_int_equal(worker_reply_reader_read(&reader, ends.agent), -EPIPE);
	close_ends(&ends);
}

static void nobody_reading_is_not_waited_for_beyond_the_deadline(void **state)
{
	_cleanup_(close_ends) struct ends ends = open_ends();
	static const char bytes[MAX_BYTES];
	const struct worker_request request = { .nr_bytes = sizeof(bytes) };
	int r = 0;
	(void)state;

	for (int i = 0; r == 0 && i < 1000; i++)
		r = worker_channel_send_request(ends.agent, &request, bytes, NULL, 0,
						clock_mono_ns() + 20 * NSEC_PER_MSEC);
	assert_int_equal(r, -ETIMEDOUT);
}

/* Writes the first `len` bytes of a request, or more than it has, and ends. */
static int receive_bytes(const void *bytes, size_t len, size_t nr_fds)
{
	const int fds[WORKER_MAX_FDS + 2] = { 0 };
	struct ends ends = open_ends();
	struct iovec part = { .iov_base = (void *)bytes, .iov_len = len };
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(sizeof(fds))];
	} control = { .header = { .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS } };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };

	if (nr_fds > 0) {
		control.header.cmsg_len = CMSG_LEN(sizeof(int) * nr_fds);
		memcpy(CMSG_DATA(&control.header), fds, sizeof(int) * nr_fds);
		message.msg_control = &control;
		message.msg_controllen = CMSG_SPACE(sizeof(int) * nr_fds);
	}
	assert_int_equal(sendmsg(ends.agent, &message, 0), len);
	close_end(&ends.agent);
	int r = worker_channel_receive_request(ends.worker, MAX_BYTES, &call);
	close_ends(&ends);
	return r;
}

static void what_is_no_request_is_refused_and_its_descriptors_closed(void **state)
{
	const struct {
		struct worker_request request;
		size_t len;
		size_t nr_fds;
	} cases[] = {
		{ { .nr_bytes = 0 }, 1, 0 },
		{ { .nr_bytes = 0 }, sizeof(struct worker_request) - 1, 1 },
		{ { .nr_bytes = 1 }, sizeof(struct worker_request), 2 },
		{ { .nr_bytes = MAX_BYTES + 1 }, sizeof(struct worker_request), 1 },
		{ { .nr_bytes = UINT32_MAX }, sizeof(struct worker_request), 2 },
		{ { .nr_bytes = 0 }, sizeof(struct worker_request), WORKER_MAX_FDS + 1 },
		{ { .nr_bytes = 0 }, sizeof(struct worker_request), WORKER_MAX_FDS + 2 },
	};
	size_t nr_open = count_fds();
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		assert_int_equal(receive_bytes(&cases[i].request, cases[i].len, cases[i].nr_fds),
				 -EBADMSG);
		assert_int_equal(call.nr_fds, 0);
		assert_null(call.bytes);
		assert_int_equal(count_fds(), nr_open);
	}
}

static void a_reply_arrives_as_it_was_sent(void **state)
{
	_cleanup_(close_ends) struct ends ends = open_ends();
	const struct worker_reply replies[] = {
		{ .nr_bytes = 5 },
		{ .nr_bytes = 0 },
		{ .error = -ENOENT },
		{ .error = -ENOMEM, .is_last = 1 },
	};
	(void)state;

	for (size_t i = 0; i < array_len(replies); i++) {
		_cleanup_(worker_reply_reader_done) struct worker_reply_reader reader =
			worker_reply_reader_with_max(5);

		assert_int_equal(worker_reply_reader_read(&reader, ends.agent), 0);
		assert_int_equal(worker_channel_send_reply(ends.worker, &replies[i], "abcde"), 0);
		assert_int_equal(worker_reply_reader_read(&reader, ends.agent), 1);
		assert_memory_equal(&reader.reply, &replies[i], sizeof(replies[i]));
		if (replies[i].nr_bytes > 0)
			assert_memory_equal(reader.bytes, "abcde", 5);
		else
			assert_null(reader.bytes);
	}
}

static void a_reply_may_come_byte_by_byte(void **state)
{
	_cleanup_(close_ends) struct ends ends = open_ends();
	_cleanup_(worker_reply_reader_done) struct worker_reply_reader reader =
		worker_reply_reader_with_max(100);
	const struct {
		struct worker_reply reply;
		char bytes[8];
	} sent = { { .nr_bytes = 8 }, "1234567" };
	(void)state;

	for (size_t i = 0; i < sizeof(sent); i++) {
		assert_int_equal(worker_reply_reader_read(&reader, ends.agent), 0);
		assert_int_equal(send(ends.worker, (const char *)&sent + i, 1, 0), 1);
	}
	assert_int_equal(worker_reply_reader_read(&reader, ends.agent), 1);
	assert_string_equal(reader.bytes, "1234567");
}

static void what_is_no_reply_is_refused(void **state)
{
	static const struct worker_reply replies[] = {
		{ .nr_bytes = 101 }, { .nr_bytes = UINT32_MAX },
		{ .error = 1 },	     { .error = INT32_MIN },
		{ .error = -4096 },  { .error = -ENOENT, .nr_bytes = 1 },
		{ .is_last = 2 },
	};
	_cleanup_(close_ends) struct ends ends = open_ends();
	(void)state;

	for (size_t i = 0; i < array_len(replies); i++) {
		_cleanup_(worker_reply_reader_done) struct worker_reply_reader reader =
			worker_reply_reader_with_max(100);

		assert_int_equal(send(ends.worker, &replies[i], sizeof(replies[i]), 0),
				 sizeof(replies[i]));
		assert_int_equal(worker_reply_reader_read(&reader, ends.agent), -EBADMSG);
		assert_null(reader.bytes);
	}
}

static void a_reply_that_ends_early_is_none(void **state)
{
	static const struct worker_reply reply = { .nr_bytes = 50 };
	static const size_t lengths[] = { 1, sizeof(reply) - 1, sizeof(reply), sizeof(reply) + 49 };
	(void)state;

	for (size_t i = 0; i < array_len(lengths); i++) {
		_cleanup_(worker_reply_reader_done) struct worker_reply_reader reader =
			worker_reply_reader_with_max(100);
		struct ends ends = open_ends();
		char sent[sizeof(reply) + 50] = { 0 };

		memcpy(sent, &reply, sizeof(reply));
		assert_int_equal(send(ends.worker, sent, lengths[i], 0), lengths[i]);
		assert_int_equal(worker_reply_reader_read(&reader, ends.agent), 0);
		close_end(&ends.worker);
		assert_int_equal(worker_reply_reader_read(&reader, ends.agent), -EPIPE);
		close_ends(&ends);
	}
}

/* A worker that was taken over could send some: the agent never gets to have them. */
static void descriptors_in_a_reply_are_not_taken(void **state)
{
	_cleanup_(close_ends) struct ends ends = open_ends();
	struct worker_reply_reader reader = worker_reply_reader_with_max(sizeof(uint32_t) * 8);
	const struct worker_request as_reply = { .kind = 0, .nr_bytes = 0 };
	const int fds[] = { 0 };
	size_t nr_open = count_fds();
	(void)state;

	assert_int_equal(worker_channel_send_request(ends.worker, &as_reply, NULL, fds, 1,
						     clock_mono_ns() + WAIT_NS),
			 0);
	assert_int_equal(worker_reply_reader_read(&reader, ends.agent), 1);
	assert_int_equal(count_fds(), nr_open);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_request_arrives_as_it_was_sent),
		cmocka_unit_test(descriptors_come_with_it),
		cmocka_unit_test(too_many_descriptors_are_not_sent),
		cmocka_unit_test(a_closed_socket_is_told_at_either_end),
		cmocka_unit_test(nobody_reading_is_not_waited_for_beyond_the_deadline),
		cmocka_unit_test(what_is_no_request_is_refused_and_its_descriptors_closed),
		cmocka_unit_test(a_reply_arrives_as_it_was_sent),
		cmocka_unit_test(a_reply_may_come_byte_by_byte),
		cmocka_unit_test(what_is_no_reply_is_refused),
		cmocka_unit_test(a_reply_that_ends_early_is_none),
		cmocka_unit_test(descriptors_in_a_reply_are_not_taken),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
