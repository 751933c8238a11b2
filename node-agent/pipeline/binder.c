/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/binder.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "bpf/shared/frames.h"
#include "pipeline/locate.h"
#include "process/process_set.h"
#include "symbol/opener/file_opener.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#define MAX_NOTED 65536

/* For opening files in a second: 50 us each, but 50 ms where a container has a hundred thousand
 * mounts. */
#define OPEN_MAX_NS (300 * NSEC_PER_MSEC)

/* Long lists are made anew less often: 1 ms later for each mapping, 16 s for the longest, which
 * takes 2 ms to write. */
#define LONG_LIST 256
#define REBIND_WAIT_NS NSEC_PER_MSEC

static void on_file_gone(struct mapped_file *file, void *data)
{
	struct binder *binder = data;
	struct table_slots *slots = binder->tables->slots;

	if (file->slot != 0 && file->slot != table_slots_vdso(slots) &&
	    file->slot != table_slots_without_cfi(slots)) {
		runtime_layouts_drop(binder->tables->layouts, file->slot);
		table_slots_remove(slots, file->slot);
	}
	runtime_binder_remove_file(&binder->runtimes, file);
}

static void on_list_gone(struct mapping_list *list, void *data)
{
	struct binder *binder = data;

	mapping_tables_drop(binder->tables->mapping_tables, list);
}

void binder_init(struct binder *binder, int proc_fd, struct process_table *processes,
		 struct unwind_tables *tables)
{
	const struct mapping_watcher watcher = { on_file_gone, on_list_gone, binder };

	*binder = (struct binder){
		.proc_fd = proc_fd,
		.processes = processes,
		.tables = tables,
		.runtimes = { .processes = processes, .tables = tables },
	};
	process_table_watch(processes, &watcher);
}

void binder_done(struct binder *binder)
{
	free(binder->pids);
	runtime_binder_done(&binder->runtimes);
}

void binder_use_runtimes(struct binder *binder, struct runtimes *runtimes)
{
	binder->runtimes.runtimes = runtimes;
}

/* Without memory the next sample of the process tries again. */
static void note(struct binder *binder, struct process *process)
{
	if (process->is_noted ||
	    array_grow(binder->pids, binder->cap_pids, binder->nr_pids + 1, MAX_NOTED) < 0)
		return;
	binder->pids[binder->nr_pids++] = process->pid;
	process->is_noted = true;
}

void binder_see_event(struct binder *binder, const struct proc_event *event)
{
	if (event->kind != PROC_MMAP)
		return;
	struct process *process = process_table_find(binder->processes, event->pid);
	if (process && process->is_bound)
		note(binder, process);
}

/* Returns whether there is time left for opening files in this second. */
static bool may_open(struct binder *binder, uint64_t now_ns)
{
	if (now_ns >= binder->budget_end_ns) {
		binder->budget_end_ns = now_ns + NSEC_PER_SEC;
		binder->open_ns = 0;
	}
	return binder->open_ns < OPEN_MAX_NS && !binder->is_full;
}

static int open_timed(struct binder *binder, uint32_t pid, const struct mapping *mapping,
		      int *ret_fd)
{
	_cleanup_(file_opener_unpin) struct pinned_file pinned = { .fd = -EBADF };
	uint64_t begin_ns = clock_mono_ns();

	int r = file_opener_pin(binder->proc_fd, pid, mapping, &pinned);
	if (r == 0)
		r = file_opener_open(binder->proc_fd, pid, &pinned, ret_fd);
	binder->open_ns += clock_mono_ns() - begin_ns;
	return r;
}

