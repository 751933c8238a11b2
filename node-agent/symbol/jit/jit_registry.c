/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/jit/jit_registry.h"

#include "base/cleanup.h"
#include "base/locked.h"
#include "symbol/jit/jit_files.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct jit_registry {
	int proc_fd; /* borrowed */

	pthread_mutex_t lock;
	struct jit_process_index processes;
	uint64_t nr_rounds; /* calls of jit_registry_list() */
	size_t nr_open; /* descriptors */
	uint64_t nr_refused;
	uint64_t nr_without_place;
};

int jit_registry_new(int proc_fd, struct jit_registry **ret_registry)
{
	_cleanup_free_ struct jit_registry *registry = calloc(1, sizeof(*registry));

	if (!registry)
		return -ENOMEM;
	int r = jit_process_index_init(&registry->processes);
	if (r < 0)
		return r;
	registry->proc_fd = proc_fd;
	pthread_mutex_init(&registry->lock, NULL);
	*ret_registry = take_ptr(registry);
	return 0;
}

void jit_registry_free(struct jit_registry *registry)
{
	if (!registry)
		return;
	jit_process_index_done(&registry->processes);
	pthread_mutex_destroy(&registry->lock);
	free(registry);
}

/* One search for the files of a process, and its results. */
struct look {
	uint32_t id;
	const struct jit_sampled *sampled;
	bool is_open[JIT_SOURCE_KINDS]; /* the symbolizer has the file with this identity: */
	struct file_identity identities[JIT_SOURCE_KINDS];
	int results[JIT_SOURCE_KINDS]; /* 0 if found, else an error */
	struct jit_file files[JIT_SOURCE_KINDS]; /* fd is negative if the symbolizer has the file */
};

/* Returns whether to look for files of the process now; if so, fills `look`. Sets `*ret_id` to 0 if
 * the process has no file so far. */
static bool begin_look(struct jit_registry *registry, uint64_t now_ns, struct look *look,
		       uint32_t *ret_id)
{
	LOCKED(&registry->lock);
	struct jit_process *process = jit_process_index_find(&registry->processes, look->sampled);

	*ret_id = 0;
	if (!process && jit_process_index_add(&registry->processes, look->sampled, &process) < 0) {
		registry->nr_without_place++;
		return false;
	}
	process->last_use_ns = now_ns;
	process->keep_until_ns = now_ns + JIT_FORGET_NS;
	process->last_use_round = registry->nr_rounds;
	*ret_id = process->has_file ? process->id : 0;
	if (now_ns < process->next_look_ns)
		return false;
	process->next_look_ns = now_ns + JIT_REOPEN_NS;
	look->id = process->id;
	memcpy(look->is_open, process->is_open, sizeof(look->is_open));
	memcpy(look->identities, process->identities, sizeof(look->identities));
	return true;
}

static int look_for(struct jit_registry *registry, struct look *look, const struct jit_owner *owner,
		    enum jit_source_kind kind)
{
	_cleanup_(file_opener_unpin) struct pinned_file pinned = { .fd = -EBADF };
	struct jit_file *file = &look->files[kind];
	int r;

	if (kind == JIT_SOURCE_MAP)
		r = jit_files_pin_map(registry->proc_fd, look->sampled->pid, owner, &pinned);
	else
		r = jit_files_pin_dump(registry->proc_fd, look->sampled->pid, owner,
				       look->sampled->mappings, &pinned);
	if (r < 0)
		return r;
	file->identity = pinned.identity;
	if (look->is_open[kind] &&
	    jit_source_is_same_file(&look->identities[kind], &pinned.identity))
		return 0;
	return file_opener_open(registry->proc_fd, look->sampled->pid, &pinned, &file->fd);
}

/* Leaves an opened file for the symbolizer. */
static int hand_over(struct jit_registry *registry, struct jit_process *process, size_t kind,
		     struct jit_file *file)
{
	struct jit_file *incoming = &process->incoming[kind];

	process->has_file = true;
	if (file->fd < 0)
		return 0;
	if (registry->nr_open >= JIT_REGISTRY_MAX_OPEN)
		return -ENOSPC;
	if (incoming->fd >= 0)
		registry->nr_open--;
	cleanup_closep(&incoming->fd);
	*incoming = (struct jit_file){ .fd = take_fd(file->fd), .identity = file->identity };
	registry->nr_open++;
	process->is_open[kind] = true;
	process->identities[kind] = file->identity;
	return 0;
}

static bool is_refusal(int result)
{
	return result < 0 && result != -ENOENT && result != -ESRCH;
}

static uint32_t finish_look(struct jit_registry *registry, struct look *look, bool is_java)
{
	LOCKED(&registry->lock);
	struct jit_process *process = jit_process_index_get(&registry->processes, look->id);

	if (!process)
		return 0;
	process->is_java = is_java;
	for (size_t kind = 0; kind < JIT_SOURCE_KINDS; kind++) {
		int r = look->results[kind];

		if (r == 0)
			r = hand_over(registry, process, kind, &look->files[kind]);
		registry->nr_refused += is_refusal(r) && !process->is_refused[kind];
		process->is_refused[kind] = is_refusal(r);
	}
	return process->has_file ? process->id : 0;
}

