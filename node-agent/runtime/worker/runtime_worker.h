/* SPDX-License-Identifier: Apache-2.0 */
/* The process that reads language runtimes: their files, and the memory of processes:
 *
 *	agent: runtime/client ──request, open file or memory──▶ worker: runtime_worker_main()
 *	                      ◀──struct, or frames──────────────
 *
 * The memory is written by the profiled processes, and reading it may take for ever
 * (process_memory.h). So a separate process reads it, `flamelet runtime-worker`, which may be
 * killed at any moment. It keeps no state between requests. */
#ifndef RUNTIME_WORKER_RUNTIME_WORKER_H
#define RUNTIME_WORKER_RUNTIME_WORKER_H

#include "base/err.h"
#include "base/strbuf.h"
#include "bpf/shared/code_copy.h"
#include "runtime/runtime.h"
#include "worker/worker_channel.h"

#include <stddef.h>
#include <stdint.h>

#define RUNTIME_WORKER_COMMAND "runtime-worker" /* argv[1] */

#define RUNTIME_MAX_SEGMENTS 4
#define RUNTIME_MAX_FRAMES 128 /* of one request */
#define RUNTIME_NAMES_MAX_BYTES ((size_t)1 << 20) /* of the reply; one frame always fits */

/* The bytes of a process that one request may read: a JavaScript source has up to 16 MB. */
#define RUNTIME_MAX_READ_BYTES ((uint64_t)64 << 20)

/* Limit of the worker's memory (RLIMIT_DATA). It has room for what is read of a file or a process,
 * and for two replies, because a growing buffer is copied. */
#define RUNTIME_WORKER_MAX_DATA_BYTES ((size_t)96 << 20)

enum runtime_request_kind {
	/* Asks whether a file is a runtime. fds: the ELF file. Bytes: struct runtime_file_request.
	 * Reply: struct runtime_file_answer, with RUNTIME_NONE if it is none. */
	RUNTIME_REQUEST_FILE,
	/* Inspects the runtime of a process. fds: its memory. Bytes: struct
	 * runtime_process_request. Reply: struct runtime_found. */
	RUNTIME_REQUEST_PROCESS,
	/* Names frames. fds: the process's memory. Bytes: struct runtime_names_request and the
	 * frames' words. Reply: frames (frame_writer.h) in the order of the request; the last ones
	 * may be missing if the reply would be too long, or once half of the permitted bytes were
	 * read. */
	RUNTIME_REQUEST_NAMES,
	/* The same without fds, of frames whose code objects were copied, which may be of several
	 * processes. Behind the words of each frame are the length of the copy (u32), and the copy
	 * (bpf/shared/code_copy.h). The length is 0 if it is that of the frame before. */
	RUNTIME_REQUEST_COPIES,
};

struct runtime_file_request {
	uint32_t kinds; /* those that are wanted: 1 << enum runtime_kind */
};

/* A part of a file that is mapped executable. */
struct runtime_segment {
	uint64_t offset; /* in the file */
	uint64_t nr_bytes;
	uint64_t address; /* virtual address of the file */
};

struct runtime_file_answer {
	struct runtime_file file;
	uint32_t nr_segments;
	uint32_t pad;
	struct runtime_segment segments[RUNTIME_MAX_SEGMENTS]; /* the first ones */
};

struct runtime_process_request {
	struct runtime_file file;
	uint64_t bias; /* see runtime_ops.inspect() */
};

struct runtime_names_request {
	uint32_t kind; /* enum runtime_kind */
	uint32_t nr_frames; /* 1 to RUNTIME_MAX_FRAMES */
	uint64_t naming[RUNTIME_NAMING_VALUES];
};

#define RUNTIME_REQUEST_MAX_BYTES                                                                  \
	(sizeof(struct runtime_names_request) +                                                    \
	 (size_t)RUNTIME_MAX_FRAMES * (RUNTIME_MAX_WORDS * sizeof(uint64_t) + sizeof(uint32_t) +   \
				       sizeof(struct code_copy)))

/* The command `flamelet runtime-worker`: answers requests until the socket is closed. Returns the
 * exit status. */
int runtime_worker_main(void);

/* Appends the answer to one request to `reply`, which is empty and limited to max_bytes. `data` is
 * an array of RUNTIME_NR_KINDS pointers to struct runtime_ops by kind; NULL: a runtime that cannot
 * be read. A frame that cannot be named has no lines. Errors: -EINVAL malformed request, -ENOSPC
 * max_bytes is too small for any answer, -EBADMSG a damaged file, -ENOMEM; those of inspect(). */
int runtime_worker_answer(struct worker_call *call, struct strbuf *reply, void *data) must_check;

/* Check a reply on the agent's side, and copy it. In the copy, all values are in their ranges, and
 * the reason is printable and ends with a NUL. Without has_process, `process` is empty but for its
 * kind. `kinds` are those of the request. Errors: -EBADMSG. */
int runtime_answer_file(const void *bytes, size_t len, uint32_t kinds,
			struct runtime_file_answer *ret_answer) must_check;
int runtime_answer_process(const void *bytes, size_t len, const struct runtime_file *file,
			   struct runtime_found *ret_found) must_check;

#endif
