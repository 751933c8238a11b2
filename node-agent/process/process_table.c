/* SPDX-License-Identifier: Apache-2.0 */
/* Applies events, samples and the sweep to the entries of process_set.h.
 *
 * Events do not say when a process started, so an entry made from them has no start time until
 * the first sample has it. If a sample's start time is later than the current entry's, the
 * events of the new process were lost. If it is earlier, the sample is of a process that ended.
 *
 * An exit may be that of the first thread alone, while others go on (pthread_exit() in main()):
 * perf's records do not say so. So an exit only starts a time in which the process can be
 * sampled as before, and /proc is read before the entry is removed, unless the events say that
 * there was no other thread. In /proc the first thread is a zombie in a process of several
 * threads; nothing else under that pid can be the same process. */
#include "process/process_table.h"

#include "base/clock.h"
#include "process/maps_parser.h"
#include "process/proc_stat.h"
#include "process/process_maps.h"
#include "process/process_program.h"
#include "process/process_set.h"

#include <string.h>

#define REREAD_MIN_NS NSEC_PER_SEC
#define REREAD_MAX_NS (60 * NSEC_PER_SEC)
#define READ_BUDGET_NS (300 * NSEC_PER_MSEC) /* per second; 65,000 mappings take 50 ms */
#define DISTRUST_BUDGET_NS (READ_BUDGET_NS / 3) /* of that, for code that is known already */

/* Live processes looked up in /proc in each sweep, at 15 us each. Without lost events there is
 * little to find. */
#define SWEEP_LOOKUPS 1
#define SWEEP_LOOKUPS_IN_DOUBT                                                                     \
	8 /* until all processes from before a loss of events were looked up */

struct process_table {
	int proc_fd; /* borrowed */
	size_t next_lookup; /* the row where the next sweep goes on */
	size_t nr_doubtful; /* rows from there on whose exit may have been lost */
	uint64_t lost_ns; /* time of the last events that were lost */
	uint64_t budget_end_ns; /* end of the present second of the read budget */
	uint64_t read_ns; /* time spent reading maps in this second */
	struct process_set set;
	struct mapped_files files;
	struct kept_files kept;
	struct process_table_stats stats;
};

int process_table_new(int proc_fd, size_t max_processes, struct process_table **ret_table)
{
	_cleanup_free_ struct process_table *table = calloc(1, sizeof(*table));

	if (!table)
		return -ENOMEM;
	table->proc_fd = proc_fd;
	int r = process_set_init(&table->set, max_processes);
	if (r < 0)
		return r;
	*ret_table = take_ptr(table);
	return 0;
}

void process_table_free(struct process_table *table)
{
	if (!table)
		return;
	process_set_done(&table->set);
	kept_files_done(&table->kept, &table->files);
	mapped_files_done(&table->files);
	free(table);
}

void process_table_watch(struct process_table *table, const struct mapping_watcher *watcher)
{
	table->files.watcher = *watcher;
}

struct process *process_table_find(struct process_table *table, uint32_t pid)
{
	return process_set_find_current(&table->set, pid);
}

/* Evicts processes until the mappings are within their bound. The mappings of one process may
 * exceed it until the next call. */
static void bound_mappings(struct process_table *table)
{
	while (table->files.nr_bytes > PROCESS_MAPPINGS_MAX_BYTES && process_set_evict(&table->set))
		;
}

/* Returns whether an event is older than the entry: it came late, and its effects are known. */
static bool is_outdated(const struct proc_event *event, const struct process *process)
{
	return process && event->time_ns < process->added_ns;
}

/* A child of an unknown parent stays unknown: its maps are read when it is sampled. */
static void handle_fork(struct process_table *table, const struct proc_event *event)
{
	const struct process *parent = process_set_find_current(&table->set, event->parent_pid);
	struct process *previous = process_set_find_current(&table->set, event->pid);
	_cleanup_(mapping_list_unrefp) struct mapping_list *mappings = NULL;

	if (is_outdated(event, previous))
		return;
	process_set_supersede(&table->set, previous, event->time_ns);
	if (!parent)
		return;

	/* Making room for the child may remove the parent, so the list is held first. */
	if (parent->mappings)
		mappings = mapping_list_ref(parent->mappings);
	uint64_t known_ns = parent->known_ns;
	bool is_bound = parent->is_bound;
	uint64_t program_told_ns = parent->program_told_ns;
	_cleanup_free_ char *program = parent->program ? strdup(parent->program) : NULL;
	struct process *child = process_set_add(&table->set, event->pid, event->time_ns);
	if (child) {
		child->mappings = take_ptr(mappings);
		child->known_ns = known_ns;
		child->is_bound = is_bound;
		child->program = take_ptr(program);
		child->program_told_ns = program_told_ns;
		child->is_single = true;
	} else {
		table->stats.nr_events_dropped++;
	}
}

