/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/debuginfod/debuginfod.h"

#include "base/clock.h"
#include "symbol/debuginfod/debuginfod_asked.h"
#include "symbol/debuginfod/debuginfod_environment.h"
#include "symbol/debuginfod/debuginfod_protocol.h"
#include "worker/worker_process.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>

#define WORKER_MAX_DATA_BYTES (UINT64_C(256) << 20)
#define STOP_TIMEOUT_NS NSEC_PER_SEC /* for the worker, when the agent ends */

struct debuginfod {
	const char *program; /* borrowed */
	uint64_t max_cache_bytes;
	uint64_t max_file_bytes;
	uint64_t timeout_ns;
	struct debuginfod_environment environment;
	struct debuginfod_asked asked;
	struct worker_process worker; /* socket < 0: there is none, or it is being stopped */
	uint64_t deadline_ns; /* of the first request that was sent, else of the idle worker */
	uint64_t start_ns; /* no new worker is started before */
	uint64_t restart_ns; /* time to wait if the present worker dies */
	struct debuginfod_stats stats;
};

int debuginfod_new(const struct debuginfod_opts *opts, struct debuginfod **ret_debuginfod)
{
	_cleanup_(debuginfod_freep) struct debuginfod *debuginfod = calloc(1, sizeof(*debuginfod));

	if (!debuginfod)
		return -ENOMEM;
	debuginfod->program = opts->program;
	debuginfod->max_cache_bytes = opts->max_cache_bytes;
	debuginfod->max_file_bytes = opts->max_file_bytes;
	debuginfod->timeout_ns = opts->timeout_ns > NSEC_PER_SEC ? opts->timeout_ns : NSEC_PER_SEC;
	debuginfod->worker = WORKER_PROCESS_NONE;
	debuginfod->restart_ns = DEBUGINFOD_RESTART_NS;
	debuginfod_asked_init(&debuginfod->asked, DEBUGINFOD_MAX_QUEUE);

	const struct debuginfod_settings settings = {
		.urls = opts->urls,
		.cache_dir = opts->cache_dir,
		.max_file_bytes = opts->max_file_bytes,
		.timeout_ns = opts->timeout_ns,
	};
	int r = debuginfod_environment_init(&debuginfod->environment, &settings);
	if (r < 0)
		return r;
	*ret_debuginfod = take_ptr(debuginfod);
	return 0;
}

void debuginfod_free(struct debuginfod *debuginfod)
{
	if (!debuginfod)
		return;
	worker_process_stop(&debuginfod->worker, STOP_TIMEOUT_NS);
	debuginfod_asked_done(&debuginfod->asked);
	debuginfod_environment_done(&debuginfod->environment);
	free(debuginfod);
}

static bool is_anything_sent(const struct debuginfod *debuginfod)
{
	return debuginfod_asked_count(&debuginfod->asked, DEBUGINFOD_SENT) > 0;
}

/* Sets the deadline for the request that is first now, or for an idle worker. */
static void set_deadline(struct debuginfod *debuginfod)
{
	uint64_t wait_ns = is_anything_sent(debuginfod)
				   ? debuginfod->timeout_ns + DEBUGINFOD_GRACE_NS
				   : DEBUGINFOD_IDLE_NS;

	debuginfod->deadline_ns = clock_mono_ns() + wait_ns;
}

static void answer_nothing(struct debuginfod *debuginfod, int error)
{
	bool is_lasting = error == -ENOENT || error == -EFBIG;

	*(error == -ENOENT ? &debuginfod->stats.nr_missing : &debuginfod->stats.nr_failures) += 1;
	debuginfod_asked_answer(
		&debuginfod->asked,
		clock_mono_ns() + (is_lasting ? DEBUGINFOD_RETRY_NS : DEBUGINFOD_FAILURE_RETRY_NS));
}

/* Does not wait for its end; start_worker() does. */
static void stop_worker(struct debuginfod *debuginfod)
{
	(void)worker_process_stop(&debuginfod->worker, 0);
}

