/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/worker_server.h"

#include "base/cleanup.h"
#include "worker/worker_process.h"

#include <malloc.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#define EXIT_NOT_STARTED 1
#define TRIM_BYTES ((size_t)1 << 20) /* minimum of free memory that is returned to the system */

/* Returns how much memory may be in use between requests: half of RLIMIT_DATA. */
static uint64_t max_idle_bytes(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_DATA, &limit) < 0 || limit.rlim_cur == RLIM_INFINITY)
		return UINT64_MAX;
	return limit.rlim_cur / 2;
}

static bool holds_more_than(uint64_t max_bytes, const struct mallinfo2 *heap,
			    const struct strbuf *reply)
{
	uint64_t held = heap->uordblks + heap->hblkhd;

	return held > reply->cap && held - reply->cap > max_bytes;
}

static size_t max_reply_bytes(const struct worker_request *request)
{
	return request->max_bytes < UINT32_MAX ? (size_t)request->max_bytes : UINT32_MAX;
}

/* Answers one request. Returns whether the worker continues. It ends if memory ran out or too much
 * is in use, so that a new worker starts with free memory. mallinfo2() walks through all free
 * memory, so it is called once. */
static bool serve(const struct worker_server_opts *opts, struct worker_call *call,
		  uint64_t max_bytes)
{
	_cleanup_(strbuf_done) struct strbuf bytes = strbuf_with_max(
		max_reply_bytes(&call->request));
	int r = opts->answer(call, &bytes, opts->data);

	worker_call_done(call);
	if (r == 0)
		r = strbuf_error(&bytes);
	if (r < 0)
		strbuf_done(&bytes);

	const struct mallinfo2 heap = mallinfo2();
	bool is_last = r == -ENOMEM || holds_more_than(max_bytes, &heap, &bytes);
	const struct worker_reply reply = {
		.error = r,
		.nr_bytes = (uint32_t)bytes.len,
		.is_last = is_last,
	};
	r = worker_channel_send_reply(WORKER_PROCESS_SOCKET_FD, &reply, bytes.data);
	size_t nr_free = heap.fordblks + bytes.cap;
	strbuf_done(&bytes);
	if (nr_free >= TRIM_BYTES)
		malloc_trim(0);
	return r == 0 && !is_last;
}

int worker_server_run(const struct worker_server_opts *opts)
{
	struct worker_call call = { .nr_fds = 0 };
	uint64_t max_bytes = max_idle_bytes();
	bool is_over;

	int r = worker_sandbox_enter(opts->sandbox);
	if (r < 0) {
		fprintf(stderr, "flamelet: cannot sandbox %s: %s\n", opts->name, strerror(-r));
		return EXIT_NOT_STARTED;
	}
	do {
		r = worker_channel_receive_request(WORKER_PROCESS_SOCKET_FD,
						   opts->max_request_bytes, &call);
		is_over = r != 1 || !serve(opts, &call, max_bytes);
	} while (!is_over);
	return r < 0 ? EXIT_NOT_STARTED : 0;
}
