/* SPDX-License-Identifier: Apache-2.0 */
/* A perf map or jitdump of one process, which a worker (jit_worker.h) reads in pieces as it grows.
 * This file makes the requests and handles the answers. The agent itself only looks at the size and
 * the modification time of the file.
 *
 * Each request continues after the last complete line or record. A file that was rewritten is
 * detected: it has become shorter, its time has changed but not its length, or the bytes before the
 * current position have changed. It is then read from its start. The old functions stay in use
 * until its end is reached. */
#ifndef SYMBOL_JIT_JIT_SOURCE_H
#define SYMBOL_JIT_JIT_SOURCE_H

#include "symbol/jit/jit_functions.h"
#include "symbol/jit/jit_worker.h"
#include "symbol/opener/file_opener.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define JIT_MAX_FILE_BYTES ((size_t)256 << 20) /* larger files are not read */

struct jit_source {
	enum jit_source_kind kind;
	int fd; /* owned; negative: none */
	struct file_identity identity; /* only device and inode are compared */
	struct jit_place place; /* current position in the file */
	/* number of times that reading began at the file's start; makes older requests obsolete */
	uint64_t nr_starts;
	int64_t mtime_ns; /* of the file, at the last answer */
	int64_t asked_mtime_ns; /* of the file, at the last request */
	bool has_ended; /* not read further: damaged, or its functions are at their limit */
	bool is_too_large;
	bool has_more; /* there may be more to read */
	uint64_t nr_read; /* bytes that the worker read for the last answer */
	struct jit_functions *functions; /* owned; NULL: none yet */
	struct jit_functions *previous; /* owned; of the file before it was rewritten */
	/* counters since the owner collected them last */
	uint64_t nr_bad;
	uint64_t nr_dropped;
	uint64_t nr_too_large;
};

/* Compares files without their size, because they grow. */
bool jit_source_is_same_file(const struct file_identity *a, const struct file_identity *b);

void jit_source_init(struct jit_source *source, enum jit_source_kind kind);
void jit_source_done(struct jit_source *source);

/* Sets the file and takes over its descriptor. Reading continues if it is the same file, else it
 * starts again. */
void jit_source_set_file(struct jit_source *source, int fd, const struct file_identity *identity);

/* Returns whether there is something to read now; if so, makes a request for `max_read` bytes at
 * most. */
bool jit_source_ask(struct jit_source *source, uint64_t max_read, struct jit_request *ret_request);

/* Adds the functions of the answer to the last request. The source must not have been restarted
 * since. Functions may use `max_bytes`. Errors: -EBADMSG invalid answer, -ENOMEM; then the next
 * request is the same. */
int jit_source_take(struct jit_source *source, const struct jit_request *request, const void *bytes,
		    size_t len, size_t max_bytes) must_check;

/* Finds the function at an address; returns false if there is none. */
bool jit_source_find(const struct jit_source *source, uint64_t address,
		     struct jit_found *ret_found);

/* Starts at the file's beginning. The old functions stay in use until its end is reached. */
void jit_source_restart(struct jit_source *source);

/* Removes all functions and starts at the file's beginning. */
void jit_source_drop(struct jit_source *source);

/* Closes the file and keeps the functions. */
void jit_source_close(struct jit_source *source);

/* Return the memory in use, and the number of address ranges that have a name. */
size_t jit_source_bytes(const struct jit_source *source);
size_t jit_source_count(const struct jit_source *source);

#endif