/* Hands in a sample's file again if its table was evicted, and if there is time for that. */
static void want_table(struct binder *binder, struct process *process,
		       const struct sample_event *event)
{
	struct table_slots *slots = binder->tables->slots;
	uint64_t address = locate_code_address(event, event->nr_user - 1u);
	int fd;

	const struct mapping *mapping = mapping_list_find(process->mappings, address);
	if (!mapping || mapping->file->slot == 0 || !may_open(binder, event->time_ns) ||
	    !table_slots_want(slots, mapping->file->slot))
		return;
	if (open_timed(binder, process->pid, mapping, &fd) == 0)
		table_slots_reopen(slots, mapping->file->slot, &fd, process->cgroup_id);
}

/* Other processes keep the old file's rows and names: they map its former contents. */
static void renew_file(struct binder *binder, struct process *process, struct mapped_file *file)
{
	struct kept_files *kept = process_table_get_kept(binder->processes);
	struct mapped_files *files = process->mappings->files;
	struct mapped_file *renewed;

	mapped_file_ref(file);
	int r = mapping_list_make_own(&process->mappings);
	if (r == 0)
		r = mapped_files_renew(files, file, &renewed);
	if (r == 0) {
		mapping_list_replace_file(process->mappings, file, renewed);
		mapped_file_unref(files, renewed);
		kept_files_remove(kept, files, file);
	}
	mapped_file_unref(files, file);
}

void binder_check_sample(struct binder *binder, const struct sample_event *event)
{
	struct table_slots *slots = binder->tables->slots;

	if (!event->lacks_file || event->nr_user == 0)
		return;
	struct process *process = process_table_find(binder->processes, event->pid);
	if (!process)
		return;
	const struct mapping *mapping = mapping_list_find(
		process->mappings, locate_code_address(event, event->nr_user - 1u));
	if (mapping && mapping->file->inode != 0 &&
	    table_slots_has_key(slots, mapping->file->slot, event->time_ns))
		renew_file(binder, process, mapping->file);
}

void binder_see_sample(struct binder *binder, const struct sample_event *event)
{
	if (event->nr_user == 0)
		return;
	struct process *process = process_table_find(binder->processes, event->pid);
	if (!process || !process->mappings)
		return;
	process->cgroup_id = event->cgroup_id;
	if (event->unwind_result == UNWIND_NOT_LOADED)
		want_table(binder, process, event);
	if (event->unwind_result == UNWIND_NEW_PROCESS || event->lacks_mapping_table ||
	    process->mappings->is_changed || process->mappings->is_partial)
		note(binder, process);
}

/* Keeps a file that unwinders may find in processes that the agent does not know. It stays open
 * until its names are read. */
static void keep_file(struct binder *binder, const struct process *process,
		      struct mapped_file *file, int *fd, uint64_t now_ns)
{
	struct kept_files *kept = process_table_get_kept(binder->processes);
	struct mapped_files *files = process->mappings->files;

	if (!table_slots_has_key(binder->tables->slots, file->slot, UINT64_MAX))
		return;
	int r = kept_files_add(kept, files, file, fd, now_ns);
	(void)r; /* then it is forgotten with its last process */
}

/* Errors: those of table_slots_add(). */
static int add_slot(struct binder *binder, const struct process *process, struct mapped_file *file,
		    int *fd, uint64_t now_ns)
{
	_cleanup_close_ int kept_fd = fcntl(*fd, F_DUPFD_CLOEXEC, 0);

	runtime_binder_add_file(&binder->runtimes, process, file, *fd);

	int r = table_slots_add(binder->tables->slots, fd, process->cgroup_id, &file->slot);
	if (r == 0)
		keep_file(binder, process, file, &kept_fd, now_ns);
	return r;
}

/* Code of a file without a slot is unwound by frame pointers. Errors: -EAGAIN to try again
 * later. */
