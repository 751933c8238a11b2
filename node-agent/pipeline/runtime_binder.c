/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/runtime_binder.h"

#include "base/array.h"
#include "base/cleanup.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#define MAX_PIDS 65536

/* A file's `runtime` is an id, or one of these. */
#define FILE_NOT_ASKED 0
#define FILE_IS_NONE UINT32_MAX

void runtime_binder_done(struct runtime_binder *binder)
{
	free(binder->pids);
}

void runtime_binder_add_file(struct runtime_binder *binder, const struct process *process,
			     struct mapped_file *file, int fd)
{
	if (!binder->runtimes || file->runtime != FILE_NOT_ASKED)
		return;
	int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (copy >= 0)
		file->runtime = runtimes_add_file(binder->runtimes, &copy, process->cgroup_id);
}

void runtime_binder_remove_file(struct runtime_binder *binder, const struct mapped_file *file)
{
	if (file->runtime != FILE_NOT_ASKED && file->runtime != FILE_IS_NONE)
		runtimes_remove_file(binder->runtimes, file->runtime);
}

/* Returns what is known of a file. */
static enum runtime_file_state state_of(struct runtime_binder *binder, struct mapped_file *file)
{
	if (file->runtime == FILE_NOT_ASKED || file->runtime == FILE_IS_NONE)
		return RUNTIME_FILE_NONE;
	enum runtime_file_state state = runtimes_file_state(binder->runtimes, file->runtime);
	if (state == RUNTIME_FILE_NONE) {
		runtimes_remove_file(binder->runtimes, file->runtime);
		file->runtime = FILE_IS_NONE;
	}
	return state;
}

/* The runtimes of a process. */
struct found_runtimes {
	struct runtimes_mapped mapped[RUNTIME_MAX_OF_PROCESS];
	struct mapped_file *files[RUNTIME_MAX_OF_PROCESS]; /* borrowed */
	size_t nr;
	bool lacks_answers; /* it is not known of all files whether they are runtimes */
};

static bool has_file(const struct found_runtimes *found, const struct mapped_file *file)
{
	for (size_t i = 0; i < found->nr; i++)
		if (found->files[i] == file)
			return true;
	return false;
}

static struct found_runtimes find_runtimes(struct runtime_binder *binder,
					   const struct mapping_list *list)
{
	struct found_runtimes found = { .nr = 0 };

	for (size_t i = 0; i < list->nr_items && found.nr < RUNTIME_MAX_OF_PROCESS; i++) {
		const struct mapping *mapping = &list->items[i];
		enum runtime_file_state state = state_of(binder, mapping->file);

		found.lacks_answers |= state == RUNTIME_FILE_UNKNOWN;
		if (state != RUNTIME_FILE_RUNTIME || has_file(&found, mapping->file))
			continue;
		found.files[found.nr] = mapping->file;
		found.mapped[found.nr++] = (struct runtimes_mapped){
			.file = mapping->file->runtime,
			.start = mapping->start,
			.offset = mapping->file_offset,
		};
	}
	return found;
}

static struct runtime_sampled sampled_of(const struct process *process, uint64_t now_ns)
{
	return (struct runtime_sampled){
		.pid = process->pid,
		.start_ns = process->start_ns,
		.number = process->program_ns,
		.cgroup_id = process->cgroup_id,
		.now_ns = now_ns,
	};
}

/* Gives the file's slot the layout that all its processes share. */
static void share_layout(struct runtime_binder *binder, const struct found_runtimes *found,
			 const struct runtimes_result *result)
{
	for (size_t i = 0; i < found->nr; i++) {
		struct mapped_file *file = found->files[i];

		if (file->runtime != result->file || file->slot == 0 || file->has_layout)
			continue;
		file->has_layout = runtime_layouts_set(binder->tables->layouts, file->slot,
						       &result->layout) == 0;
	}
}

/* Makes the descriptor of a runtime in a process. */
static struct runtime_descriptor describe(const struct found_runtimes *found,
					  const struct runtimes_result *result)
{
	struct runtime_descriptor descriptor = { result->process, result->layout };

	for (size_t i = 0; i < found->nr; i++)
		if (found->files[i]->runtime == result->file)
			descriptor.process.slot = found->files[i]->slot;
	return descriptor;
}

/* Sets the descriptors of a list if they are others than before. None is taken away: a forked
 * process has those of its parent, in the same list, and may end before it was inspected itself.
 * Without memory it is tried again when the process is bound again. */
