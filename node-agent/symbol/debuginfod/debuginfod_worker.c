/* SPDX-License-Identifier: Apache-2.0 */
/* libdebuginfod limits the time of a download, and the length that the server announces. A server
 * may announce no length or send compressed data, so this process also limits the size of the files
 * that it may write.
 *
 * The library reads its settings from the environment, which debuginfod.c sets. */
#include "symbol/debuginfod/debuginfod.h"

#include "base/clock.h"
#include "symbol/debuginfod/debuginfod_cache.h"
#include "symbol/debuginfod/debuginfod_protocol.h"
#include "worker/worker_process.h"
#include "worker/worker_sandbox.h"

#include <elfutils/debuginfod.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>

#define WORKER_SOCKET_FD WORKER_PROCESS_SOCKET_FD

/* The limits of one request. */
struct download {
	uint64_t until_ns;
	uint64_t max_bytes;
	int error; /* the reason if it was aborted */
};

/* The library calls this at least once per second. A result other than 0 aborts the download. */
static int check_progress(debuginfod_client *client, long nr_done, long nr_all)
{
	struct download *download = debuginfod_get_user_data(client);

	(void)nr_all;
	if (clock_mono_ns() >= download->until_ns)
		download->error = -ETIMEDOUT;
	else if (nr_done > 0 && (uint64_t)nr_done > download->max_bytes)
		download->error = -EFBIG;
	return download->error;
}

/* Opens the file again, because a new download is also open for writing. */
static int open_again(int fd, uint64_t max_bytes, int *ret_fd)
{
	char path[32];
	struct stat st;

	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EBADMSG;
	if ((uint64_t)st.st_size > max_bytes)
		return -EFBIG;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);

	int read_fd = open(path, O_RDONLY | O_CLOEXEC);
	if (read_fd < 0)
		return -errno;
	*ret_fd = read_fd;
	return 0;
}

static int find_file(const struct debuginfod_request *request, int *ret_fd)
{
	struct download download = {
		.until_ns = clock_mono_ns() + request->timeout_ns,
		.max_bytes = request->max_file_bytes,
	};
	debuginfod_client *client = debuginfod_begin();

	if (!client)
		return -ENOMEM;
	debuginfod_set_user_data(client, &download);
	debuginfod_set_progressfn(client, check_progress);
	_cleanup_close_ int fd = debuginfod_find_debuginfo(
		client, (const unsigned char *)request->build_id, 0, NULL);
	debuginfod_end(client);
	if (fd < 0)
		return download.error ? download.error : fd;
	return open_again(fd, request->max_file_bytes, ret_fd);
}

static uint64_t size_of(int fd)
{
	struct stat st;

	return fd >= 0 && fstat(fd, &st) == 0 ? (uint64_t)st.st_size : 0;
}

/* A file that is in the directory already is not downloaded again, but it is counted again. This
 * only makes the next scan of the directory come too early. */
static int handle(const struct debuginfod_request *request, struct debuginfod_cache *cache,
		  int *ret_fd)
{
	_cleanup_close_ int fd = -EBADF;
	int r = 0;

	if (cache->dir_fd < 0)
		r = debuginfod_cache_open(getenv(DEBUGINFOD_CACHE_PATH_ENV_VAR),
					  request->max_cache_bytes, cache);
	if (r < 0)
		return r;
	r = find_file(request, &fd);
	debuginfod_cache_use(cache, request->build_id);
	int grow_r = debuginfod_cache_grow(cache, size_of(fd));
	if (r < 0 || grow_r < 0)
		return r < 0 ? r : grow_r;
	*ret_fd = take_fd(fd);
	return 0;
}

/* Returns 1, or 0 if the agent has closed the socket. Errors: -EBADMSG, those of recv(2). */
static int receive_request(struct debuginfod_request *ret_request)
{
	struct debuginfod_request request;
	ssize_t n;

	do
		n = recv(WORKER_SOCKET_FD, &request, sizeof(request), MSG_WAITALL);
	while (n < 0 && errno == EINTR);
	if (n <= 0)
		return n < 0 ? -errno : 0;
	if (n != sizeof(request) || !memchr(request.build_id, '\0', sizeof(request.build_id)) ||
	    !build_id_is_valid(request.build_id))
		return -EBADMSG;
	*ret_request = request;
	return 1;
}

static int send_reply(struct debuginfod_reply reply, int fd)
{
	union {
		struct cmsghdr header;
		char space[CMSG_SPACE(sizeof(int))];
	} control = { 0 };
	struct iovec bytes = { &reply, sizeof(reply) };
	struct msghdr message = { .msg_iov = &bytes, .msg_iovlen = 1 };

	if (fd >= 0) {
		message.msg_control = &control;
		message.msg_controllen = sizeof(control.space);
		control.header = (struct cmsghdr){ .cmsg_len = CMSG_LEN(sizeof(fd)),
						   .cmsg_level = SOL_SOCKET,
						   .cmsg_type = SCM_RIGHTS };
		memcpy(CMSG_DATA(&control.header), &fd, sizeof(fd));
	}
	return sendmsg(WORKER_SOCKET_FD, &message, MSG_NOSIGNAL) == sizeof(reply) ? 0 : -EPIPE;
}

static int answer(const struct debuginfod_request *request, struct debuginfod_cache *cache)
{
	_cleanup_close_ int fd = -EBADF;
	struct debuginfod_reply reply = { .error = handle(request, cache, &fd) };

	return send_reply(reply, fd);
}

static int limit_files(uint64_t max_bytes)
{
	const struct rlimit limit = { max_bytes, max_bytes };

	signal(SIGXFSZ, SIG_IGN);
	return setrlimit(RLIMIT_FSIZE, &limit) < 0 ? -errno : 0;
}

int debuginfod_worker_main(void)
{
	_cleanup_(debuginfod_cache_close) struct debuginfod_cache cache = DEBUGINFOD_CACHE_NONE;
	struct debuginfod_request request;
	/* This sandbox keeps the user, so that the process can create files. */
	int r = worker_sandbox_enter(WORKER_SANDBOX_DOWNLOAD);

	while (r == 0) {
		r = receive_request(&request);
		if (r <= 0)
			break;
		r = limit_files(request.max_file_bytes);
		if (r == 0)
			r = answer(&request, &cache);
	}
	return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
