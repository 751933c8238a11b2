/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/client/runtimes.h"

#include "base/clock.h"
#include "base/heartbeat.h"
#include "base/locked.h"
#include "base/strbuf.h"
#include "runtime/client/runtime_registry.h"
#include "runtime/client/runtime_thread.h"

#include <stdlib.h>
#include <string.h>

#define MAX_TEXT_BYTES ((size_t)256 << 10) /* of one frame */
#define COPIES_WAIT_NS (100 * NSEC_PER_MSEC) /* for frames of other processes */

/* A frame's number is its place in the process and one more, below the process's id. */
#define PROCESS_SHIFT 32

struct runtimes {
	struct runtime_registry registry;
	struct runtime_thread *thread; /* owned */

	/* The last result of runtimes_symbolize(); only for the symbolizer. */
	struct strbuf text;
	struct symbol_line lines[RUNTIME_MAX_LINES];
};

int runtimes_new(const struct runtimes_opts *opts, struct runtimes **ret_runtimes)
{
	_cleanup_free_ struct runtimes *runtimes = calloc(1, sizeof(*runtimes));

	if (!runtimes)
		return -ENOMEM;
	runtimes->text = strbuf_with_max(MAX_TEXT_BYTES);
	int r = runtime_registry_init(&runtimes->registry, opts);
	if (r < 0)
		return r;
	r = runtime_thread_start(&runtimes->registry, opts, &runtimes->thread);
	if (r < 0) {
		runtime_registry_done(&runtimes->registry);
		return r;
	}
	*ret_runtimes = take_ptr(runtimes);
	return 0;
}

void runtimes_free(struct runtimes *runtimes)
{
	if (!runtimes)
		return;
	runtime_thread_stop(runtimes->thread);
	runtime_registry_done(&runtimes->registry);
	strbuf_done(&runtimes->text);
	free(runtimes);
}

uint32_t runtimes_add_file(struct runtimes *runtimes, int *fd, uint64_t owner)
{
	struct runtime_registry *registry = &runtimes->registry;
	struct runtime_known_file *file;
	LOCKED(&registry->lock);

	if (runtime_files_add(&registry->files, fd, owner, &file) < 0) {
		registry->stats.nr_refused++;
		return 0;
	}
	runtime_registry_wake(registry);
	return file->id;
}

void runtimes_remove_file(struct runtimes *runtimes, uint32_t id)
{
	struct runtime_registry *registry = &runtimes->registry;
	LOCKED(&registry->lock);
	struct runtime_known_file *file = runtime_files_find(&registry->files, id);

	if (file)
		runtime_files_remove(&registry->files, file);
}

enum runtime_file_state runtimes_file_state(struct runtimes *runtimes, uint32_t id)
{
	LOCKED(&runtimes->registry.lock);
	const struct runtime_known_file *file = runtime_files_find(&runtimes->registry.files, id);

	return file ? file->state : RUNTIME_FILE_NONE;
}

uint64_t runtimes_generation(const struct runtimes *runtimes)
{
	return __atomic_load_n(&runtimes->registry.generation, __ATOMIC_ACQUIRE);
}

uint32_t runtimes_find_process(struct runtimes *runtimes, const struct runtime_sampled *sampled)
{
	LOCKED(&runtimes->registry.lock);
	struct runtime_known_process *process = runtime_processes_find(
		&runtimes->registry.processes, sampled->pid, sampled->number);

	if (!process)
		return 0;
	process->sampled = *sampled;
	return process->id;
}

/* Returns the process, or NULL if there is no room. */
static struct runtime_known_process *get_process(struct runtime_registry *registry,
						 const struct runtime_sampled *sampled)
{
	struct runtime_known_process *process = runtime_processes_find(
		&registry->processes, sampled->pid, sampled->number);

	if (!process && runtime_processes_add(&registry->processes, sampled, &process) < 0) {
		registry->stats.nr_refused++;
		return NULL;
	}
	process->sampled = *sampled;
	return process;
}

uint32_t runtimes_see_process(struct runtimes *runtimes, const struct runtime_sampled *sampled,
			      const struct runtimes_mapped *mapped, size_t nr)
{
	struct runtime_registry *registry = &runtimes->registry;
	LOCKED(&registry->lock);
	struct runtime_known_process *process = get_process(registry, sampled);

	for (size_t i = 0; process && i < nr; i++) {
		struct runtime_known_file *file = runtime_files_find(&registry->files,
								     mapped[i].file);

		if (file && file->state == RUNTIME_FILE_RUNTIME &&
		    runtime_processes_add_instance(&registry->processes, process, file,
						   mapped[i].start, mapped[i].offset) &&
		    (process->is_due || process->has_work))
			runtime_registry_wake(registry);
	}
	return process ? process->id : 0;
}

