/* SPDX-License-Identifier: Apache-2.0 */
/* Sends one request with a transport to a stand-in, which is told in a header what to answer
 * (tests/standin/told_answer.py). */
#ifndef TESTS_UNIT_TRANSPORT_FIXTURE_H
#define TESTS_UNIT_TRANSPORT_FIXTURE_H

#include "otlp/transport/transport.h"

/* Plain bytes, no profile. */
#define DUMMY_BODY "dummy body"

/* As for the tests' opts: 2 s, uncompressed, http://127.0.0.1:port. The endpoint lives as long as
 * the program does not ask for the next. */
struct transport_opts local_opts(enum transport_protocol protocol, unsigned int port);

/* Sends `len` bytes by a transport made for it; `told` NULL: nothing is ordered. */
struct request_outcome send_bytes(const struct transport_opts *opts, const char *told,
				  const void *body, size_t len);

/* The same with DUMMY_BODY. */
struct request_outcome send_told(const struct transport_opts *opts, const char *told);

#endif