static int give_slot(struct binder *binder, const struct process *process,
		     const struct mapping *mapping, uint64_t now_ns)
{
	struct table_slots *slots = binder->tables->slots;
	struct mapped_file *file = mapping->file;
	int fd;

	if (file->slot != 0)
		return 0;
	if (file->inode == 0) {
		if (strcmp(file->path, "[vdso]") == 0)
			file->slot = table_slots_vdso(slots);
		return 0;
	}
	if (!may_open(binder, now_ns))
		return -EAGAIN;
	int r = open_timed(binder, process->pid, mapping, &fd);
	if (r == -EOPNOTSUPP || r == -EPERM)
		file->slot = table_slots_without_cfi(slots);
	if (r == 0)
		r = add_slot(binder, process, file, &fd, now_ns);
	/* No slots or no descriptors are left, so no more files need to be opened. */
	binder->is_full |= r == -ENOSPC || r == -ENOMEM;
	return r == -EAGAIN || binder->is_full ? -EAGAIN : 0;
}

/* Returns whether a file has changed that was not mapped for a while. A file that cannot be opened
 * any more is taken for unchanged. */
static bool is_changed(struct binder *binder, const struct process *process,
		       const struct mapping *mapping)
{
	_cleanup_close_ int fd = -EBADF;

	mapping->file->is_doubtful = false;
	if (mapping->file->slot == 0 || open_timed(binder, process->pid, mapping, &fd) < 0)
		return false;
	return !table_slots_is_same(binder->tables->slots, mapping->file->slot, fd);
}

static bool check_files(struct binder *binder, struct process *process, uint64_t now_ns)
{
	for (size_t i = 0; i < process->mappings->nr_items; i++) {
		const struct mapping *mapping = &process->mappings->items[i];

		if (!mapping->file->is_doubtful)
			continue;
		if (!may_open(binder, now_ns))
			return false;
		if (is_changed(binder, process, mapping))
			renew_file(binder, process, mapping->file);
	}
	return true;
}

/* A process without all its files is bound all the same, and again at its next sample. */
static void bind(struct binder *binder, struct process *process, uint64_t now_ns)
{
	if (!check_files(binder, process, now_ns))
		return;
	struct mapping_list *list = process->mappings;

	list->is_partial = false;
	for (size_t i = 0; i < list->nr_items; i++) {
		struct mapped_file *file = list->items[i].file;

		file->is_postponed = give_slot(binder, process, &list->items[i], now_ns) < 0;
		list->is_partial |= file->is_postponed;
	}
	runtime_binder_bind(&binder->runtimes, process, now_ns);
	if (mapping_tables_bind(binder->tables->mapping_tables, process->pid, list) == 0)
		process->is_bound = true;
}

/* A process with many mappings that change all the time must not keep the reader from its
 * samples. */
static bool may_bind(const struct process *process, uint64_t now_ns)
{
	return !process->is_bound || now_ns >= process->next_bind_ns;
}

static uint64_t wait_after(const struct mapping_list *list)
{
	return list->nr_items < LONG_LIST ? 0 : list->nr_items * REBIND_WAIT_NS;
}

static void bind_noted(struct binder *binder, struct process *process, uint64_t now_ns)
{
	process->is_noted = false;
	if (!process->mappings || process->mappings->nr_items == 0 || process->is_ended)
		return;
	bind(binder, process, now_ns);
	process->next_bind_ns = now_ns + wait_after(process->mappings);
}

void binder_bind(struct binder *binder, struct process *process, uint64_t now_ns)
{
	if (may_bind(process, now_ns))
		bind_noted(binder, process, now_ns);
}

static void note_again(struct process *process, void *data)
{
	note(data, process);
}

void binder_flush(struct binder *binder, uint64_t now_ns)
{
	size_t nr_postponed = 0;

	binder->is_full = false;
	runtime_binder_flush(&binder->runtimes, now_ns, note_again, binder);
	for (size_t i = 0; i < binder->nr_pids; i++) {
		struct process *process = process_table_find(binder->processes, binder->pids[i]);

		if (!process || !process->is_noted)
			continue;
		if (may_bind(process, now_ns))
			bind_noted(binder, process, now_ns);
		else
			binder->pids[nr_postponed++] = process->pid;
	}
	binder->nr_pids = nr_postponed;
}