/* Sets the version and the reason that were found in a process; `found` may be NULL. */
static void set_details(struct runtimes_result *result, const struct runtime_found *found)
{
	static const char unreadable[] = "its memory cannot be read";

	if (found && found->version != 0)
		result->version = found->version;
	if (found)
		memcpy(result->reason, found->reason, sizeof(result->reason));
	else if (result->state == RUNTIME_UNSUPPORTED)
		memcpy(result->reason, unreadable, sizeof(unreadable));
}

static struct runtimes_result result_of(const struct runtime_known_process *process,
					const struct runtime_instance *instance)
{
	const struct runtime_found *found = runtime_instance_found(instance);
	struct runtimes_result result = {
		.file = instance->file->id,
		.kind = (enum runtime_kind)instance->file->answer->file.kind,
		.version = instance->file->answer->file.version,
		.state = found && instance->state == RUNTIME_PENDING ? RUNTIME_READY
								     : instance->state,
		.is_final = runtime_instance_is_settled(process, instance),
	};

	set_details(&result, found ? found : instance->own);
	if (!found && instance->own && instance->own->is_marked)
		found = instance->own;
	if (!found)
		return result;
	result.is_marked = found->is_marked;
	result.is_shared = found->is_shared;
	result.has_process = found->has_process;
	result.layout = found->layout;
	result.process = found->process;
	return result;
}

size_t runtimes_get_results(struct runtimes *runtimes, uint32_t process,
			    struct runtimes_result ret_results[static RUNTIME_MAX_OF_PROCESS])
{
	LOCKED(&runtimes->registry.lock);
	const struct runtime_known_process *known = runtime_processes_get(
		&runtimes->registry.processes, process);

	for (size_t i = 0; known && i < known->nr_instances; i++)
		ret_results[i] = result_of(known, &known->instances[i]);
	return known ? known->nr_instances : 0;
}

/* A frame was added that waits for its names. */
static void await_names(struct runtime_registry *registry, struct runtime_known_process *process,
			uint32_t number, uint64_t now_ns)
{
	const struct code_key key = {
		.pid = process->sampled.pid,
		.start_ns = process->sampled.start_ns,
		.words = frame_names_find(&process->frames, number)->words,
	};
	bool is_copied = code_copies_find(&registry->copies, &key) != NULL;

	frame_names_set_copied(&process->frames, number, is_copied);
	runtime_processes_update(&registry->processes, process);
	if (process->has_work)
		runtime_registry_wake_later(registry, is_copied ? now_ns + COPIES_WAIT_NS : 0);
}

uint64_t runtimes_frame(struct runtimes *runtimes, uint32_t process, const uint64_t *words,
			uint64_t now_ns)
{
	struct runtime_registry *registry = &runtimes->registry;
	bool is_added = false;
	uint32_t number;
	LOCKED(&registry->lock);
	struct runtime_known_process *known = runtime_processes_get(&registry->processes, process);

	if (!known || frame_names_kind(words[0]) == RUNTIME_NONE)
		return 0;
	known->sampled.now_ns = now_ns;
	size_t nr_bytes = known->frames.nr_bytes;
	int r = registry->stats.nr_bytes > registry->max_bytes
			? -ENOSPC
			: frame_names_get(&known->frames, words, now_ns, &number, &is_added);
	if (r < 0) {
		registry->stats.nr_refused++;
		return 0;
	}
	registry->stats.nr_bytes += known->frames.nr_bytes - nr_bytes;
	if (is_added)
		await_names(registry, known, number, now_ns);
	return (uint64_t)process << PROCESS_SHIFT | (number + 1);
}

void runtimes_add_copy(struct runtimes *runtimes, const struct code_copy *copy, uint64_t now_ns)
{
	struct runtime_registry *registry = &runtimes->registry;
	LOCKED(&registry->lock);

	code_copies_add(&registry->copies, copy, now_ns);
}

void runtimes_flush(struct runtimes *runtimes, uint64_t now_ns)
{
	struct runtime_registry *registry = &runtimes->registry;
	LOCKED(&registry->lock);

	runtime_registry_flush(registry, now_ns);
}

