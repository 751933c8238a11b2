/* SPDX-License-Identifier: Apache-2.0 */
/* One request in a file: a head of fixed length, then the compressed body. The head has its own
 * checksum, so that lost samples can be counted if the body is damaged.
 *
 *	00001700000000000042.spool		a request; the number orders them
 *	00001700000000000042.spool-temp		one that is being written */
#ifndef OTLP_DELIVERY_SPOOL_FILE_H
#define OTLP_DELIVERY_SPOOL_FILE_H

#include "base/err.h"
#include "base/strbuf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Maximum length of a body, plain or compressed. */
#define SPOOL_BODY_MAX_BYTES ((size_t)128 << 20)

#define SPOOL_FILE_HEAD_BYTES 88

/* The largest number of a file: nanoseconds until the year 2262. */
#define SPOOL_FILE_SEQ_MAX ((uint64_t)INT64_MAX)

/* Data of a request besides its body. */
struct spool_item {
	uint64_t nr_samples; /* that were taken */
	uint64_t time_unix_ns; /* of its first sample */
	uint32_t nr_profiles;
	uint32_t cost_bytes; /* cost against a destination's rate limit */
	/* For the caller; kept in memory only, initially 0. */
	uint32_t nr_failures;
	uint64_t mark;
};

/* Content of the head. */
struct spool_file {
	struct spool_item item; /* nr_failures and mark are 0 */
	uint32_t format;
	uint64_t packed_bytes; /* of the body, compressed */
	uint64_t body_bytes;
};

enum spool_file_kind {
	SPOOL_FILE_FOREIGN,
	SPOOL_FILE_REQUEST,
	SPOOL_FILE_TEMP,
};

/* Returns the kind of a file by its name, and sets its number unless it is foreign. */
enum spool_file_kind spool_file_kind_of(const char *name, uint64_t *ret_seq);

/* Writes a file (0600) under another name and renames it; does not sync the directory. On failure
 * nothing of it is left. Errors: -EOVERFLOW the number is too large; those of openat(2), write(2),
 * fdatasync(2) and renameat(2). */
int spool_file_write(int dir_fd, uint64_t seq, const struct spool_file *file, const void *packed)
	must_check;

/* Reads the head. `ret_is_whole`: whether the file is as long as the head says. Errors: -EBADMSG
 * there is no head, or a damaged one; -ENOENT the file is not ours: it does not exist, is no
 * regular file, belongs to another user or may be written by one, or has another version; -ENOMEM,
 * also for too many open files; those of openat(2) and read(2). */
int spool_file_read_head(int dir_fd, uint64_t seq, struct spool_file *ret_file, bool *ret_is_whole)
	must_check;

/* Appends the body. Errors: as above, and -EBADMSG also for a damaged body; -ENOSPC it is longer
 * than `body` may be. */
int spool_file_read_body(int dir_fd, uint64_t seq, struct strbuf *body) must_check;

/* Errors: -EOVERFLOW the number is too large; those of renameat(2). */
int spool_file_rename(int dir_fd, uint64_t from_seq, uint64_t to_seq) must_check;
void spool_file_remove(int dir_fd, uint64_t seq);

#endif
