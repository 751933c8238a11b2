/* SPDX-License-Identifier: Apache-2.0 */
/* How requests and replies travel between the agent and a worker: each is a struct and the bytes
 * that follow it; a request's descriptors come with its first byte. Requests and replies
 * alternate, over a SOCK_STREAM socket pair.
 *
 * Both ends are the same program, so the structs are in host byte order. Neither end believes
 * the other's lengths. */
#ifndef WORKER_CHANNEL_H
#define WORKER_CHANNEL_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

#define WORKER_MAX_FDS 4 /* of a request */

struct worker_request {
	uint32_t kind; /* what is asked; each worker has its own list */
	uint32_t nr_bytes; /* behind this struct */
	/* Of what the request is about: the same in each request about it, so that the worker
	 * may keep what it has read. What 0 means is each worker's to say. */
	uint64_t key;
	uint64_t max_bytes; /* of the reply */
};

struct worker_reply {
	int32_t error; /* 0 or negative errno; then nothing follows */
	uint32_t nr_bytes; /* behind this struct */
	/* 1: the worker ends now, to give its memory back; the next request is for a new one. */
	uint32_t is_last;
};

/* A request as the worker has it. */
struct worker_call {
	struct worker_request request;
	char *bytes; /* owned, request.nr_bytes of them and a NUL; NULL when there are none */
	size_t nr_fds;
	int fds[WORKER_MAX_FDS]; /* owned; closed on exec */
};

/* Sends all of it before `until_ns` (CLOCK_MONOTONIC). `bytes` are request->nr_bytes. Errors:
 * -EINVAL too many descriptors, -EPIPE nobody there, -ETIMEDOUT, what sendmsg(2) says; part of
 * it may have been sent then. */
int worker_channel_send_request(int socket, const struct worker_request *request, const void *bytes,
				const int *fds, size_t nr_fds, uint64_t until_ns) must_check;

/* Waits for a request, with `max_bytes` behind it at most. Returns 1; 0 when the other end has
 * closed. Errors: -EBADMSG not a request, one that is too long, or one that ends early; -ENOMEM;
 * what recvmsg(2) says. */
int worker_channel_receive_request(int socket, uint32_t max_bytes, struct worker_call *ret_call)
	must_check;

/* Closes the descriptors that nobody took, and frees the bytes. */
void worker_call_done(struct worker_call *call);

/* Sends it, waits as long as that takes. Errors: what sendmsg(2) says. Uses nothing but
 * sendmsg(). */
int worker_channel_send_reply(int socket, const struct worker_reply *reply, const void *bytes)
	must_check;

/* A reply that arrives in pieces. */
struct worker_reply_reader {
	struct worker_reply reply;
	size_t nr_read; /* of the struct and what follows it */
	uint64_t max_bytes;
	char *bytes; /* owned; once the struct is there, and if anything follows it */
};

static inline struct worker_reply_reader worker_reply_reader_with_max(uint64_t max_bytes)
{
	return (struct worker_reply_reader){ .max_bytes = max_bytes };
}

void worker_reply_reader_done(struct worker_reply_reader *reader);

/* Reads what has arrived; does not wait. Returns 1 when the reply is whole, 0 when it is not yet.
 * Errors: -EPIPE the other end has closed, -EBADMSG not a reply, or a longer one than it may be,
 * -ENOMEM, what recv(2) says. */
int worker_reply_reader_read(struct worker_reply_reader *reader, int socket) must_check;

#endif