/* The process stays the same, with the same start time. If an exit of its first thread was
 * reported, then another thread called exec(), or a new process has the pid and its fork was
 * lost. */
static void handle_exec(struct process_table *table, const struct proc_event *event)
{
	struct process *process = process_set_find_current(&table->set, event->pid);

	if (process && !process->is_ended) {
		process->is_single = true;
		mapping_list_unref(process->mappings);
		process->mappings = NULL;
		process->next_read_ns = 0;
		process->reread_wait_ns = 0;
		process->known_ns = event->time_ns;
		process->program_ns = event->time_ns;
		process->is_bound = false;
		process_program_replace(process);
		return;
	}
	process_set_supersede(&table->set, process, event->time_ns);
	process = process_set_add(&table->set, event->pid, event->time_ns);
	if (!process) {
		table->stats.nr_events_dropped++;
		return;
	}
	process->is_single = true;
	process_program_replace(process);
}

static void handle_thread(struct process_table *table, const struct proc_event *event)
{
	struct process *process = process_set_find_current(&table->set, event->pid);

	if (process)
		process->is_single = false;
}

static int take_file(struct process_table *table, const struct proc_event *event,
		     struct mapped_file **ret_file)
{
	bool is_anonymous = strcmp(event->path, "//anon") == 0;
	struct mapped_file_key key = {
		.inode = event->inode,
		.generation = event->inode_generation,
		.dev_major = event->dev_major,
		.dev_minor = event->dev_minor,
		.path = is_anonymous ? "" : event->path,
	};

	key.path_len = maps_path_len_undeleted(key.path, strlen(key.path));
	return mapped_files_take(&table->files, &key, ret_file);
}

static int insert_mapping(struct process_table *table, struct process *process,
			  const struct proc_event *event)
{
	struct mapping mapping = {
		.start = event->start,
		.file_offset = event->inode ? event->file_offset : 0,
	};

	if (event->len == 0 || __builtin_add_overflow(event->start, event->len, &mapping.end))
		return -EBADMSG;
	int r = process->mappings ? mapping_list_make_own(&process->mappings)
				  : mapping_list_new(&table->files, &process->mappings);
	if (r < 0)
		return r;
	r = take_file(table, event, &mapping.file);
	if (r < 0)
		return r;
	r = mapping_list_insert(process->mappings, &mapping);
	mapped_file_unref(&table->files, mapping.file);
	return r;
}

/* Returns whether the event has a file's path but does not identify the file. The kernel's names of
 * other mappings begin otherwise. */
static bool is_unidentified(const struct proc_event *event)
{
	return event->inode == 0 && event->path[0] == '/' && event->path[1] != '/';
}

/* One mapping of an unknown process is ignored. A file that the event does not identify is found
 * in /proc, when an address in its mapping is sampled. */
static void handle_mmap(struct process_table *table, const struct proc_event *event)
{
	bound_mappings(table);

	struct process *process = process_set_find_current(&table->set, event->pid);
	if (process)
		process_program_see_file(process, event->path, event->time_ns);
	if (process && is_unidentified(event)) {
		process->next_read_ns = 0;
		process->reread_wait_ns = 0;
	} else if (process && insert_mapping(table, process, event) < 0) {
		table->stats.nr_mappings_dropped++;
	}
}

static void handle_exit(struct process_table *table, const struct proc_event *event)
{
	struct process *process = process_set_find_current(&table->set, event->pid);

	if (process && !is_outdated(event, process))
		process_set_end(&table->set, process, event->time_ns);
}

