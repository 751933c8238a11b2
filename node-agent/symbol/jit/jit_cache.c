/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/jit/jit_cache_parts.h"

#include "symbol/jit/jit_files.h"
#include "symbol/jit/jit_names.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_NAME_BYTES ((size_t)64 << 10)

int jit_cache_new(const struct jit_cache_opts *opts, struct jit_cache **ret_cache)
{
	const struct worker_client_opts worker = {
		.program = opts->worker_program,
		.command = JIT_WORKER_COMMAND,
		.max_data_bytes = JIT_WORKER_MAX_DATA_BYTES,
	};
	_cleanup_free_ struct jit_cache *cache = calloc(1, sizeof(*cache));

	if (!cache)
		return -ENOMEM;
	int r = jit_processes_init(&cache->processes);
	if (r < 0)
		return r;
	r = worker_lanes_new(&worker, &cache->lanes);
	if (r < 0) {
		jit_processes_done(&cache->processes);
		return r;
	}
	cache->opts = *opts;
	cache->scratch = strbuf_with_max(MAX_NAME_BYTES);
	pthread_mutex_init(&cache->lock, NULL);
	*ret_cache = take_ptr(cache);
	return 0;
}

void jit_cache_free(struct jit_cache *cache)
{
	if (!cache)
		return;
	worker_lanes_free(cache->lanes);
	jit_processes_done(&cache->processes);
	strbuf_done(&cache->scratch);
	pthread_mutex_destroy(&cache->lock);
	free(cache);
}

/* What one look for the files of a process is about, and what it finds. */
struct look {
	uint32_t id;
	uint32_t pid;
	uint64_t number;
	uint64_t cgroup_id;
	const struct mapping_list *mappings;
	bool is_open[JIT_SOURCE_KINDS]; /* the loader has this one: */
	struct file_identity identities[JIT_SOURCE_KINDS];
	int results[JIT_SOURCE_KINDS]; /* 0 found, or why not */
	struct jit_file files[JIT_SOURCE_KINDS]; /* without a descriptor where the loader has it */
};

/* Whether the process is to be looked at now; if so, fills `look`. `*ret_id` is 0 where it has no file. */
static bool begin_look(struct jit_cache *cache, uint64_t now_ns, struct look *look,
		       uint32_t *ret_id)
{
	LOCKED(cache);
	struct jit_process *process = jit_processes_find(&cache->processes, look->pid,
							 look->number);

	*ret_id = 0;
	if (!process && jit_processes_add(&cache->processes, look->pid, look->number,
					  look->cgroup_id, &process) < 0) {
		cache->stats.nr_without_place++;
		return false;
	}
	process->last_use_ns = now_ns;
	process->keep_until_ns = now_ns + JIT_FORGET_NS;
	process->last_use_round = cache->nr_rounds;
	*ret_id = process->has_file ? process->id : 0;
	if (now_ns < process->next_look_ns)
		return false;
	process->next_look_ns = now_ns + JIT_REOPEN_NS;
	look->id = process->id;
	memcpy(look->is_open, process->is_open, sizeof(look->is_open));
	memcpy(look->identities, process->identities, sizeof(look->identities));
	return true;
}

static int look_for(struct jit_cache *cache, struct look *look, const struct jit_owner *owner,
		    enum jit_source_kind kind)
{
	_cleanup_(file_opener_unpin) struct pinned_file pinned = { .fd = -EBADF };
	struct jit_file *file = &look->files[kind];
	int r;

	if (kind == JIT_SOURCE_MAP)
		r = jit_files_pin_map(cache->opts.proc_fd, look->pid, owner, &pinned);
	else
		r = jit_files_pin_dump(cache->opts.proc_fd, look->pid, owner, look->mappings,
				       &pinned);
	if (r < 0)
		return r;
	file->identity = pinned.identity;
	if (look->is_open[kind] &&
	    jit_source_is_same_file(&look->identities[kind], &pinned.identity))
		return 0;
	return file_opener_open(cache->opts.proc_fd, look->pid, &pinned, &file->fd);
}

/* Leaves an opened file for the loader. */
static int hand_over(struct jit_cache *cache, struct jit_process *process, size_t kind,
		     struct jit_file *file)
{
	struct jit_file *incoming = &process->incoming[kind];

	process->has_file = true;
	if (file->fd < 0)
		return 0;
	if (cache->nr_open >= JIT_CACHE_MAX_OPEN)
		return -ENOSPC;
	if (incoming->fd >= 0)
		cache->nr_open--;
	cleanup_closep(&incoming->fd);
	*incoming = (struct jit_file){ .fd = take_fd(file->fd), .identity = file->identity };
	cache->nr_open++;
	process->is_open[kind] = true;
	process->identities[kind] = file->identity;
	return 0;
}

static bool is_refusal(int result)
{
	return result < 0 && result != -ENOENT && result != -ESRCH;
}

static uint32_t finish_look(struct jit_cache *cache, struct look *look, bool is_java)
{
	LOCKED(cache);
	struct jit_process *process = jit_processes_get(&cache->processes, look->id);

	if (!process)
		return 0;
	process->is_java = is_java;
	for (size_t kind = 0; kind < JIT_SOURCE_KINDS; kind++) {
		int r = look->results[kind];

		if (r == 0)
			r = hand_over(cache, process, kind, &look->files[kind]);
		cache->stats.nr_refused += is_refusal(r) && !process->is_refused[kind];
		process->is_refused[kind] = is_refusal(r);
	}
	return process->has_file ? process->id : 0;
}

