/* SPDX-License-Identifier: Apache-2.0 */
/* Encoded requests that wait to be delivered, oldest first. They are in memory while all goes well,
 * and on disk when it does not.
 *
 * Bodies are compressed with zstd. spool_save() moves the requests in memory to the directory, one
 * file each (spool_file.h). A file is written under another name, synced and renamed, so that each
 * file is whole, survives kill -9 and is found by the next spool_open(). A file that is damaged all
 * the same is dropped and counted. When the bounds are exceeded, the oldest requests are dropped.
 * If the machine fails, a request that was delivered may be delivered again, but none is lost that
 * was saved.
 *
 * Belongs to one thread; spool_get_stats() may be called from any. */
#ifndef OTLP_DELIVERY_SPOOL_H
#define OTLP_DELIVERY_SPOOL_H

#include "base/cleanup.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "otlp/delivery/spool_file.h"

#include <stddef.h>
#include <stdint.h>

#define SPOOL_MAX_REQUESTS 65536

struct spool_opts {
	const char *dir; /* made when missing (0700), its parent must be there; NULL: memory only */
	uint64_t max_bytes; /* of all requests as files, whether they are written or not */
	uint64_t max_memory_bytes; /* with `dir`: more than that in memory is saved at once */
	uint32_t format; /* what bodies are, the caller's number: files of others are left alone */
};

/* The first four are gauges, the others only grow. Samples appended + restored = popped + evicted +
 * damaged + waiting; a file that does not tell its samples any more counts none on either side. */
struct spool_stats {
	uint64_t nr_requests, nr_samples; /* waiting now */
	uint64_t nr_disk_bytes, nr_memory_bytes; /* as files */
	uint64_t nr_samples_restored; /* found at the start */
	uint64_t nr_samples_evicted; /* over the bounds, or no memory */
	uint64_t nr_samples_damaged, nr_files_damaged; /* samples: as far as the file still told */
	uint64_t nr_write_failures; /* spool_save() failed, disk full and the like */
};

struct spool;

/* Opens the directory and finds the requests that an earlier process left. Errors: -EBUSY another
 * process has the directory; those of own_dir_open(), which can say more, such as -EPERM if another
 * user could change the directory; -EROFS and -EACCES if nothing can be written; -ENOMEM. */
int spool_open(const struct spool_opts *opts, struct spool **ret_spool) must_check;
/* Loses the requests that are only in memory: call spool_save() before. NULL is fine. */
void spool_close(struct spool *spool);
DEFINE_FREEP(struct spool, spool_close)

/* Adds a copy of a request at the end. If more than max_memory_bytes are in memory and cannot be
 * saved, the oldest requests in memory are evicted; those on disk stay. Errors, all counted as
 * evicted: -ENOMEM; -ENOSPC this request alone exceeds the bounds. */
int spool_append(struct spool *spool, const struct spool_item *item, const void *body, size_t len)
	must_check;

/* Returns the oldest request, or NULL. The caller may change nr_failures and mark. It is valid
 * until the next call of any function but spool_read(). */
struct spool_item *spool_first(struct spool *spool);

/* Appends the body of the oldest request. Errors: -ENOENT there is none; -ENOMEM, also for too many
 * open files; -ENOSPC the body is longer than `body` may be. All other errors mean that the file
 * cannot be read, so the caller calls spool_drop_damaged() next: -EBADMSG, and errors of open(2)
 * and read(2). */
int spool_read(struct spool *spool, struct strbuf *body) must_check;

/* Removes the oldest request, which was delivered or is not to be delivered. This function and the
 * next three do nothing if there is none. */
void spool_pop(struct spool *spool);
/* Removes the oldest request and counts it as damaged. */
void spool_drop_damaged(struct spool *spool);
/* Removes the requests that are only in memory; returns how many samples they had. */
uint64_t spool_drop_unsaved(struct spool *spool);
/* Moves the oldest request to the end. */
void spool_rotate(struct spool *spool);

/* Writes everything to disk; when it returns 0, it is safe there. Does nothing without a directory.
 * Errors, which are counted: those of openat(2), write(2), fdatasync(2) and renameat(2). What could
 * not be written stays in memory. */
int spool_save(struct spool *spool) must_check;

struct spool_stats spool_get_stats(const struct spool *spool);

#endif
