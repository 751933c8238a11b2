/* SPDX-License-Identifier: Apache-2.0 */
/* The process that reads what JIT compilers tell of their functions:
 *
 *	agent: jit_loader.c, jit_source.c ──struct jit_request, file──▶ worker: jit_worker_main()
 *	                                  ◀──struct jit_answer, block──
 *
 * The files are written by whoever is profiled, so a process of its own reads them, `flamelet
 * jit-worker`, as the symbol worker does with ELF files (symbol_worker.h); the agent does not look
 * at a byte of them. The worker keeps nothing between requests: where the reading of a file stands
 * goes back and forth in plain numbers. */
#ifndef SYMBOL_JIT_JIT_WORKER_H
#define SYMBOL_JIT_JIT_WORKER_H

#include "base/err.h"
#include "base/strbuf.h"
#include "symbol/jit/jit_block.h"
#include "symbol/jit/jitdump.h"
#include "symbol/jit/perf_map.h"
#include "worker/worker_channel.h"

#include <stddef.h>
#include <stdint.h>

#define JIT_WORKER_COMMAND "jit-worker" /* argv[1] */
#define JIT_TAIL_BYTES 128
#define JIT_PIECE_BYTES ((size_t)64 << 10) /* that a file is read in */
#define JIT_ANSWER_MAX_BYTES ((size_t)4 << 20) /* what is over it is read by the next request */

/* Its memory (RLIMIT_DATA): two answers, as a buffer that grows is copied,
 * and what they are made of. */
#define JIT_WORKER_MAX_DATA_BYTES ((size_t)16 << 20)

enum jit_request_kind {
	/* What has been added to a file. fds: the file. Bytes: struct jit_request. Reply: struct
	 * jit_answer and, behind it, a block. */
	JIT_REQUEST_READ,
};

enum jit_source_kind {
	JIT_SOURCE_DUMP,
	JIT_SOURCE_MAP,
	JIT_SOURCE_KINDS,
};

/* Up to where a file was read; starts as { 0 }. */
struct jit_place {
	uint64_t offset;
	struct perf_map_reader map; /* this or the next, by the file's kind */
	uint32_t tail_len;
	struct jitdump_reader dump;
	char tail[JIT_TAIL_BYTES]; /* what is before `offset`, to know the file again */
};

struct jit_request {
	uint32_t source; /* enum jit_source_kind */
	uint8_t is_java; /* whose names these are */
	uint8_t compares_tail; /* 1: the file may be another one by now */
	uint16_t unused;
	uint64_t size; /* of the file: what is behind it is not read */
	uint64_t max_read; /* bytes; the last piece may go beyond it */
	struct jit_place place;
};

struct jit_answer {
	/* 1: what was before `offset` is not there any more. Nothing was read then. */
	uint8_t is_rewritten;
	uint8_t is_damaged; /* 1: nothing makes sense from `place` on */
	uint8_t has_more; /* 1: max_read or max_bytes ended the reading */
	uint8_t unused[5];
	uint64_t nr_read; /* bytes */
	uint64_t nr_bad; /* lines or records that say nothing */
	struct jit_place place;
};

/* What the command `flamelet jit-worker` does: answers until the socket is closed.
 * Returns the exit status. */
int jit_worker_main(void);

/* The answer to one request, to a `reply` that is empty and bounded by max_bytes. Errors:
 * -EINVAL not a request, -ENOSPC max_bytes is too small for any answer, -ENOMEM. A file that
 * cannot be read has nothing new. */
int jit_worker_read(struct worker_call *call, struct strbuf *reply, void *data) must_check;

/* Looks at an answer to that request, and at the block behind it. `bytes` are aligned as malloc()
 * does it. Errors: -EBADMSG it cannot be one. */
int jit_answer_open(const struct jit_request *request, const void *bytes, size_t len,
		    struct jit_answer *ret_answer, struct jit_block_view *ret_view) must_check;

#endif