/* Stops the worker. The first request may be the reason for its failure, so it is not repeated. */
static void give_up_worker(struct debuginfod *debuginfod)
{
	stop_worker(debuginfod);
	if (is_anything_sent(debuginfod))
		answer_nothing(debuginfod, -EPIPE);
	debuginfod_asked_unsend(&debuginfod->asked);
	debuginfod->start_ns = clock_mono_ns() + debuginfod->restart_ns;
	debuginfod->restart_ns *= 2;
	if (debuginfod->restart_ns > DEBUGINFOD_MAX_RESTART_NS)
		debuginfod->restart_ns = DEBUGINFOD_MAX_RESTART_NS;
}

/* Returns whether there is a worker. */
static bool start_worker(struct debuginfod *debuginfod)
{
	struct worker_process worker;
	const struct worker_process_opts opts = {
		.program = debuginfod->program,
		.command = DEBUGINFOD_WORKER_COMMAND,
		.envp = debuginfod->environment.variables,
		.max_data_bytes = WORKER_MAX_DATA_BYTES,
	};

	if (debuginfod->worker.socket >= 0)
		return true;
	if (clock_mono_ns() < debuginfod->start_ns ||
	    !worker_process_has_ended(&debuginfod->worker))
		return false;
	debuginfod->stats.cpu_ns += debuginfod->worker.cpu_ns;
	debuginfod->worker = WORKER_PROCESS_NONE;
	if (worker_process_start(&opts, &worker) < 0) {
		debuginfod_asked_send(&debuginfod->asked);
		give_up_worker(debuginfod);
		return false;
	}
	debuginfod->worker = worker;
	debuginfod->stats.nr_started++;
	return true;
}

/* The socket has room for many more requests than are sent, so a full one is an error. */
static int send_request(const struct debuginfod *debuginfod, const char *build_id)
{
	struct debuginfod_request request = {
		.max_cache_bytes = debuginfod->max_cache_bytes,
		.max_file_bytes = debuginfod->max_file_bytes,
		.timeout_ns = debuginfod->timeout_ns,
	};

	snprintf(request.build_id, sizeof(request.build_id), "%s", build_id);
	ssize_t n = send(debuginfod->worker.socket, &request, sizeof(request),
			 MSG_DONTWAIT | MSG_NOSIGNAL);
	return n == sizeof(request) ? 0 : -EPIPE;
}

static void send_waiting(struct debuginfod *debuginfod)
{
	while (debuginfod_asked_count(&debuginfod->asked, DEBUGINFOD_WAITING) > 0 &&
	       debuginfod_asked_count(&debuginfod->asked, DEBUGINFOD_SENT) < DEBUGINFOD_MAX_SENT &&
	       start_worker(debuginfod)) {
		bool is_first = !is_anything_sent(debuginfod);
		const char *build_id = debuginfod_asked_send(&debuginfod->asked);

		if (send_request(debuginfod, build_id) < 0) {
			/* The request did not kill the worker, so it is sent again, unless workers
			 * keep failing. */
			if (is_first && debuginfod->restart_ns == DEBUGINFOD_RESTART_NS)
				debuginfod_asked_unsend(&debuginfod->asked);
			debuginfod->stats.nr_deaths++;
			give_up_worker(debuginfod);
			return;
		}
		if (is_first)
			set_deadline(debuginfod);
	}
}

/* Returns the descriptor that came with a message, or -EBADF. */
static int take_descriptor(struct msghdr *message)
{
	const struct cmsghdr *header = CMSG_FIRSTHDR(message);
	int fd;

	if (!header || header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS ||
	    header->cmsg_len != CMSG_LEN(sizeof(fd)))
		return -EBADF;
	memcpy(&fd, CMSG_DATA(header), sizeof(fd));
	return fd;
}

/* Returns 1 with the reply and its descriptor, if it has one; 0 if there is no reply yet. Errors:
 * -EPIPE. */
