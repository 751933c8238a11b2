/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/client/runtime_processes.h"

#include "base/cleanup.h"
#include "base/hash.h"

#include <stdlib.h>

int runtime_processes_init(struct runtime_processes *processes)
{
	*processes = (struct runtime_processes){ 0 };
	TAILQ_INIT(&processes->work);
	TAILQ_INIT(&processes->due);
	processes->slots = calloc(RUNTIME_PROCESSES_MAX, sizeof(struct runtime_known_process *));
	processes->last_ids = calloc(RUNTIME_PROCESSES_MAX, sizeof(*processes->last_ids));
	if (processes->slots && processes->last_ids)
		return 0;
	free(processes->slots);
	free(processes->last_ids);
	return -ENOMEM;
}

static void free_process(struct runtime_known_process *process)
{
	for (size_t i = 0; i < process->nr_instances; i++) {
		runtime_known_file_unref(process->instances[i].file);
		free(process->instances[i].own);
	}
	frame_names_done(&process->frames);
	cleanup_closep(&process->memory_fd);
	free(process);
}

void runtime_processes_done(struct runtime_processes *processes)
{
	for (size_t i = 0; i < processes->nr_slots; i++)
		if (processes->slots[i])
			free_process(processes->slots[i]);
	free(processes->slots);
	free(processes->last_ids);
	htable_done(&processes->by_process);
}

struct runtime_known_process *runtime_processes_get(const struct runtime_processes *processes,
						    uint32_t id)
{
	struct runtime_known_process *process =
		id > 0 ? processes->slots[(id - 1) % RUNTIME_PROCESSES_MAX] : NULL;

	return process && process->id == id ? process : NULL;
}

static uint32_t hash_of(uint32_t pid, uint64_t number)
{
	return hash_u64(number ^ (uint64_t)pid << 40);
}

struct runtime_known_process *runtime_processes_find(const struct runtime_processes *processes,
						     uint32_t pid, uint64_t number)
{
	struct htable_iter it = htable_lookup(&processes->by_process, hash_of(pid, number));

	for (uint32_t slot; htable_next(&it, &slot);) {
		struct runtime_known_process *process = processes->slots[slot];

		if (process->sampled.pid == pid && process->sampled.number == number)
			return process;
	}
	return NULL;
}

/* Returns a free slot; there is one. */
static uint32_t find_slot(struct runtime_processes *processes)
{
	uint32_t slot = 0;

	if (processes->nr_slots < RUNTIME_PROCESSES_MAX)
		return (uint32_t)processes->nr_slots++;
	while (processes->slots[slot])
		slot++;
	return slot;
}

static uint32_t new_id(struct runtime_processes *processes, uint32_t slot)
{
	uint32_t *last = &processes->last_ids[slot];

	if (*last == 0 || *last > UINT32_MAX - RUNTIME_PROCESSES_MAX)
		*last = slot + 1;
	else
		*last += RUNTIME_PROCESSES_MAX;
	return *last;
}

int runtime_processes_add(struct runtime_processes *processes,
			  const struct runtime_sampled *sampled,
			  struct runtime_known_process **ret_process)
{
	if (processes->nr_used == RUNTIME_PROCESSES_MAX)
		return -ENOSPC;
	_cleanup_free_ struct runtime_known_process *process = calloc(1, sizeof(*process));
	if (!process)
		return -ENOMEM;
	uint32_t slot = find_slot(processes);
	int r = htable_add(&processes->by_process, hash_of(sampled->pid, sampled->number), slot);
	if (r < 0)
		return r;
	process->id = new_id(processes, slot);
	process->sampled = *sampled;
	process->memory_fd = -EBADF;
	process->max_frames = RUNTIME_MAX_FRAMES;
	process->checked_ns = sampled->now_ns;
	processes->nr_used++;
	processes->slots[slot] = process;
	*ret_process = take_ptr(process);
	return 0;
}

static void leave_lists(struct runtime_processes *processes, struct runtime_known_process *process)
{
	if (process->has_work)
		TAILQ_REMOVE(&processes->work, process, work_link);
	if (process->is_due)
		TAILQ_REMOVE(&processes->due, process, due_link);
}

void runtime_processes_remove(struct runtime_processes *processes,
			      struct runtime_known_process *process)
{
	uint32_t slot = (process->id - 1) % RUNTIME_PROCESSES_MAX;

	leave_lists(processes, process);
	htable_remove(&processes->by_process,
		      hash_of(process->sampled.pid, process->sampled.number), slot);
	processes->slots[slot] = NULL;
	processes->nr_used--;
	free_process(process);
}

bool runtime_processes_add_instance(struct runtime_processes *processes,
				    struct runtime_known_process *process,
				    struct runtime_known_file *file, uint64_t start,
				    uint64_t offset)
{
	for (size_t i = 0; i < process->nr_instances; i++)
		if (process->instances[i].file == file)
			return false;
	if (process->nr_instances == RUNTIME_MAX_OF_PROCESS)
		return false;
	process->instances[process->nr_instances++] = (struct runtime_instance){
		.file = runtime_known_file_ref(file),
		.start = start,
		.offset = offset,
		.state = RUNTIME_PENDING,
	};
	runtime_processes_update(processes, process);
	return true;
}

const struct runtime_found *runtime_instance_found(const struct runtime_instance *instance)
{
	if (instance->state == RUNTIME_UNSUPPORTED)
		return NULL;
	return instance->own ? instance->own : instance->file->shared;
}

bool runtime_instance_is_settled(const struct runtime_known_process *process,
				 const struct runtime_instance *instance)
{
	return instance->state != RUNTIME_PENDING ||
	       runtime_known_file_is_trusted(instance->file, process->sampled.cgroup_id);
}

const struct runtime_found *runtime_processes_found(const struct runtime_known_process *process,
						    enum runtime_kind kind)
{
	for (size_t i = 0; i < process->nr_instances; i++) {
		const struct runtime_instance *instance = &process->instances[i];
		const struct runtime_found *found = runtime_instance_found(instance);

		if (found && instance->file->answer->file.kind == kind)
			return found;
	}
	return NULL;
}

/* Returns whether frames wait that can be named, from copies or else from the process's memory. */
static bool can_name(const struct runtime_known_process *process, bool is_copied)
{
	for (uint32_t kind = RUNTIME_NONE + 1; kind < RUNTIME_NR_KINDS; kind++) {
		const struct frame_choice choice = { (enum runtime_kind)kind, is_copied };

		if (runtime_processes_found(process, choice.kind) &&
		    frame_names_wait(&process->frames, &choice))
			return true;
	}
	return false;
}

static bool is_pending(const struct runtime_known_process *process)
{
	for (size_t i = 0; i < process->nr_instances; i++)
		if (!runtime_instance_is_settled(process, &process->instances[i]))
			return true;
	return false;
}

void runtime_processes_update(struct runtime_processes *processes,
			      struct runtime_known_process *process)
{
	bool is_free = !process->is_asked && !process->is_gone;
	bool has_work = (is_free && can_name(process, false)) ||
			(!process->is_asked && can_name(process, true));
	bool is_due = is_free && is_pending(process);

	if (has_work && !process->has_work)
		TAILQ_INSERT_TAIL(&processes->work, process, work_link);
	if (!has_work && process->has_work)
		TAILQ_REMOVE(&processes->work, process, work_link);
	if (is_due && !process->is_due)
		TAILQ_INSERT_TAIL(&processes->due, process, due_link);
	if (!is_due && process->is_due)
		TAILQ_REMOVE(&processes->due, process, due_link);
	process->has_work = has_work;
	process->is_due = is_due;
}