static void set_descriptors(struct mapping_list *list, const struct runtime_descriptor *descriptors,
			    size_t nr)
{
	if (nr == 0 || nr < list->nr_runtimes ||
	    (nr == list->nr_runtimes &&
	     memcmp(list->runtimes, descriptors, nr * sizeof(*descriptors)) == 0))
		return;
	int r = mapping_list_set_runtimes(list, descriptors, nr);
	(void)r;
}

/* Takes the answers about a process's runtimes. Returns whether one is missing. */
static bool take_results(struct runtime_binder *binder, struct process *process,
			 const struct found_runtimes *found, uint64_t now_ns)
{
	struct runtime_descriptor descriptors[RUNTIME_MAX_OF_PROCESS];
	struct runtimes_result results[RUNTIME_MAX_OF_PROCESS];
	const struct runtime_sampled sampled = sampled_of(process, now_ns);
	bool is_pending = false;
	size_t nr = 0;

	uint32_t id = runtimes_see_process(binder->runtimes, &sampled, found->mapped, found->nr);
	size_t nr_results = runtimes_get_results(binder->runtimes, id, results);
	for (size_t i = 0; i < nr_results; i++) {
		const struct runtimes_result *result = &results[i];

		is_pending |= !result->is_final;
		if (result->state != RUNTIME_READY && !result->is_marked)
			continue;
		if (result->is_shared)
			share_layout(binder, found, result);
		else
			descriptors[nr++] = describe(found, result);
	}
	set_descriptors(process->mappings, descriptors, nr);
	return is_pending;
}

/* Does what can be done now for a process. Returns whether an answer is missing. */
static bool settle(struct runtime_binder *binder, struct process *process, uint64_t now_ns)
{
	const struct found_runtimes found = find_runtimes(binder, process->mappings);
	bool is_pending = false;

	if (found.nr > 0)
		is_pending = take_results(binder, process, &found, now_ns);
	return is_pending || found.lacks_answers;
}

/* Without memory the process is looked at when it is bound again. */
static void wait_for(struct runtime_binder *binder, struct process *process)
{
	if (process->waits_for_runtime ||
	    array_grow(binder->pids, binder->cap_pids, binder->nr_pids + 1, MAX_PIDS) < 0)
		return;
	binder->pids[binder->nr_pids++] = process->pid;
	process->waits_for_runtime = true;
}

void runtime_binder_bind(struct runtime_binder *binder, struct process *process, uint64_t now_ns)
{
	if (!binder->runtimes || !settle(binder, process, now_ns))
		return;
	if (!process->waits_for_runtime)
		binder->hurry_until_ns = now_ns + RUNTIME_BINDER_HURRY_NS;
	wait_for(binder, process);
}

void runtime_binder_flush(struct runtime_binder *binder, uint64_t now_ns,
			  void (*rebind)(struct process *process, void *data), void *data)
{
	size_t nr_waiting = binder->nr_pids;

	if (nr_waiting == 0)
		return;
	uint64_t generation = runtimes_generation(binder->runtimes);
	if (generation == binder->generation)
		return;
	binder->generation = generation;
	binder->nr_pids = 0;
	for (size_t i = 0; i < nr_waiting; i++) {
		struct process *process = process_table_find(binder->processes, binder->pids[i]);

		if (!process || !process->waits_for_runtime)
			continue;
		process->waits_for_runtime = false;
		if (!process->mappings || process->is_ended)
			continue;
		if (settle(binder, process, now_ns))
			wait_for(binder, process);
		if (process->mappings->is_changed)
			rebind(process, data);
	}
}

uint64_t runtime_binder_next_ns(const struct runtime_binder *binder, uint64_t now_ns)
{
	return binder->nr_pids > 0 && now_ns < binder->hurry_until_ns
		       ? now_ns + RUNTIME_BINDER_STEP_NS
		       : UINT64_MAX;
}

uint32_t runtime_binder_process(struct runtime_binder *binder, const struct process *process,
				uint64_t now_ns)
{
	const struct runtime_sampled sampled = sampled_of(process, now_ns);
	uint32_t id = binder->runtimes ? runtimes_find_process(binder->runtimes, &sampled) : 0;

	if (id != 0 || !binder->runtimes || !process->mappings)
		return id;
	const struct found_runtimes found = find_runtimes(binder, process->mappings);
	return runtimes_see_process(binder->runtimes, &sampled, found.mapped, found.nr);
}
