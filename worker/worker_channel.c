/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/worker_channel.h"

#include "base/cleanup.h"
#include "base/clock.h"

#include <poll.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

#define MAX_ERRNO 4095 /* as the kernel has it */
#define FOR_EVER UINT64_MAX

/* Aligned memory for the descriptors of a message. */
union descriptors_room {
	struct cmsghdr align;
	char bytes[CMSG_SPACE(sizeof(int) * WORKER_MAX_FDS)];
};

static void attach_fds(struct msghdr *message, union descriptors_room *room, const int *fds,
		       size_t nr_fds)
{
	if (nr_fds == 0)
		return;
	message->msg_control = room->bytes;
	message->msg_controllen = CMSG_SPACE(sizeof(int) * nr_fds);

	struct cmsghdr *header = CMSG_FIRSTHDR(message);
	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_RIGHTS;
	header->cmsg_len = CMSG_LEN(sizeof(int) * nr_fds);
	memcpy(CMSG_DATA(header), fds, sizeof(int) * nr_fds);
}

/* Skips the first `n` bytes, and the descriptors that were sent with them. */
static void advance(struct msghdr *message, size_t n)
{
	message->msg_control = NULL;
	message->msg_controllen = 0;
	while (message->msg_iovlen > 0 && n >= message->msg_iov->iov_len) {
		n -= message->msg_iov->iov_len;
		message->msg_iov++;
		message->msg_iovlen--;
	}
	if (message->msg_iovlen > 0) {
		message->msg_iov->iov_base = (char *)message->msg_iov->iov_base + n;
		message->msg_iov->iov_len -= n;
	}
}

static int wait_for_room(int socket, uint64_t until_ns)
{
	struct pollfd wait = { .fd = socket, .events = POLLOUT };
	uint64_t now_ns = clock_mono_ns();

	if (now_ns >= until_ns)
		return -ETIMEDOUT;
	struct timespec timeout = clock_timespec(until_ns - now_ns);
	if (ppoll(&wait, 1, &timeout, NULL) < 0 && errno != EINTR)
		return -errno;
	return 0;
}

static int send_all(int socket, struct msghdr *message, uint64_t until_ns)
{
	int flags = MSG_NOSIGNAL | (until_ns == FOR_EVER ? 0 : MSG_DONTWAIT);

	while (message->msg_iovlen > 0) {
		ssize_t n = sendmsg(socket, message, flags);
		int r = n < 0 ? -errno : 0;

		if (r == -EAGAIN)
			r = wait_for_room(socket, until_ns);
		if (r < 0 && r != -EINTR)
			return r == -ECONNRESET ? -EPIPE : r;
		if (n > 0)
			advance(message, (size_t)n);
	}
	return 0;
}

int worker_channel_send_request(int socket, const struct worker_request *request, const void *bytes,
				const int *fds, size_t nr_fds, uint64_t until_ns)
{
	struct iovec parts[] = {
		{ .iov_base = (void *)request, .iov_len = sizeof(*request) },
		{ .iov_base = (void *)bytes, .iov_len = request->nr_bytes },
	};
	struct msghdr message = { .msg_iov = parts, .msg_iovlen = request->nr_bytes ? 2 : 1 };
	union descriptors_room room = { 0 };

	if (nr_fds > WORKER_MAX_FDS)
		return -EINVAL;
	attach_fds(&message, &room, fds, nr_fds);
	return send_all(socket, &message, until_ns);
}

int worker_channel_send_reply(int socket, const struct worker_reply *reply, const void *bytes)
{
	struct iovec parts[] = {
		{ .iov_base = (void *)reply, .iov_len = sizeof(*reply) },
		{ .iov_base = (void *)bytes, .iov_len = reply->nr_bytes },
	};
	struct msghdr message = { .msg_iov = parts, .msg_iovlen = reply->nr_bytes ? 2 : 1 };

	return send_all(socket, &message, FOR_EVER);
}

void worker_call_done(struct worker_call *call)
{
	while (call->nr_fds > 0)
		cleanup_closep(&call->fds[--call->nr_fds]);
	free(call->bytes);
	call->bytes = NULL;
}

static bool keep_fd(struct worker_call *call, int fd)
{
	if (call->nr_fds == WORKER_MAX_FDS) {
		close(fd);
		return false;
	}
	call->fds[call->nr_fds++] = fd;
	return true;
}

