/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/worker/symbol_worker.h"

#include "worker/worker_server.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int answer(struct worker_call *call, struct strbuf *reply, void *data)
{
	(void)data;
	if (call->request.kind == SYMBOL_REQUEST_NAMES)
		return symbol_worker_names(call, reply);
	if (call->nr_fds == 0 || call->request.key == 0)
		return -EINVAL;
	switch (call->request.kind) {
	case SYMBOL_REQUEST_TABLE:
		return symbol_worker_table(call, reply);
	case SYMBOL_REQUEST_LINES:
		return symbol_worker_lines(call, reply);
	case SYMBOL_REQUEST_CRC:
		return symbol_worker_crc(call, reply);
	case SYMBOL_REQUEST_FINGERPRINT:
		return symbol_worker_fingerprint(call, reply);
	default:
		return -EINVAL;
	}
}

int symbol_worker_main(void)
{
	const struct worker_server_opts opts = {
		.name = "the symbol worker",
		.sandbox = WORKER_SANDBOX_FILES,
		.max_request_bytes = SYMBOL_REQUEST_MAX_BYTES,
		.answer = answer,
	};

	int r = symbol_worker_prepare_names();
	if (r < 0) {
		fprintf(stderr, "flamelet: cannot set up the symbol worker: %s\n", strerror(-r));
		return EXIT_FAILURE;
	}
	return worker_server_run(&opts);
}
