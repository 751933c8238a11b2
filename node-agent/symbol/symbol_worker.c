/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/symbol_worker.h"

#include "base/cleanup.h"
#include "symbol/symbol_channel.h"
#include "symbol/worker_sandbox.h"

#include <malloc.h>
#include <stdbool.h>
#include <string.h>
#include <sys/resource.h>

#define EXIT_NOT_STARTED 1
#define TRIM_BYTES ((size_t)1 << 20) /* free ones that are worth giving back */

/* Of its memory, as RLIMIT_DATA counts it, what may be in use between requests. */
static uint64_t max_idle_bytes(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_DATA, &limit) < 0 || limit.rlim_cur == RLIM_INFINITY)
		return UINT64_MAX;
	return limit.rlim_cur / 2;
}

/* What an answer took goes back to the system. */
static void trim_heap(void)
{
	if (mallinfo2().fordblks >= TRIM_BYTES)
		malloc_trim(0);
}

static bool holds_more_than(uint64_t max_bytes, const struct strbuf *reply)
{
	struct mallinfo2 heap = mallinfo2();
	uint64_t held = heap.uordblks + heap.hblkhd;

	return held > reply->cap && held - reply->cap > max_bytes;
}

static int answer(const struct symbol_call *call, struct strbuf *reply)
{
	const struct symbol_request *request = &call->request;

	if (call->nr_fds == 0 || request->key == 0)
		return -EINVAL;
	switch (request->kind) {
	case SYMBOL_REQUEST_TABLE:
		return symbol_worker_table(request, call->fds, call->nr_fds, reply);
	case SYMBOL_REQUEST_LINES:
		return symbol_worker_lines(request, call->addresses, call->fds, call->nr_fds,
					   reply);
	case SYMBOL_REQUEST_CRC:
		return symbol_worker_crc(call->fds, call->nr_fds, reply);
	default:
		return -EINVAL;
	}
}

static size_t max_reply_bytes(const struct symbol_request *request)
{
	return request->max_bytes < UINT32_MAX ? (size_t)request->max_bytes : UINT32_MAX;
}

/* Answers one request. Returns whether there is to be another: not when memory ran out, or too much of it is
 * held, as a new worker starts with none. */
static bool serve(struct symbol_call *call, uint64_t max_bytes)
{
	_cleanup_(strbuf_done) struct strbuf bytes = strbuf_with_max(
		max_reply_bytes(&call->request));
	int r = answer(call, &bytes);

	symbol_call_done(call);
	if (r == 0)
		r = strbuf_error(&bytes);
	if (r < 0)
		strbuf_done(&bytes);

	bool is_last = r == -ENOMEM || holds_more_than(max_bytes, &bytes);
	const struct symbol_reply reply = {
		.error = r,
		.nr_bytes = (uint32_t)bytes.len,
		.is_last = is_last,
	};
	r = symbol_channel_send_reply(SYMBOL_WORKER_SOCKET_FD, &reply, bytes.data);
	return r == 0 && !is_last;
}

int symbol_worker_main(void)
{
	_cleanup_free_ struct symbol_call *call = calloc(1, sizeof(*call));
	uint64_t max_bytes = max_idle_bytes();
	bool is_over;

	if (!call)
		return EXIT_NOT_STARTED;
	int r = worker_sandbox_enter();
	if (r < 0) {
		fprintf(stderr, "flamelet: cannot confine the symbol worker: %s\n", strerror(-r));
		return EXIT_NOT_STARTED;
	}
	do {
		r = symbol_channel_receive_request(SYMBOL_WORKER_SOCKET_FD, call);
		is_over = r != 1 || !serve(call, max_bytes);
		trim_heap();
	} while (!is_over);
	return r < 0 ? EXIT_NOT_STARTED : 0;
}