static int keep_fds(struct worker_call *call, struct msghdr *message)
{
	bool all_kept = !(message->msg_flags & MSG_CTRUNC);
	struct cmsghdr *header;

	for (header = CMSG_FIRSTHDR(message); header; header = CMSG_NXTHDR(message, header)) {
		if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS)
			continue;
		for (size_t at = CMSG_LEN(0); at + sizeof(int) <= header->cmsg_len;
		     at += sizeof(int)) {
			int fd;

			memcpy(&fd, (char *)header + at, sizeof(fd));
			all_kept &= keep_fd(call, fd);
		}
	}
	return all_kept ? 0 : -EBADMSG;
}

/* Fills `bytes`. Returns 1, or 0 if the other end closed before the first byte. */
static int receive_all(int socket, struct worker_call *call, void *bytes, size_t len)
{
	for (size_t done = 0; done < len;) {
		struct iovec part = { .iov_base = (char *)bytes + done, .iov_len = len - done };
		union descriptors_room room;
		struct msghdr message = {
			.msg_iov = &part,
			.msg_iovlen = 1,
			.msg_control = room.bytes,
			.msg_controllen = sizeof(room.bytes),
		};
		ssize_t n = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		int r = keep_fds(call, &message);
		if (r < 0)
			return r;
		if (n == 0)
			return done == 0 ? 0 : -EBADMSG;
		done += (size_t)n;
	}
	return 1;
}

static int receive_call(int socket, uint32_t max_bytes, struct worker_call *call)
{
	int r = receive_all(socket, call, &call->request, sizeof(call->request));
	uint32_t len = call->request.nr_bytes;

	if (r <= 0 || len == 0)
		return r;
	if (len > max_bytes)
		return -EBADMSG;
	call->bytes = malloc((size_t)len + 1);
	if (!call->bytes)
		return -ENOMEM;
	call->bytes[len] = '\0';
	r = receive_all(socket, call, call->bytes, len);
	return r == 0 ? -EBADMSG : r;
}

int worker_channel_receive_request(int socket, uint32_t max_bytes, struct worker_call *ret_call)
{
	ret_call->nr_fds = 0;
	ret_call->bytes = NULL;
	int r = receive_call(socket, max_bytes, ret_call);
	if (r <= 0)
		worker_call_done(ret_call);
	return r;
}

void worker_reply_reader_done(struct worker_reply_reader *reader)
{
	free(reader->bytes);
	*reader = worker_reply_reader_with_max(reader->max_bytes);
}

/* Checks the complete struct, and allocates room for the bytes that follow it. */
static int begin_bytes(struct worker_reply_reader *reader)
{
	const struct worker_reply *reply = &reader->reply;

	if (reply->error > 0 || reply->error < -MAX_ERRNO || reply->is_last > 1 ||
	    (reply->error < 0 && reply->nr_bytes > 0) || reply->nr_bytes > reader->max_bytes)
		return -EBADMSG;
	if (reply->nr_bytes == 0)
		return 0;
	reader->bytes = malloc(reply->nr_bytes);
	return reader->bytes ? 0 : -ENOMEM;
}

/* Finds the place for the next bytes, and returns how many are missing there; 0 if the reply is
 * complete. */
static size_t next_piece(const struct worker_reply_reader *reader, char **ret_to)
{
	const size_t head = sizeof(reader->reply);

	if (reader->nr_read < head) {
		*ret_to = (char *)&reader->reply + reader->nr_read;
		return head - reader->nr_read;
	}
	if (reader->reply.nr_bytes == 0)
		return 0;
	*ret_to = reader->bytes + (reader->nr_read - head);
	return head + reader->reply.nr_bytes - reader->nr_read;
}

int worker_reply_reader_read(struct worker_reply_reader *reader, int socket)
{
	size_t missing;
	char *to;

	while ((missing = next_piece(reader, &to)) > 0) {
		ssize_t n = recv(socket, to, missing, MSG_DONTWAIT);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return 0;
		if (n < 0)
			return errno == ECONNRESET ? -EPIPE : -errno;
		if (n == 0)
			return -EPIPE;
		reader->nr_read += (size_t)n;
		int r = reader->nr_read == sizeof(reader->reply) ? begin_bytes(reader) : 0;
		if (r < 0)
			return r;
	}
	return 1;
}
