/* SPDX-License-Identifier: Apache-2.0 */
/* Asks an agent for its health without an HTTP library: a probe does this every ten seconds and
 * should be cheap. */
#ifndef SELFMON_HEALTH_CLIENT_H
#define SELFMON_HEALTH_CLIENT_H

#include "base/err.h"
#include "selfmon/listen_address.h"

#include <stddef.h>
#include <stdint.h>

#define HEALTH_TEXT_BYTES 256

struct health_answer {
	unsigned int status; /* HTTP's */
	/* the first line of what it says, fit for a terminal; may be "" */
	char text[HEALTH_TEXT_BYTES];
};

/* Takes an HTTP answer apart; it may end too early. Errors: -EBADMSG. */
int health_answer_parse(const char *bytes, size_t len, struct health_answer *ret_answer) must_check;

/* Asks for a page, "/healthz" or "/readyz". Errors: -ETIMEDOUT when it is not over at
 * `deadline_ns` (CLOCK_MONOTONIC), -EBADMSG, what socket(2), connect(2), send(2) and recv(2)
 * say. */
int health_ask(const struct listen_address *address, const char *page, uint64_t deadline_ns,
	       struct health_answer *ret_answer) must_check;

#endif
