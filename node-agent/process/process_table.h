/* SPDX-License-Identifier: Apache-2.0 */
/* The processes that were sampled or seen starting, and where their code is mapped.
 *
 * Two sources feed it: events in the kernel's order (proc_event.h), which alone know a process that lived
 * for milliseconds, and /proc/PID/maps, read when a process that was there before us is sampled for the
 * first time, or when a sample's address is in no known mapping. A process is keyed by (pid, start time):
 * pids are reused. One that ended is kept for PROCESS_LINGER_NS, for samples that are still under way.
 *
 * Belongs to one thread. */
#ifndef PROCESS_PROCESS_TABLE_H
#define PROCESS_PROCESS_TABLE_H

#include "base/cleanup.h"
#include "base/err.h"
#include "process/proc_event.h"

#include <stddef.h>
#include <stdint.h>

#define PROCESS_LINGER_NS (UINT64_C(5) * 1000000000)
#define PROCESS_MAX_MAPPINGS 16384 /* executable ones, a process; maps text is read up to 16 MB */

/* A file as far as a mapping tells it, shared by all processes that map it. While one of them lives, the
 * inode number cannot be used again, so (device, inode, path) names one file. */
struct mapped_file {
	uint64_t inode; /* 0: no file behind it (anonymous, [vdso], …) */
	uint32_t dev_major;
	uint32_t dev_minor;
	char *path; /* owned; as the process sees it, in its own mount namespace */
	uint32_t cookie; /* the consumer's: 0 at first (the pipeline keeps the ELF's id here) */
	unsigned int nr_refs;
};

struct mapping {
	uint64_t start;
	uint64_t end;
	uint64_t file_offset; /* of `start` */
	struct mapped_file *file; /* shared, owned by the table */
};

struct process_table_stats {
	uint64_t nr_processes; /* in the table now */
	uint64_t nr_evicted; /* live processes pushed out by the bound */
	uint64_t nr_maps_reads;
	uint64_t nr_maps_failures; /* gone or unreadable */
	uint64_t nr_bad_lines;
	uint64_t nr_mappings_dropped; /* over PROCESS_MAX_MAPPINGS, or no memory */
};

struct process;
struct process_table;

/* `proc_fd` is a directory like /proc (borrowed, outlives the table). At most `max_processes`; the least
 * recently sampled goes first. Errors: -ENOMEM. */
int process_table_new(int proc_fd, size_t max_processes, struct process_table **ret_table)
	must_check;
void process_table_free(struct process_table *table);
DEFINE_FREEP(struct process_table, process_table_free)

/* Applies one event. Events and samples must come in time order. */
void process_table_handle(struct process_table *table, const struct proc_event *event);

/* The process of a sample; reads its maps when nothing is known of it yet. `start_ns` is its start time
 * since boot, as in /proc/PID/stat field 22 but in ns. Never fails: a process that is gone and was never
 * seen has no mappings. Borrowed until the next call on the table. NULL only without memory. */
struct process *process_table_get(struct process_table *table, uint32_t pid, uint64_t start_ns,
				  uint64_t now_ns);

/* The executable mapping that holds an address, or NULL. An unknown address makes the table read the maps
 * again, at most once a second and process, doubling up to a minute while that does not help. Borrowed
 * until the next call on the table. */
const struct mapping *process_find_mapping(struct process_table *table, struct process *process,
					   uint64_t address, uint64_t now_ns);

/* Forgets what ended more than PROCESS_LINGER_NS ago, and processes whose exit was missed (a few are
 * looked up in /proc each call). Meant to be called about once a second. */
void process_table_sweep(struct process_table *table, uint64_t now_ns);

struct process_table_stats process_table_get_stats(const struct process_table *table);

#endif
