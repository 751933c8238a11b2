/* SPDX-License-Identifier: Apache-2.0 */
/* How requests and replies (symbol_worker.h) travel through the socket: each is its struct and what follows it;
 * a request's descriptors come with its first byte. Neither end believes the other's lengths. */
#ifndef SYMBOL_SYMBOL_CHANNEL_H
#define SYMBOL_SYMBOL_CHANNEL_H

#include "base/err.h"
#include "symbol/symbol_worker.h"

#include <stddef.h>
#include <stdint.h>

/* A request as the worker has it. */
struct symbol_call {
	struct symbol_request request;
	size_t nr_fds;
	int fds[SYMBOL_REQUEST_MAX_FDS]; /* owned; closed on exec */
	uint64_t addresses[SYMBOL_REQUEST_MAX_ADDRESSES];
};

/* Sends all of it before `until_ns` (CLOCK_MONOTONIC). Errors: -EINVAL too many addresses or descriptors,
 * -EPIPE nobody there, -ETIMEDOUT, what sendmsg(2) says; part of it may have been sent then. */
int symbol_channel_send_request(int socket, const struct symbol_request *request,
				const uint64_t *addresses, const int *fds, size_t nr_fds,
				uint64_t until_ns) must_check;

/* Waits for a request. Returns 1; 0 when the other end has closed. Errors: -EBADMSG not a request,
 * or one that ends early; what recvmsg(2) says. Uses nothing but recvmsg() and close(). */
int symbol_channel_receive_request(int socket, struct symbol_call *ret_call) must_check;

/* Closes the descriptors. */
void symbol_call_done(struct symbol_call *call);

/* Sends it, waits as long as that takes. Errors: what sendmsg(2) says. Uses nothing but sendmsg(). */
int symbol_channel_send_reply(int socket, const struct symbol_reply *reply, const void *bytes)
	must_check;

/* A reply that arrives in pieces. */
struct symbol_reply_reader {
	struct symbol_reply reply;
	size_t nr_read; /* of the struct and what follows it */
	uint64_t max_bytes;
	char *bytes; /* owned; once the struct is there, and if anything follows it */
};

static inline struct symbol_reply_reader symbol_reply_reader_with_max(uint64_t max_bytes)
{
	return (struct symbol_reply_reader){ .max_bytes = max_bytes };
}

void symbol_reply_reader_done(struct symbol_reply_reader *reader);

/* Reads what has arrived; does not wait. Returns 1 when the reply is whole, 0 when it is not yet.
 * Errors: -EPIPE the other end has closed, -EBADMSG not a reply, or a longer one than it may be, -ENOMEM, what
 * recv(2) says. */
int symbol_reply_reader_read(struct symbol_reply_reader *reader, int socket) must_check;

#endif
