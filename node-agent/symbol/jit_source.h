/* SPDX-License-Identifier: Apache-2.0 */
/* One perf map or jitdump of one process, read bit by bit as it grows.
 *
 * Only what is behind the last complete line or record is read. A file that is written anew is noticed: it has
 * become shorter, its time has changed but not its length, or what was before the place where reading stopped is
 * not there any more. It is read from its start then, and what was known answers until its end is reached. */
#ifndef SYMBOL_JIT_SOURCE_H
#define SYMBOL_JIT_SOURCE_H

#include "symbol/file_opener.h"
#include "symbol/jit_functions.h"
#include "symbol/jitdump.h"
#include "symbol/perf_map.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define JIT_SOURCE_TAIL_BYTES 128

enum jit_source_kind {
	JIT_SOURCE_DUMP,
	JIT_SOURCE_MAP,
	JIT_SOURCE_KINDS,
};

struct jit_source {
	enum jit_source_kind kind;
	int fd; /* owned; negative: none now */
	struct file_identity identity; /* of which device and inode count */
	uint64_t offset; /* up to where it was read */
	int64_t mtime_ns; /* when it was read last */
	char tail[JIT_SOURCE_TAIL_BYTES]; /* what is before `offset` */
	size_t tail_len;
	bool has_ended; /* nothing more is read: damaged, or its functions are at their limit */
	bool is_too_large;
	bool has_more; /* the budget ended before the file */
	struct perf_map_reader map_reader;
	struct jitdump_reader dump_reader;
	struct jit_functions *functions; /* owned; NULL: none yet */
	struct jit_functions *previous; /* owned; of the file before it was written anew */
	uint64_t nr_bad; /* this and the next: up to now, for the owner to collect */
	uint64_t nr_dropped;
	uint64_t nr_too_large;
};

/* What reading may take. */
struct jit_budget {
	size_t max_functions_bytes; /* memory of a source's functions */
	size_t file_bytes; /* to be read from a file in one go */
	size_t nr_bytes_left; /* to be read in all; counts down */
	char *buffer; /* borrowed, JIT_BUDGET_BUFFER_BYTES */
};

#define JIT_BUDGET_BUFFER_BYTES ((size_t)64 << 10)

/* A file that grows stays the same one. */
bool jit_source_is_same_file(const struct file_identity *a, const struct file_identity *b);

void jit_source_init(struct jit_source *source, enum jit_source_kind kind);
void jit_source_done(struct jit_source *source);

/* Reads from that file from now on, whose descriptor is taken over: on if it is the same one, else anew. */
void jit_source_set_file(struct jit_source *source, int fd, const struct file_identity *identity);

/* Reads what is new. Errors: -ENOMEM: the rest is read next time. */
int jit_source_read(struct jit_source *source, struct jit_budget *budget) must_check;

bool jit_source_find(const struct jit_source *source, uint64_t address,
		     struct jit_found *ret_found);

/* Forgets all functions; the next jit_source_read() starts at the beginning. */
void jit_source_drop(struct jit_source *source);

void jit_source_close(struct jit_source *source);

size_t jit_source_bytes(const struct jit_source *source);
size_t jit_source_count(const struct jit_source *source);

#endif