uint32_t jit_cache_open(struct jit_cache *cache, uint32_t pid, uint64_t number, uint64_t cgroup_id,
			const struct mapping_list *mappings, uint64_t now_ns)
{
	struct look look = {
		.pid = pid,
		.number = number,
		.cgroup_id = cgroup_id,
		.mappings = mappings,
	};
	struct jit_owner owner;
	uint32_t id;

	if (!begin_look(cache, now_ns, &look, &id))
		return id;
	int r = jit_files_read_owner(cache->opts.proc_fd, pid, &owner);
	for (size_t kind = 0; kind < JIT_SOURCE_KINDS; kind++) {
		look.files[kind].fd = -EBADF;
		look.results[kind] = r < 0 ? r
					   : look_for(cache, &look, &owner,
						      (enum jit_source_kind)kind);
	}
	id = finish_look(cache, &look, jit_files_has_java_vm(mappings));
	for (size_t kind = 0; kind < JIT_SOURCE_KINDS; kind++)
		cleanup_closep(&look.files[kind].fd);
	return id;
}

static void fill_frames(struct jit_cache *cache, const struct jit_found *found,
			struct symbol_frames *ret_frames)
{
	struct jit_name name = jit_names_join(found->name, &found->parts, &cache->scratch);

	cache->line = (struct symbol_line){
		.name = name.name,
		.system_name = found->name,
		.filename = found->line > 0 ? found->filename : name.filename,
		.line = found->line > 0 ? found->line : name.start_line,
		.start_line = name.start_line,
	};
	ret_frames->lines = &cache->line;
	ret_frames->nr_lines = 1;
	ret_frames->language = (enum symbol_language)found->parts.language;
}

static struct jit_process *use_process(struct jit_cache *cache, uint32_t id)
{
	LOCKED(cache);
	struct jit_process *process = jit_processes_get(&cache->processes, id);

	if (process)
		process->last_use_round = cache->nr_rounds;
	return process;
}

int jit_cache_symbolize(struct jit_cache *cache, uint32_t id, uint64_t address,
			struct symbol_frames *ret_frames)
{
	const struct jit_process *process = use_process(cache, id);
	struct symbol_frames frames = { .address = address };
	struct jit_found found;

	for (size_t kind = 0; process && kind < JIT_SOURCE_KINDS; kind++) {
		if (!jit_source_find(&process->sources[kind], address, &found))
			continue;
		fill_frames(cache, &found, &frames);
		*ret_frames = frames;
		return 0;
	}
	return -ENOENT;
}

/* Whether a process is not needed any more. One that lives keeps its functions for a while without being sampled,
 * unless its place is needed: to read them again costs more. */
static bool is_over(const struct jit_cache *cache, struct jit_process *process, uint64_t now_ns)
{
	char path[16];

	if (now_ns < process->keep_until_ns || cache->nr_rounds < process->last_use_round + 2)
		return false;
	snprintf(path, sizeof(path), "%" PRIu32, process->pid);
	if (cache->processes.nr_used == JIT_CACHE_MAX_PROCESSES ||
	    now_ns - process->last_use_ns > JIT_IDLE_NS ||
	    faccessat(cache->opts.proc_fd, path, F_OK, 0) < 0)
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

/* Takes over what the reader has opened. */
static void take_files(struct jit_cache *cache, struct jit_process *process)
{
	for (size_t kind = 0; kind < JIT_SOURCE_KINDS; kind++) {
		struct jit_file *incoming = &process->incoming[kind];

		if (incoming->fd < 0)
			continue;
		cache->nr_open -= process->sources[kind].fd >= 0;
		jit_source_set_file(&process->sources[kind], take_fd(incoming->fd),
				    &incoming->identity);
		process->has_more = true;
	}
}

/* Lets go of the files of a process that is not sampled. When it is, the reader opens them again. */
static void close_idle(struct jit_cache *cache, struct jit_process *process)
{
	if (process->was_used || process->has_more || cache->nr_open <= JIT_CACHE_MAX_OPEN / 2)
		return;
	cache->nr_open -= count_open(process);
	for (size_t kind = 0; kind < JIT_SOURCE_KINDS; kind++) {
		jit_source_close(&process->sources[kind]);
		process->is_open[kind] = false;
	}
}

struct jit_process *jit_cache_list(struct jit_cache *cache, uint64_t now_ns)
{
	struct jit_process *over = NULL;
	LOCKED(cache);

	cache->nr_rounds++;
	cache->nr_listed = 0;
	for (size_t i = 0; i < cache->processes.nr_slots; i++) {
		struct jit_process *process = cache->processes.slots[i];

		if (process && is_over(cache, process, now_ns)) {
			cache->nr_open -= count_open(process);
			jit_processes_remove(&cache->processes, process);
			process->next_over = over;
			over = process;
		} else if (process) {
			take_files(cache, process);
			process->was_used = process->last_use_round + 1 == cache->nr_rounds;
			process->used_ns = process->last_use_ns;
			process->writes_java = process->is_java;
			close_idle(cache, process);
			cache->listed[cache->nr_listed++] = process;
		}
	}
	return over;
}

struct jit_cache_stats jit_cache_get_stats(struct jit_cache *cache)
{
	LOCKED(cache);
	struct jit_cache_stats stats = cache->stats;

	for (size_t i = 0; i < cache->processes.nr_slots; i++) {
		const struct jit_process *process = cache->processes.slots[i];

		stats.nr_processes += process && process->has_file;
	}
	return stats;
}
