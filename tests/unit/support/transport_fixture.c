/* SPDX-License-Identifier: Apache-2.0 */
#include "transport_fixture.h"

#include "base/clock.h"
#include "unit.h"

#include <stdio.h>
#include <string.h>

#define USER_HEADERS_MAX 8

struct transport_opts local_opts(enum transport_protocol protocol, unsigned int port)
{
	static char endpoint[64];

	snprintf(endpoint, sizeof(endpoint), "http://127.0.0.1:%u", port);
	return (struct transport_opts){
		.protocol = protocol,
		.endpoint = endpoint,
		.timeout_ns = 2 * NSEC_PER_SEC,
	};
}

struct request_outcome send_bytes(const struct transport_opts *opts, const char *told,
				  const void *body, size_t len)
{
	_cleanup_(transport_freep) struct transport *transport = NULL;
	struct transport_opts told_opts = *opts;
	const char *headers[USER_HEADERS_MAX + 1];
	struct request_outcome outcome;
	char line[1024];

	assert_true(opts->nr_headers <= USER_HEADERS_MAX);
	if (opts->nr_headers > 0)
		memcpy(headers, opts->headers, opts->nr_headers * sizeof(headers[0]));
	snprintf(line, sizeof(line), "X-Answer: %s", told ? told : "");
	headers[opts->nr_headers] = line;
	told_opts.headers = headers;
	told_opts.nr_headers += told != NULL;

	assert_int_equal(transport_new(&told_opts, &transport), 0);
	transport_send(transport, body, len, &outcome);
	return outcome;
}

struct request_outcome send_told(const struct transport_opts *opts, const char *told)
{
	return send_bytes(opts, told, DUMMY_BODY, strlen(DUMMY_BODY));
}