void runtimes_wait(struct runtimes *runtimes, uint64_t until_ns)
{
	struct runtime_registry *registry = &runtimes->registry;
	const struct timespec until = clock_timespec(until_ns);
	LOCKED(&registry->lock);

	runtime_registry_flush(registry, UINT64_MAX);
	while (!registry->is_idle)
		if (pthread_cond_timedwait(&registry->is_idle_now, &registry->lock, &until) != 0)
			return;
}

static const enum symbol_language languages[RUNTIME_NR_KINDS] = {
	[RUNTIME_CPYTHON] = LANGUAGE_CPYTHON,
	[RUNTIME_HOTSPOT] = LANGUAGE_JVM,
	[RUNTIME_V8] = LANGUAGE_V8JS,
};

/* Appends a text and a NUL. Returns its offset. */
static size_t keep_text(struct strbuf *out, const char *text, size_t len)
{
	size_t at = out->len;

	strbuf_append(out, text, len);
	strbuf_append_char(out, '\0');
	return at;
}

/* Copies the lines of a frame. Offsets become pointers when the text does not move any more.
 * Errors: -EBADMSG, those of the text. */
static int copy_lines(struct runtimes *runtimes, const struct named_frame *frame,
		      uint32_t *ret_nr_lines)
{
	struct frame_reader reader = { .bytes = frame->names, .len = frame->nr_bytes };
	size_t names[RUNTIME_MAX_LINES], filenames[RUNTIME_MAX_LINES];
	uint32_t nr_lines;

	strbuf_clear(&runtimes->text);
	int r = frame_reader_next(&reader, &nr_lines);
	for (uint32_t i = 0; r == 0 && i < nr_lines; i++) {
		struct runtime_line line;

		r = frame_reader_line(&reader, &line);
		if (r < 0)
			break;
		names[i] = keep_text(&runtimes->text, line.name, line.name_len);
		filenames[i] = keep_text(&runtimes->text, line.filename, line.filename_len);
		runtimes->lines[i].line = line.line;
		runtimes->lines[i].start_line = line.start_line;
	}
	if (r == 0)
		r = strbuf_error(&runtimes->text);
	for (uint32_t i = 0; r == 0 && i < nr_lines; i++) {
		runtimes->lines[i].name = runtimes->text.data + names[i];
		runtimes->lines[i].system_name = runtimes->lines[i].name;
		runtimes->lines[i].filename = runtimes->text.data + filenames[i];
	}
	if (r == 0)
		*ret_nr_lines = nr_lines;
	return r;
}

int runtimes_symbolize(struct runtimes *runtimes, uint64_t frame, struct symbol_frames *ret_frames)
{
	LOCKED(&runtimes->registry.lock);
	const struct runtime_known_process *process = runtime_processes_get(
		&runtimes->registry.processes, (uint32_t)(frame >> PROCESS_SHIFT));
	uint32_t number = (uint32_t)frame, nr_lines;

	const struct named_frame *named = process && number > 0
						  ? frame_names_find(&process->frames, number - 1)
						  : NULL;
	if (!named || !named->names || copy_lines(runtimes, named, &nr_lines) < 0)
		return -ENOENT;
	*ret_frames = (struct symbol_frames){
		.lines = runtimes->lines,
		.nr_lines = nr_lines,
		.language = languages[frame_names_kind(named->words[0])],
	};
	return 0;
}

/* Processes that have ended are kept for their names, and not counted. */
static void count_processes(const struct runtime_registry *registry, struct runtimes_stats *stats)
{
	for (size_t i = 0; i < registry->processes.nr_slots; i++) {
		const struct runtime_known_process *process = registry->processes.slots[i];

		for (size_t j = 0; process && !process->is_gone && j < process->nr_instances; j++) {
			const struct runtimes_result result = result_of(process,
									&process->instances[j]);
			struct runtimes_kind_stats *kind = runtimes_stats_of(
				stats, process->instances[j].file->answer->file.kind);

			kind->nr_ready += result.state == RUNTIME_READY;
			kind->nr_pending += result.state == RUNTIME_PENDING;
			kind->nr_unsupported += result.state == RUNTIME_UNSUPPORTED;
		}
	}
}

struct runtimes_stats runtimes_get_stats(struct runtimes *runtimes)
{
	struct runtime_registry *registry = &runtimes->registry;
	LOCKED(&registry->lock);
	struct runtimes_stats stats = registry->stats;

	stats.nr_processes = registry->processes.nr_used;
	count_processes(registry, &stats);
	for (size_t i = 0; i < registry->files.nr_rows; i++) {
		const struct runtime_known_file *file = registry->files.rows[i];

		if (file && file->answer)
			runtimes_stats_of(&stats, file->answer->file.kind)->nr_files++;
	}
	return stats;
}
