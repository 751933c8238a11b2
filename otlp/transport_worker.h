/* SPDX-License-Identifier: Apache-2.0 */
/* The process that talks to one destination for the agent: HTTP, TLS, HTTP/2, gzip, protobuf and JSON of its answers are
 * read here, without privileges (worker_sandbox.h).
 *
 *	agent: transport ──http_order──▶ worker: transport_worker_main() ──▶ destination
 *	                 ◀──transport_result──                           ◀──
 *
 * It lives as long as its destination's exporter, so that the connection stays open between requests. */
#ifndef OTLP_TRANSPORT_WORKER_H
#define OTLP_TRANSPORT_WORKER_H

#include <stddef.h>

#define TRANSPORT_WORKER_COMMAND "transport-worker" /* argv[1] */
#define TRANSPORT_WORKER_BODY_MAX_BYTES ((size_t)80 << 20)
#define TRANSPORT_WORKER_DATA_BYTES                                                                \
	((size_t)192 << 20) /* RLIMIT_DATA: one request, its threads' stacks, TLS */

/* What the command does: answers until the socket is closed. Returns the exit status. */
int transport_worker_main(void);

#endif
