/* SPDX-License-Identifier: Apache-2.0 */
/* One perf map or jitdump of one process, read bit by bit as it grows, by a worker (jit_worker.h):
 * here is what to ask the worker for, and what becomes of its answers. Of the file itself only its
 * size and its time are looked at.
 *
 * Only what is behind the last complete line or record is read. A file that is written anew is
 * noticed: it has become shorter, its time has changed but not its length, or what was before the
 * place where reading stopped is not there any more. It is read from its start then, and what was
 * known answers until its end is reached. */
#ifndef SYMBOL_JIT_JIT_SOURCE_H
#define SYMBOL_JIT_JIT_SOURCE_H

#include "symbol/jit/jit_functions.h"
#include "symbol/jit/jit_worker.h"
#include "symbol/opener/file_opener.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define JIT_MAX_FILE_BYTES ((size_t)256 << 20) /* beyond it nothing is read */

struct jit_source {
	enum jit_source_kind kind;
	int fd; /* owned; negative: none now */
	struct file_identity identity; /* of which device and inode count */
	struct jit_place place; /* up to where it was read */
	uint64_t nr_starts; /* at the file's beginning; answers to older requests are out of date */
	int64_t mtime_ns; /* when it was read last */
	int64_t asked_mtime_ns; /* when it was asked for last */
	bool has_ended; /* nothing more is read: damaged, or its functions are at their limit */
	bool is_too_large;
	bool has_more; /* to be read as far as is known */
	uint64_t nr_read; /* bytes of the file, for the last answer */
	struct jit_functions *functions; /* owned; NULL: none yet */
	struct jit_functions *previous; /* owned; of the file before it was written anew */
	uint64_t nr_bad; /* this and the next: up to now, for the owner to collect */
	uint64_t nr_dropped;
	uint64_t nr_too_large;
};

/* A file that grows stays the same one. */
bool jit_source_is_same_file(const struct file_identity *a, const struct file_identity *b);

void jit_source_init(struct jit_source *source, enum jit_source_kind kind);
void jit_source_done(struct jit_source *source);

/* Reads from that file from now on, whose descriptor is taken over: on if it is the same one, else
 * anew. */
void jit_source_set_file(struct jit_source *source, int fd, const struct file_identity *identity);

/* Whether there is something to read now; then what to ask for, `max_read` bytes at most. */
bool jit_source_ask(struct jit_source *source, uint64_t max_read, struct jit_request *ret_request);

/* Takes over the answer to what was asked for last, unless the source has been started anew since.
 * Functions may have `max_bytes`. Errors: -EBADMSG this is no answer; -ENOMEM: the same is asked
 * for next time. */
int jit_source_take(struct jit_source *source, const struct jit_request *request, const void *bytes,
		    size_t len, size_t max_bytes) must_check;

bool jit_source_find(const struct jit_source *source, uint64_t address,
		     struct jit_found *ret_found);

/* Starts at the file's beginning; what was known goes on answering until its end is reached. */
void jit_source_restart(struct jit_source *source);

/* Forgets all functions; the file is read from its beginning. */
void jit_source_drop(struct jit_source *source);

void jit_source_close(struct jit_source *source);

size_t jit_source_bytes(const struct jit_source *source);
size_t jit_source_count(const struct jit_source *source);

#endif
