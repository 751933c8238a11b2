/* SPDX-License-Identifier: Apache-2.0 */
/* Where locks of user space are: in the data of which file, on the heap, or in memory that
 * processes share. Belongs to the reader thread, which reads /proc/PID/maps for it.
 *
 * What is known of the processes with locks is kept, so that the file is read once for many waits:
 * of a process again when an address is in no data that is known, LOCK_PLACES_READ_NS after the
 * last time at the earliest. All readings together take at most 1/LOCK_PLACES_SHARE of the time. */
#ifndef PIPELINE_LOCK_PLACES_H
#define PIPELINE_LOCK_PLACES_H

#include "bpf/shared/events.h"
#include "pipeline/lock_frames.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LOCK_PLACES_MAX_PROCESSES 256 /* a power of 2; two with the same last bits share a place */
#define LOCK_PLACES_MAX_FILES 256 /* of a process */
#define LOCK_PLACES_READ_NS (UINT64_C(10) * 1000000000)
#define LOCK_PLACES_SHARE 100

/* The writable memory of a file: what is loaded from it, and zeros right behind. */
struct lock_place {
	uint64_t start, end;
	uint64_t base; /* where the file's first byte is mapped */
	char *file; /* owned; its name, without directories */
	bool is_shared; /* between processes */
};

struct lock_process {
	uint32_t pid; /* 0: none */
	uint64_t start_ns; /* since boot */
	uint64_t next_read_ns; /* CLOCK_MONOTONIC */
	bool is_known; /* the file could be read */
	struct lock_place *places; /* owned; in the order of addresses */
	size_t nr_places, cap_places;
};

struct lock_places {
	int proc_fd; /* borrowed */
	uint64_t next_read_ns; /* of any process */
	struct lock_process processes[LOCK_PLACES_MAX_PROCESSES];
};

/* `proc_fd` is a directory like /proc, and outlives the places. */
void lock_places_init(struct lock_places *places, int proc_fd);
void lock_places_done(struct lock_places *places);

/* Writes the name of the frame at the tip for the lock of a block: "[lock in
 * libfoo.so+0x4a0]" with the address as addr2line takes it, "[lock on the heap]", "[lock in shared
 * memory]"; or "[lock]" if the process's memory is not known. A longer one is cut off. */
void lock_places_name(struct lock_places *places, const struct sample_event *event,
		      char name[static LOCK_NAME_BYTES]);

#endif
