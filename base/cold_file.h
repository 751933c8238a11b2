/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a file once and leaves the page cache as it was: pages that were not cached before are
 * dropped after they were copied, and nothing is read ahead. Otherwise the agent would be charged
 * for the cache of all programs, since the kernel charges a page to the cgroup that reads it first.
 *
 * Pages that were cached before stay, as another process may have read them. mincore(2) reports
 * them to the owner of a file and to users who may write to it. To others it reports all pages as
 * cached; then nothing is dropped.
 *
 * Pages are dropped some megabytes at a time, because on a busy machine each drop may have to wait
 * for all CPUs.
 *
 * Only uses pread(), mmap() without access, mincore(), munmap() and posix_fadvise(). */
#ifndef BASE_COLD_FILE_H
#define BASE_COLD_FILE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define COLD_FILE_MAX_PAGES 256 /* of one read */
#define COLD_FILE_MAX_RANGES 16
#define COLD_FILE_MAX_BYTES ((uint64_t)8 << 20) /* waiting to be dropped */

struct cold_range {
	uint64_t start; /* bytes, of whole pages */
	uint64_t len;
};

struct cold_file {
	int fd; /* borrowed */
	struct cold_range ranges[COLD_FILE_MAX_RANGES]; /* were not cached before */
	size_t nr_ranges;
	uint64_t nr_bytes; /* of them */
};

/* Turns off read-ahead, also for other descriptors of the same open file. */
void cold_file_init(struct cold_file *file, int fd);

/* Drops the remaining pages. The descriptor must still be open. */
void cold_file_done(struct cold_file *file);

/* As pread(2), at most COLD_FILE_MAX_PAGES pages at a time, but goes on after a signal. Errors:
 * what pread(2) says, as a negative errno. */
ssize_t cold_file_pread(struct cold_file *file, void *buf, size_t len, uint64_t offset);

/* Drops all cached pages of a file that no other process reads or writes. Pages that are not on
 * disk yet stay. */
void cold_file_drop_all(int fd);

#endif
