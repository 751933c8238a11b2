/* SPDX-License-Identifier: Apache-2.0 */
/* The process that reads JIT compilers' lists of functions:
 *
 *	agent: jit_client.c, jit_source.c ──struct jit_request, file──▶ worker: jit_worker_main()
 *	                                  ◀──struct jit_answer, block──
 *
 * The files are written by the profiled processes, so the agent does not read them itself. As with
 * ELF files (symbol_worker.h), a separate process does, `flamelet jit-worker`. It keeps no state
 * between requests: a request contains the position in the file, and the answer the next one. */
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
#define JIT_PIECE_BYTES ((size_t)64 << 10) /* size of a piece of the file that is read at once */
#define JIT_ANSWER_MAX_BYTES ((size_t)4 << 20) /* the next request reads the rest */

/* Limit of the worker's memory (RLIMIT_DATA): two answers, because a growing buffer is copied, and
 * the data that they are made of. */
#define JIT_WORKER_MAX_DATA_BYTES ((size_t)16 << 20)

enum jit_request_kind {
	/* Reads what was added to a file. fds: the file. Bytes: struct jit_request. Reply: struct
	 * jit_answer, followed by a block. */
	JIT_REQUEST_READ,
};

enum jit_source_kind {
	JIT_SOURCE_DUMP,
	JIT_SOURCE_MAP,
	JIT_SOURCE_KINDS,
};

/* A position in a file; starts as { 0 }. */
struct jit_place {
	uint64_t offset;
	struct perf_map_reader map; /* used for a perf map */
	uint32_t tail_len;
	struct jitdump_reader dump; /* used for a jitdump */
	char tail[JIT_TAIL_BYTES]; /* bytes before `offset`, to detect a rewritten file */
};

struct jit_request {
	uint32_t source; /* enum jit_source_kind */
	uint8_t is_java; /* 1: the names are those of a Java VM */
	uint8_t compares_tail; /* 1: the file may have been rewritten */
	uint16_t unused;
	uint64_t size; /* of the file; nothing after it is read */
	uint64_t max_read; /* bytes; the last piece may exceed it */
	struct jit_place place;
};

struct jit_answer {
	/* 1: the bytes before `offset` have changed, and nothing was read */
	uint8_t is_rewritten;
	uint8_t is_damaged; /* 1: the file is malformed from `place` on */
	uint8_t has_more; /* 1: reading stopped at max_read or max_bytes */
	uint8_t unused[5];
	uint64_t nr_read; /* bytes */
	uint64_t nr_bad; /* malformed lines or records */
	struct jit_place place;
};

/* The command `flamelet jit-worker`: answers requests until the socket is closed. Returns the exit
 * status. */
int jit_worker_main(void);

/* Appends the answer to one request to `reply`, which is empty and limited to max_bytes; `data` is
 * unused. A file that cannot be read counts as one to which nothing was added. Errors: -EINVAL
 * malformed request, -ENOSPC max_bytes is too small for any answer, -ENOMEM. */
int jit_worker_read(struct worker_call *call, struct strbuf *reply, void *data) must_check;

/* Checks the answer to a request and the block after it. `bytes` must be aligned as malloc() does.
 * Errors: -EBADMSG invalid answer. */
int jit_answer_open(const struct jit_request *request, const void *bytes, size_t len,
		    struct jit_answer *ret_answer, struct jit_block_view *ret_view) must_check;

#endif
