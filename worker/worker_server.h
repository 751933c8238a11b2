/* SPDX-License-Identifier: Apache-2.0 */
/* A worker's own end: it enters its sandbox (worker_sandbox.h) and then answers one request after
 * the other until the socket is closed. */
#ifndef WORKER_SERVER_H
#define WORKER_SERVER_H

#include "base/strbuf.h"
#include "worker/worker_channel.h"
#include "worker/worker_sandbox.h"

#include <stdint.h>

struct worker_server_opts {
	const char *name; /* for messages: "the symbol worker" */
	enum worker_sandbox sandbox;
	uint32_t max_request_bytes;
	/* Appends the answer to `reply`, which is empty and limited to the size that the agent
	 * accepts. Descriptors and bytes are borrowed; a descriptor that is kept must be replaced
	 * by a negative number. Any error becomes the reply's error. After -ENOMEM the worker ends,
	 * so that a new one starts with free memory. */
	int (*answer)(struct worker_call *call, struct strbuf *reply, void *data);
	void *data;
};

/* Serves requests until the socket is closed or memory runs out. Returns the exit status of the
 * process. */
int worker_server_run(const struct worker_server_opts *opts);

#endif
