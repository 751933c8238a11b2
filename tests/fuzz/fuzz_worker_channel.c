/* SPDX-License-Identifier: Apache-2.0 */
/* Both ends of a worker's socket: a request as the worker receives it, with descriptors; a reply as
 * the agent does. The first byte says which, and how many descriptors. */
#include "worker/worker_channel.h"

#include "base/cleanup.h"

#include <assert.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>

#define MAX_SENT_BYTES 40000 /* fits into the socket, and the longest request into it */
#define MAX_REQUEST_BYTES 32768
#define MAX_REPLY_BYTES 10000

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void send_with_fds(int socket_fd, const uint8_t *data, size_t size, size_t nr_fds)
{
	const int fds[3] = { STDIN_FILENO, STDIN_FILENO, STDIN_FILENO };
	struct iovec part = { .iov_base = (void *)data, .iov_len = size };
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
	sendmsg(socket_fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
}

static void receive_requests(int socket_fd)
{
	static struct worker_call call;

	while (worker_channel_receive_request(socket_fd, MAX_REQUEST_BYTES, &call) == 1) {
		assert(call.nr_fds <= WORKER_MAX_FDS);
		assert(call.request.nr_bytes <= MAX_REQUEST_BYTES);
		assert((call.bytes != NULL) == (call.request.nr_bytes > 0));
		for (size_t i = 0; i < call.nr_fds; i++)
			assert(fcntl(call.fds[i], F_GETFD) == FD_CLOEXEC);
		worker_call_done(&call);
	}
	assert(call.nr_fds == 0);
}

static void read_replies(int socket_fd)
{
	int r = 1;

	while (r == 1) {
		_cleanup_(worker_reply_reader_done) struct worker_reply_reader reader =
			worker_reply_reader_with_max(MAX_REPLY_BYTES);

		r = worker_reply_reader_read(&reader, socket_fd);
		if (r != 1)
			continue;
		assert(reader.reply.nr_bytes <= MAX_REPLY_BYTES);
		assert((reader.bytes != NULL) == (reader.reply.nr_bytes > 0));
		assert(reader.reply.error <= 0);
	}
	assert(r == -EPIPE || r == -EBADMSG);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fds[2];

	if (size == 0 || size > MAX_SENT_BYTES ||
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) < 0)
		return 0;
	send_with_fds(fds[0], data + 1, size - 1, data[0] >> 1 & 3);
	close(fds[0]);
	if (data[0] & 1)
		receive_requests(fds[1]);
	else
		read_replies(fds[1]);
	close(fds[1]);
	return 0;
}
