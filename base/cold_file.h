/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a file that is read once, by us, and leaves the page cache as it was: what was not there
 * before is dropped when it has been copied, and nothing is read ahead. Else the cache of all
 * the programs of a machine becomes ours, as the kernel charges a page to the cgroup that reads
 * it first.
 *
 * What was there before stays: somebody else may have read it, and the kernel is not asked to
 * drop it. Which pages those are mincore(2) tells to the owner of a file and to those who may
 * write to it; to others it says that all are there, and then nothing is dropped.
 *
 * Pages are dropped some megabytes at a time: where the machine is busy each drop may have to
 * wait for all its CPUs.
 *
 * Uses pread(), mmap() without any access, mincore(), munmap() and posix_fadvise() only. */
#ifndef BASE_COLD_FILE_H
#define BASE_COLD_FILE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define COLD_FILE_MAX_PAGES 256 /* of one read */
#define COLD_FILE_MAX_RANGES 16
#define COLD_FILE_MAX_BYTES ((uint64_t)8 << 20) /* that wait to be dropped */

struct cold_range {
	uint64_t start; /* bytes, of whole pages */
	uint64_t len;
};

struct cold_file {
	int fd; /* borrowed */
	struct cold_range ranges[COLD_FILE_MAX_RANGES]; /* were not there, and are now */
	size_t nr_ranges;
	uint64_t nr_bytes; /* of them */
};

/* Sees to it that nothing is read ahead, also through other descriptors of the same open file. */
void cold_file_init(struct cold_file *file, int fd);

/* Drops what is left. The descriptor must still be open. */
void cold_file_done(struct cold_file *file);

/* As pread(2), at most COLD_FILE_MAX_PAGES pages at a time, but goes on after a signal. Errors:
 * what pread(2) says, as a negative errno. */
ssize_t cold_file_pread(struct cold_file *file, void *buf, size_t len, uint64_t offset);

/* Drops all of a file that nobody else reads and that is not being written. What is not on disk
 * yet stays. */
void cold_file_drop_all(int fd);

#endif
