/* SPDX-License-Identifier: Apache-2.0 */
/* The entries of a process table: found by pid, kept in order of use, bounded.
 *
 * Of all entries with one pid at most one is current: the process that events with that pid are
 * about. When another process takes the pid, the entry is superseded: from then on it is found
 * by its start time only. A current entry may have ended; a superseded one has ended. */
#ifndef PROCESS_PROCESS_SET_H
#define PROCESS_PROCESS_SET_H

#include "base/err.h"
#include "base/htable.h"
#include "process/mapping_list.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

/* Windows that are filled at the same time, which may have the same start: one for each type of
 * profile. */
#define PROCESS_NR_WINDOWS 24

/* The number of a process in a window. */
struct process_number {
	uint64_t window_ns; /* start of that window; 0: it has none */
	uint32_t number;
};

struct process {
	TAILQ_ENTRY(process) link;
	uint32_t pid; /* 0: the row is unused */
	uint64_t start_ns; /* since boot; 0: not known yet */
	uint64_t added_ns; /* time of the event or sample that made the entry */
	uint64_t program_ns; /* when it began to run its program; a later exec() changes this */
	uint64_t ended_ns;
	uint64_t known_ns; /* when the mappings were last known to be right */
	uint64_t next_read_ns; /* when the maps may be read again */
	uint64_t reread_wait_ns;
	struct mapping_list *mappings; /* one reference; NULL: none */
	char *program; /* owned; path for process_program(); NULL: not known yet */
	uint64_t program_told_ns; /* when `program` was set */
	bool is_program_due; /* it called exec(): the next file that is mapped is its program */
	bool is_ended;
	bool is_single; /* all its events are known, and none reported another thread */
	bool is_superseded;
	bool is_bound; /* the unwind tables have, or had, its mapping table */
	/* The rest is for the consumer. */
	bool is_noted; /* to be bound soon */
	bool waits_for_runtime; /* an answer about its runtimes is missing */
	uint64_t next_bind_ns; /* it is not bound again before this time */
	uint64_t cgroup_id; /* of its last sample; 0: not known */
	struct process_number numbers[PROCESS_NR_WINDOWS]; /* by type of profile */
};

TAILQ_HEAD(process_queue, process);

struct process_set {
	struct process *rows; /* owned array of max_processes */
	size_t max_processes;
	size_t nr_rows; /* rows that were ever used */
	size_t nr_processes;
	uint64_t nr_evicted; /* live processes that were evicted */
	struct htable by_pid;
	struct process_queue live; /* least recently used first */
	struct process_queue ended; /* in order of their end */
	struct process_queue unused;
};

/* `max_processes` is more than 0. Errors: -ENOMEM. */
int process_set_init(struct process_set *set, size_t max_processes) must_check;
void process_set_done(struct process_set *set);

/* Returns the current entry of a pid, or NULL. */
struct process *process_set_find_current(const struct process_set *set, uint32_t pid);

/* Returns any entry with that pid and start time, or NULL. */
struct process *process_set_find_started(const struct process_set *set, uint32_t pid,
					 uint64_t start_ns);

/* Adds a live and current entry without mappings. A former current entry must have been
 * superseded, or the new one must be superseded at once. If the set is full, the process that
 * ended first makes room, else the least recently used one, so other entries are not valid after
 * this. NULL without memory. */
struct process *process_set_add(struct process_set *set, uint32_t pid, uint64_t now_ns);

void process_set_remove(struct process_set *set, struct process *process);

/* Removes the process that ended first, else the least recently used; false when there is none. */
bool process_set_evict(struct process_set *set);

/* Marks a live entry as the most recently used. */
void process_set_use(struct process_set *set, struct process *process);

/* Marks an entry as ended, or as not ended after all. */
void process_set_end(struct process_set *set, struct process *process, uint64_t now_ns);
void process_set_revive(struct process_set *set, struct process *process);

/* Ends an entry whose pid now belongs to another process. NULL is fine. */
void process_set_supersede(struct process_set *set, struct process *process, uint64_t now_ns);

#endif
