/* SPDX-License-Identifier: Apache-2.0 */
/* The process that sends requests to one destination for the agent. It parses HTTP, TLS, HTTP/2,
 * gzip, protobuf and JSON of the answers without privileges (worker_sandbox.h).
 *
 *	agent: transport ──http_order──▶ worker: transport_worker_main() ──▶ destination
 *	                 ◀──transport_result──                           ◀──
 *
 * It lives as long as its destination's exporter, so that the connection stays open between
 * requests. */
#ifndef OTLP_TRANSPORT_TRANSPORT_WORKER_H
#define OTLP_TRANSPORT_TRANSPORT_WORKER_H

#include <stddef.h>

#define TRANSPORT_WORKER_COMMAND "transport-worker" /* argv[1] */
#define TRANSPORT_WORKER_BODY_MAX_BYTES ((size_t)80 << 20)

/* Its memory (RLIMIT_DATA): one request of up to 88 MB (HTTP_ORDER_MAX_REST_BYTES), a thread's
 * stack (8 MB), TLS and HTTP/2. With the usual requests it takes less than 10 MB. */
#define TRANSPORT_WORKER_DATA_BYTES ((size_t)128 << 20)

/* Runs the command: answers requests until the socket is closed. Returns the exit status. */
int transport_worker_main(void);

#endif
