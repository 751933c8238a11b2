/* SPDX-License-Identifier: Apache-2.0 */
/* Messages between the agent and a worker over a SOCK_STREAM socket pair. Requests and replies
 * alternate; each is a struct and the bytes that follow it. A request's descriptors come with its
 * first byte.
 *
 * Both ends are the same program, so the structs are in host byte order. Both check the other's
 * lengths. */
#ifndef WORKER_CHANNEL_H
#define WORKER_CHANNEL_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

#define WORKER_MAX_FDS 4 /* of a request */

struct worker_request {
	uint32_t kind; /* type of request; each worker defines its own */
	uint32_t nr_bytes; /* behind this struct */
	/* Identifies the subject of the request, so that the worker may cache data for further
	 * requests about it. Each worker defines the meaning of 0. */
	uint64_t key;
	uint64_t max_bytes; /* of the reply */
};

struct worker_reply {
	int32_t error; /* 0, or a negative errno, after which no bytes follow */
	uint32_t nr_bytes; /* behind this struct */
	/* 1: the worker ends now to release its memory; the next request needs a new one. */
	uint32_t is_last;
};

/* A request that a worker received. */
struct worker_call {
	struct worker_request request;
	char *bytes; /* owned, request.nr_bytes of them and a NUL; NULL when there are none */
	size_t nr_fds;
	int fds[WORKER_MAX_FDS]; /* owned; closed on exec */
};

/* Sends all of it before `until_ns` (CLOCK_MONOTONIC). `bytes` are request->nr_bytes. Errors:
 * -EINVAL too many descriptors, -EPIPE the other end is closed, -ETIMEDOUT, errors of sendmsg(2).
 * After an error, part of it may have been sent. */
int worker_channel_send_request(int socket, const struct worker_request *request, const void *bytes,
				const int *fds, size_t nr_fds, uint64_t until_ns) must_check;

/* Waits for a request with at most `max_bytes` bytes. Returns 1, or 0 if the other end has closed.
 * Errors: -EBADMSG an invalid, too long or incomplete request; -ENOMEM; errors of recvmsg(2). */
int worker_channel_receive_request(int socket, uint32_t max_bytes, struct worker_call *ret_call)
	must_check;

/* Closes the remaining descriptors and frees the bytes. */
void worker_call_done(struct worker_call *call);

/* Sends a reply without a time limit. Only uses sendmsg(). Errors: those of sendmsg(2). */
int worker_channel_send_reply(int socket, const struct worker_reply *reply, const void *bytes)
	must_check;

/* A reply that arrives in pieces. */
struct worker_reply_reader {
	struct worker_reply reply;
	size_t nr_read; /* of the struct and the bytes */
	uint64_t max_bytes;
	char *bytes; /* owned; NULL before the struct was read, and without bytes */
};

static inline struct worker_reply_reader worker_reply_reader_with_max(uint64_t max_bytes)
{
	return (struct worker_reply_reader){ .max_bytes = max_bytes };
}

void worker_reply_reader_done(struct worker_reply_reader *reader);

/* Reads the data that has arrived, without waiting. Returns 1 if the reply is complete, else 0.
 * Errors: -EPIPE the other end has closed, -EBADMSG an invalid or too long reply, -ENOMEM, errors
 * of recv(2). */
int worker_reply_reader_read(struct worker_reply_reader *reader, int socket) must_check;

#endif
