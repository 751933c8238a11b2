/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/symbol_worker.h"

#include "worker/worker_server.h"

static int answer(struct worker_call *call, struct strbuf *reply, void *data)
{
	(void)data;
	if (call->nr_fds == 0 || call->request.key == 0)
		return -EINVAL;
	switch (call->request.kind) {
	case SYMBOL_REQUEST_TABLE:
		return symbol_worker_table(call, reply);
	case SYMBOL_REQUEST_LINES:
		return symbol_worker_lines(call, reply);
	case SYMBOL_REQUEST_CRC:
		return symbol_worker_crc(call, reply);
	default:
		return -EINVAL;
	}
}

int symbol_worker_main(void)
{
	const struct worker_server_opts opts = {
		.name = "the symbol worker",
		.sandbox = WORKER_SANDBOX_FILES,
		.max_request_bytes = SYMBOL_REQUEST_MAX_ADDRESSES * sizeof(uint64_t),
		.answer = answer,
	};

	return worker_server_run(&opts);
}