void process_table_handle(struct process_table *table, const struct proc_event *event)
{
	switch (event->kind) {
	case PROC_FORK:
		handle_fork(table, event);
		break;
	case PROC_THREAD:
		handle_thread(table, event);
		break;
	case PROC_EXEC:
		handle_exec(table, event);
		break;
	case PROC_MMAP:
		handle_mmap(table, event);
		break;
	case PROC_EXIT:
		handle_exit(table, event);
		break;
	case PROC_KERNEL_CODE:
		break;
	}
}

/* Rate-limits readings: many processes with many mappings must not keep the caller from its
 * samples. */
static bool may_read_maps(struct process_table *table, uint64_t now_ns, uint64_t budget_ns)
{
	if (now_ns >= table->budget_end_ns) {
		table->budget_end_ns = now_ns + NSEC_PER_SEC;
		table->read_ns = 0;
	}
	if (table->read_ns < budget_ns)
		return true;
	table->stats.nr_maps_postponed++;
	return false;
}

void process_table_lose_events(struct process_table *table, uint64_t time_ns)
{
	table->lost_ns = time_ns;
	table->nr_doubtful = table->set.nr_rows;
}

/* Replaces the mappings by those in /proc. The old ones stay on failure, and when /proc shows
 * none: then the process is about to end, and samples of it may still be under way. */
static void replace_maps(struct process_table *table, struct process *process, uint64_t now_ns)
{
	_cleanup_(mapping_list_unrefp) struct mapping_list *list = NULL;
	struct process_maps_losses losses = { 0 };

	table->stats.nr_maps_reads++;
	int r = mapping_list_new(&table->files, &list);
	if (r == 0)
		r = process_maps_load(table->proc_fd, process->pid, process->start_ns, list,
				      &losses);
	table->stats.nr_bad_lines += losses.nr_bad_lines;
	table->stats.nr_mappings_dropped += losses.nr_mappings_dropped;
	if (r < 0)
		table->stats.nr_maps_failures++;
	if (r == -ESRCH)
		process_set_end(&table->set, process, now_ns);
	if ((r < 0 && r != -ENOSPC) || list->nr_items == 0)
		return;
	mapping_list_unref(process->mappings);
	process->mappings = take_ptr(list);
}

static void read_maps(struct process_table *table, struct process *process, uint64_t now_ns)
{
	uint64_t begin_ns = clock_mono_ns();

	replace_maps(table, process, now_ns);
	process->known_ns = now_ns;
	table->read_ns += clock_mono_ns() - begin_ns;
}

/* Readings that do not help are repeated after 1 s, 2 s, … 60 s. */
static void schedule_reread(struct process *process, uint64_t now_ns, bool has_helped)
{
	uint64_t wait_ns = has_helped ? 0 : process->reread_wait_ns * 2;

	if (wait_ns < REREAD_MIN_NS)
		wait_ns = REREAD_MIN_NS;
	if (wait_ns > REREAD_MAX_NS)
		wait_ns = REREAD_MAX_NS;
	process->reread_wait_ns = has_helped ? 0 : wait_ns;
	process->next_read_ns = now_ns + wait_ns;
}

/* Adds the process of a sample whose pid no known process has. */
static struct process *add_sampled(struct process_table *table, uint32_t pid, uint64_t start_ns,
				   uint64_t now_ns)
{
	struct process *process = process_set_add(&table->set, pid, now_ns);

	if (!process)
		return NULL;
	process->start_ns = start_ns;
	if (may_read_maps(table, now_ns, READ_BUDGET_NS)) {
		read_maps(table, process, now_ns);
		schedule_reread(process, now_ns, true);
	}
	return process;
}

/* The pid now belongs to another process. Its former owner may be known from events alone; if
 * not, an entry without mappings takes this sample and those like it. */
static struct process *get_former(struct process_table *table, uint32_t pid, uint64_t start_ns,
				  uint64_t now_ns)
{
	struct process *process = process_set_find_started(&table->set, pid, 0);

	if (!process) {
		process = process_set_add(&table->set, pid, now_ns);
		process_set_supersede(&table->set, process, now_ns);
	}
	if (process)
		process->start_ns = start_ns;
	return process;
}

