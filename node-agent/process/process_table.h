/* SPDX-License-Identifier: Apache-2.0 */
/* The processes that were sampled or seen to start, and the mappings of their code.
 *
 * Two sources feed it: events in the kernel's order (proc_event.h), which alone know a process
 * that lived for milliseconds, and /proc/PID/maps, read when a process that was there before us
 * is sampled for the first time, or when a sample's address is in no known mapping. A process is
 * keyed by (pid, start time): pids are reused. One that ended is kept for PROCESS_LINGER_NS, for
 * samples that are still under way.
 *
 * Belongs to one thread. */
#ifndef PROCESS_PROCESS_TABLE_H
#define PROCESS_PROCESS_TABLE_H

#include "base/cleanup.h"
#include "base/err.h"
#include "process/kept_files.h"
#include "process/mapping_list.h"
#include "process/proc_event.h"

#include <stddef.h>
#include <stdint.h>

#define PROCESS_LINGER_NS (UINT64_C(5) * 1000000000)

/* The memory of all processes' mappings together. 500 processes of 30 mappings take 1 MB; a process
 * with 16384 of them, of which each forked child changes one, takes half a MB for each child. */
#define PROCESS_MAPPINGS_MAX_BYTES ((size_t)64 << 20)

struct process_table_stats {
	uint64_t nr_processes; /* in the table now */
	uint64_t nr_evicted; /* live processes that were evicted by one of the bounds */
	uint64_t nr_kept_files; /* files that stay known, see kept_files.h */
	uint64_t nr_maps_reads;
	uint64_t nr_maps_postponed; /* readings put off by the limit per second */
	uint64_t nr_maps_failures; /* gone, unreadable, or over 16 MB and read in part */
	uint64_t nr_bad_lines;
	uint64_t nr_mappings_dropped; /* over MAPPING_LIST_MAX, or no memory */
	uint64_t nr_events_dropped; /* forks and execs without memory */
};

struct process;
struct process_table;

/* `proc_fd` is a directory like /proc (borrowed, outlives the table). At most `max_processes`
 * (more than 0); when full, or over PROCESS_MAPPINGS_MAX_BYTES, those that ended go first, then
 * the least recently sampled. Errors: -ENOMEM. */
int process_table_new(int proc_fd, size_t max_processes, struct process_table **ret_table)
	must_check;
void process_table_free(struct process_table *table);
DEFINE_FREEP(struct process_table, process_table_free)

/* Registers a watcher of files and lists that are freed. Call it before the table is used. */
void process_table_watch(struct process_table *table, const struct mapping_watcher *watcher);

/* Returns the process that has a pid now, or NULL if it is not known. Borrowed until
 * the next call on the table. */
struct process *process_table_find(struct process_table *table, uint32_t pid);

/* Applies one event. Events and samples must come in time order; a fork or exit that comes later
 * than the first sample that it should precede does no harm. */
void process_table_handle(struct process_table *table, const struct proc_event *event);

/* Events up to this time were lost. Mappings that are known from events alone are read again when
 * they are sampled. */
void process_table_lose_events(struct process_table *table, uint64_t time_ns);

/* Returns the process of a sample, and reads its maps if nothing is known of it yet. `start_ns` is
 * its start time since boot, as in field 22 of /proc/PID/stat, but in ns; if the source of the
 * sample does not know it, it is 0 and stands for any process with the pid. `now_ns` is the time of
 * the sample. A process that is gone and was never seen has no mappings. Borrowed until the next
 * call on the table. NULL only without memory. */
struct process *process_table_get(struct process_table *table, uint32_t pid, uint64_t start_ns,
				  uint64_t now_ns);

/* Returns the executable mapping that holds an address, or NULL. For an unknown address the table
 * reads the maps again: at most once per second and process, and less often while that does not
 * help, down to once per minute. All readings together take at most a third of the time. Borrowed
 * until the next call on the table. */
const struct mapping *process_find_mapping(struct process_table *table, struct process *process,
					   uint64_t address, uint64_t now_ns);

/* Returns the path of the file that a process of the table runs, as in process_program.h; "" if it
 * is not known. Borrowed until the next call on the table. */
const char *process_table_get_program(const struct process_table *table, struct process *process);

/* The files that stay known after their last process; the users of files choose them. */
struct kept_files *process_table_get_kept(struct process_table *table);

/* Forgets processes that ended more than PROCESS_LINGER_NS ago, and those whose exit was missed
 * (a few are looked up in /proc in each call). To be called about once a second. */
void process_table_sweep(struct process_table *table, uint64_t now_ns);

struct process_table_stats process_table_get_stats(const struct process_table *table);

#endif