uint32_t jit_registry_open(struct jit_registry *registry, const struct jit_sampled *sampled,
			   uint64_t now_ns)
{
	struct look look = { .sampled = sampled };
	struct jit_owner owner;
	uint32_t id;

	if (!begin_look(registry, now_ns, &look, &id))
		return id;
	int r = jit_files_read_owner(registry->proc_fd, sampled->pid, &owner);
	for (size_t kind = 0; kind < JIT_SOURCE_KINDS; kind++) {
		look.files[kind].fd = -EBADF;
		look.results[kind] = r < 0 ? r
					   : look_for(registry, &look, &owner,
						      (enum jit_source_kind)kind);
	}
	id = finish_look(registry, &look, jit_files_has_java_vm(sampled->mappings));
	for (size_t kind = 0; kind < JIT_SOURCE_KINDS; kind++)
		cleanup_closep(&look.files[kind].fd);
	return id;
}

struct jit_process *jit_registry_find(struct jit_registry *registry, uint32_t id)
{
	LOCKED(&registry->lock);

	return jit_process_index_get(&registry->processes, id);
}

struct jit_process *jit_registry_use(struct jit_registry *registry, uint32_t id)
{
	LOCKED(&registry->lock);
	struct jit_process *process = jit_process_index_get(&registry->processes, id);

	if (process)
		process->last_use_round = registry->nr_rounds;
	return process;
}

/* Returns whether a process is no longer needed. A process that lives keeps its functions for a
 * while without samples, unless its slot is needed, because reading them again costs more. */
static bool is_over(const struct jit_registry *registry, struct jit_process *process,
		    uint64_t now_ns)
{
	char path[16];

	if (now_ns < process->keep_until_ns || registry->nr_rounds < process->last_use_round + 2)
		return false;
	snprintf(path, sizeof(path), "%" PRIu32, process->pid);
	if (registry->processes.nr_used == JIT_PROCESS_INDEX_MAX ||
	    now_ns - process->last_use_ns > JIT_IDLE_NS ||
	    faccessat(registry->proc_fd, path, F_OK, 0) < 0)
		return true;
	process->keep_until_ns = now_ns + JIT_FORGET_NS;
	return false;
}

static size_t count_open(const struct jit_process *process)
{
	size_t nr = 0;

	for (size_t kind = 0; kind < JIT_SOURCE_KINDS; kind++)
		nr += (size_t)(process->incoming[kind].fd >= 0) +
		      (size_t)(process->sources[kind].fd >= 0);
	return nr;
}

/* Takes the files that the reader has opened. */
static void take_files(struct jit_registry *registry, struct jit_process *process)
{
	for (size_t kind = 0; kind < JIT_SOURCE_KINDS; kind++) {
		struct jit_file *incoming = &process->incoming[kind];

		if (incoming->fd < 0)
			continue;
		registry->nr_open -= process->sources[kind].fd >= 0;
		jit_source_set_file(&process->sources[kind], take_fd(incoming->fd),
				    &incoming->identity);
		process->has_more = true;
	}
}

/* Closes the files of a process that is not sampled. At its next sample the reader opens them
 * again. */
static void close_idle(struct jit_registry *registry, struct jit_process *process)
{
	if (process->was_used || process->has_more ||
	    registry->nr_open <= JIT_REGISTRY_MAX_OPEN / 2)
		return;
	registry->nr_open -= count_open(process);
	for (size_t kind = 0; kind < JIT_SOURCE_KINDS; kind++) {
		jit_source_close(&process->sources[kind]);
		process->is_open[kind] = false;
	}
}

/* Fills the list. Removes the processes that are over and returns them as a linked list. */
static struct jit_process *list_processes(struct jit_registry *registry, uint64_t now_ns,
					  struct jit_process **ret_listed, size_t *ret_nr)
{
	struct jit_process *over = NULL;
	LOCKED(&registry->lock);

	registry->nr_rounds++;
	*ret_nr = 0;
	for (size_t i = 0; i < registry->processes.nr_slots; i++) {
		struct jit_process *process = registry->processes.slots[i];

		if (process && is_over(registry, process, now_ns)) {
			registry->nr_open -= count_open(process);
			jit_process_index_remove(&registry->processes, process);
			process->next_over = over;
			over = process;
		} else if (process) {
			take_files(registry, process);
			process->was_used = process->last_use_round + 1 == registry->nr_rounds;
			process->used_ns = process->last_use_ns;
			process->writes_java = process->is_java;
			close_idle(registry, process);
			ret_listed[(*ret_nr)++] = process;
		}
	}
	return over;
}

size_t jit_registry_list(struct jit_registry *registry, uint64_t now_ns,
			 struct jit_process *ret_listed[static JIT_PROCESS_INDEX_MAX])
{
	size_t nr;
	struct jit_process *over = list_processes(registry, now_ns, ret_listed, &nr);

	while (over) {
		struct jit_process *process = over;

		over = process->next_over;
		jit_process_free(process);
	}
	return nr;
}

void jit_registry_add_stats(struct jit_registry *registry, struct jit_stats *stats)
{
	LOCKED(&registry->lock);

	stats->nr_refused += registry->nr_refused;
	stats->nr_without_place += registry->nr_without_place;
	for (size_t i = 0; i < registry->processes.nr_slots; i++) {
		const struct jit_process *process = registry->processes.slots[i];

		stats->nr_processes += process && process->has_file;
	}
}