struct process *process_table_get(struct process_table *table, uint32_t pid, uint64_t start_ns,
				  uint64_t now_ns)
{
	bound_mappings(table);

	struct process *current = process_set_find_current(&table->set, pid);
	struct process *process = current;
	if (start_ns != 0)
		process = process_set_find_started(&table->set, pid, start_ns);
	if (!process && current && current->start_ns == 0) {
		process = current;
		process->start_ns = start_ns;
	}
	if (process) {
		process_set_use(&table->set, process);
		return process;
	}
	if (current && current->start_ns > start_ns)
		return get_former(table, pid, start_ns, now_ns);
	process_set_supersede(&table->set, current, now_ns);
	return add_sampled(table, pid, start_ns, now_ns);
}

const struct mapping *process_find_mapping(struct process_table *table, struct process *process,
					   uint64_t address, uint64_t now_ns)
{
	const struct mapping *mapping = mapping_list_find(process->mappings, address);
	bool was_found = mapping;
	uint64_t budget_ns = was_found ? DISTRUST_BUDGET_NS : READ_BUDGET_NS;

	if (was_found && process->known_ns >= table->lost_ns)
		return mapping;
	if (process->is_ended || now_ns < process->next_read_ns ||
	    !may_read_maps(table, now_ns, budget_ns))
		return mapping;
	read_maps(table, process, now_ns);
	mapping = mapping_list_find(process->mappings, address);
	schedule_reread(process, now_ns, mapping && !was_found);
	return mapping;
}

/* Returns whether an entry that ended has threads that go on. */
static bool has_other_threads(const struct process_table *table, const struct process *process)
{
	struct proc_stat stat;

	bool was_alone = process->is_single && process->known_ns >= table->lost_ns;
	if (process->is_superseded || was_alone ||
	    proc_stat_read(table->proc_fd, process->pid, &stat) < 0)
		return false;
	if (process->start_ns != 0 && !proc_stat_started_at(&stat, process->start_ns))
		return false;
	return proc_stat_is_leader_dead(&stat) && !proc_stat_is_zombie(&stat);
}

static void forget_ended(struct process_table *table, uint64_t now_ns)
{
	struct process *process;

	while ((process = TAILQ_FIRST(&table->set.ended)) != NULL) {
		if (now_ns < process->ended_ns + PROCESS_LINGER_NS)
			break;
		if (has_other_threads(table, process))
			process_set_revive(&table->set, process);
		else
			process_set_remove(&table->set, process);
	}
}

static bool is_gone(const struct process_table *table, const struct process *process)
{
	struct proc_stat stat;

	int r = proc_stat_read(table->proc_fd, process->pid, &stat);
	if (r < 0)
		return r == -ESRCH;
	if (process->start_ns != 0 && !proc_stat_started_at(&stat, process->start_ns))
		return true;
	return proc_stat_is_zombie(&stat);
}

static void look_up_some(struct process_table *table, uint64_t now_ns)
{
	size_t max_lookups = table->nr_doubtful > 0 ? SWEEP_LOOKUPS_IN_DOUBT : SWEEP_LOOKUPS;
	size_t nr_rows = table->set.nr_rows;
	size_t nr_lookups = 0;

	for (size_t i = 0; i < nr_rows && nr_lookups < max_lookups; i++) {
		struct process *process = &table->set.rows[table->next_lookup];

		table->next_lookup = (table->next_lookup + 1) % nr_rows;
		table->nr_doubtful -= table->nr_doubtful > 0;
		if (process->pid == 0 || process->is_ended)
			continue;
		nr_lookups++;
		if (is_gone(table, process))
			process_set_end(&table->set, process, now_ns);
	}
}

const char *process_table_get_program(const struct process_table *table, struct process *process)
{
	return process_program(process, table->proc_fd, table->lost_ns);
}

struct kept_files *process_table_get_kept(struct process_table *table)
{
	return &table->kept;
}

void process_table_sweep(struct process_table *table, uint64_t now_ns)
{
	forget_ended(table, now_ns);
	look_up_some(table, now_ns);
	kept_files_tidy(&table->kept, &table->files, now_ns);
}

struct process_table_stats process_table_get_stats(const struct process_table *table)
{
	struct process_table_stats stats = table->stats;

	stats.nr_processes = table->set.nr_processes;
	stats.nr_evicted = table->set.nr_evicted;
	stats.nr_kept_files = table->kept.nr_files;
	return stats;
}