static int receive(const struct debuginfod *debuginfod, struct debuginfod_reply *ret_reply,
		   int *ret_fd)
{
	union {
		struct cmsghdr header;
		char space[CMSG_SPACE(sizeof(int))];
	} control = { 0 };
	struct iovec bytes = { ret_reply, sizeof(*ret_reply) };
	struct msghdr message = {
		.msg_iov = &bytes,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = CMSG_LEN(sizeof(int)), /* CMSG_SPACE() has room for two */
	};
	ssize_t n = recvmsg(debuginfod->worker.socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	_cleanup_close_ int fd = n > 0 ? take_descriptor(&message) : -EBADF;
	if (n != sizeof(*ret_reply))
		return -EPIPE;
	*ret_fd = take_fd(fd);
	return 1;
}

/* The worker talks to servers that are not trusted, so its files are checked. */
static int check_file(const struct debuginfod *debuginfod, int fd)
{
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return -EBADMSG;
	return (uint64_t)st.st_size <= debuginfod->max_file_bytes ? 0 : -EFBIG;
}

/* Handles the reply to the first request. Returns 1 with a file, or 0. */
static int handle_reply(struct debuginfod *debuginfod, const struct debuginfod_reply *reply,
			int reply_fd, uint64_t *ret_cookie, int *ret_fd)
{
	_cleanup_close_ int fd = reply_fd;
	int r = reply->error < 0 ? reply->error : check_file(debuginfod, fd);

	debuginfod->restart_ns = DEBUGINFOD_RESTART_NS;
	if (r < 0) {
		answer_nothing(debuginfod, r);
	} else {
		*ret_cookie = debuginfod_asked_answer(&debuginfod->asked, 0);
		*ret_fd = take_fd(fd);
		debuginfod->stats.nr_found++;
	}
	set_deadline(debuginfod);
	return r == 0;
}

/* Ends a worker that took too long for a request, or that was idle too long. */
static void check_deadline(struct debuginfod *debuginfod)
{
	if (debuginfod->worker.socket < 0 || clock_mono_ns() < debuginfod->deadline_ns)
		return;
	if (is_anything_sent(debuginfod)) {
		debuginfod->stats.nr_killed++;
		give_up_worker(debuginfod);
	} else {
		stop_worker(debuginfod);
	}
}

int debuginfod_ask(struct debuginfod *debuginfod, const char *build_id, uint64_t cookie)
{
	if (!build_id_is_valid(build_id))
		return -EINVAL;

	int r = debuginfod_asked_add(&debuginfod->asked, build_id, cookie, clock_mono_ns());
	if (r == -ENOSPC)
		debuginfod->stats.nr_refused++;
	if (r == 0)
		debuginfod->stats.nr_asked++;
	return r;
}

int debuginfod_next(struct debuginfod *debuginfod, uint64_t *ret_cookie, int *ret_fd)
{
	struct debuginfod_reply reply;
	int r = 1;
	int fd = -EBADF;

	send_waiting(debuginfod);
	while (is_anything_sent(debuginfod) && (r = receive(debuginfod, &reply, &fd)) > 0) {
		int found = handle_reply(debuginfod, &reply, fd, ret_cookie, ret_fd);

		send_waiting(debuginfod);
		if (found)
			return 1;
	}
	if (r < 0) {
		debuginfod->stats.nr_deaths++;
		give_up_worker(debuginfod);
	}
	check_deadline(debuginfod);
	return 0;
}

struct debuginfod_stats debuginfod_get_stats(const struct debuginfod *debuginfod)
{
	struct worker_process_usage usage = worker_process_get_usage(&debuginfod->worker);
	struct debuginfod_stats stats = debuginfod->stats;

	stats.nr_waiting = debuginfod_asked_count(&debuginfod->asked, DEBUGINFOD_WAITING) +
			   debuginfod_asked_count(&debuginfod->asked, DEBUGINFOD_SENT);
	stats.cpu_ns += usage.cpu_ns;
	stats.resident_bytes = usage.resident_bytes;
	return stats;
}
