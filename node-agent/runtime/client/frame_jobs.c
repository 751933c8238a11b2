/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/client/frame_jobs.h"

#include <string.h>

/* A process that ended this many workers is not read any more. */
#define MAX_DEATHS 8

static const uint64_t *words_of(const struct runtime_known_process *process, uint32_t number)
{
	return frame_names_find(&process->frames, number)->words;
}

static void append_words(struct strbuf *request, const uint64_t *words)
{
	strbuf_append(request, words, runtime_nr_words(words[0]) * sizeof(*words));
}

static void begin_request(struct strbuf *request, enum runtime_kind kind,
			  const struct runtime_found *found)
{
	struct runtime_names_request head = { .kind = kind };

	memcpy(head.naming, found->naming, sizeof(head.naming));
	strbuf_append(request, &head, sizeof(head));
}

static void end_request(const struct runtime_search *search)
{
	uint32_t nr_frames = (uint32_t)search->job->nr_frames;

	if (strbuf_error(search->request) == 0)
		memcpy(search->request->data + offsetof(struct runtime_names_request, nr_frames),
		       &nr_frames, sizeof(nr_frames));
}

static void add_to_job(struct runtime_job *job, const struct runtime_known_process *process,
		       uint32_t number)
{
	job->frames[job->nr_frames++] = (struct runtime_job_frame){ process->id, number };
}

/* Takes frames whose memory must be read, of the first kind that can be named. */
static bool take_frames(const struct runtime_search *search, struct runtime_known_process *process)
{
	uint32_t numbers[RUNTIME_MAX_FRAMES];

	for (uint32_t kind = RUNTIME_NONE + 1; kind < RUNTIME_NR_KINDS; kind++) {
		const struct runtime_found *found = runtime_processes_found(
			process, (enum runtime_kind)kind);
		const struct frame_choice choice = { .kind = (enum runtime_kind)kind };
		size_t nr = found ? frame_names_take(&process->frames, &choice, numbers,
						     process->max_frames)
				  : 0;

		if (nr == 0)
			continue;
		begin_request(search->request, (enum runtime_kind)kind, found);
		for (size_t i = 0; i < nr; i++) {
			append_words(search->request, words_of(process, numbers[i]));
			add_to_job(search->job, process, numbers[i]);
		}
		end_request(search);
		return true;
	}
	return false;
}

static bool next_of_memory(const struct runtime_search *search)
{
	struct runtime_known_process *process;

	TAILQ_FOREACH(process, &search->registry->processes.work, work_link)
	{
		if (process->is_gone || !runtime_search_is_turn_of_process(search, process) ||
		    !take_frames(search, process))
			continue;
		runtime_search_begin(search, process, RUNTIME_REQUEST_NAMES);
		return true;
	}
	return false;
}

static const struct code_copy *copy_of(const struct runtime_registry *registry,
				       const struct runtime_known_process *process, uint32_t number)
{
	const struct code_key key = {
		.pid = process->sampled.pid,
		.start_ns = process->sampled.start_ns,
		.words = words_of(process, number),
	};

	return code_copies_find(&registry->copies, &key);
}

static void read_from_memory(struct runtime_known_process *process, uint32_t number)
{
	frame_names_set_copied(&process->frames, number, false);
	frame_names_put_back(&process->frames, &number, 1);
}

/* A copy that is the same as that of the frame before is written only once. */
static void append_copied(const struct runtime_search *search,
			  struct runtime_known_process *process, uint32_t number,
			  const struct code_copy **last)
{
	const struct code_copy *copy = copy_of(search->registry, process, number);

	if (!copy) { /* it was kept long enough */
		read_from_memory(process, number);
		return;
	}
	uint32_t len = copy == *last ? 0 : (uint32_t)code_copy_len(copy);

	append_words(search->request, words_of(process, number));
	strbuf_append(search->request, &len, sizeof(len));
	strbuf_append(search->request, copy, len);
	add_to_job(search->job, process, number);
	*last = copy;
}

static const struct frame_choice copied = { .kind = RUNTIME_CPYTHON, .is_copied = true };

/* Returns whether a process has frames that can be in the request: all of them are of one owner,
 * and read by the same values. `first` are those of the first process; NULL: this is the first. */
static bool fits(const struct runtime_search *search, const struct runtime_known_process *process,
		 const struct runtime_found *first)
{
	const struct runtime_found *found = runtime_processes_found(process, copied.kind);

	if (!found || !frame_names_wait(&process->frames, &copied) ||
	    !runtime_search_is_turn_of_process(search, process))
		return false;
	return !first || (process->sampled.cgroup_id == search->job->owner &&
			  memcmp(found->naming, first->naming, sizeof(found->naming)) == 0);
}

static void take_copied(const struct runtime_search *search, struct runtime_known_process *process)
{
	uint32_t numbers[RUNTIME_MAX_FRAMES];
	const struct code_copy *last = NULL;

	size_t nr = frame_names_take(&process->frames, &copied, numbers,
				     RUNTIME_MAX_FRAMES - search->job->nr_frames);
	for (size_t i = 0; i < nr; i++)
		append_copied(search, process, numbers[i], &last);
	runtime_processes_update(&search->registry->processes, process);
}

static bool next_of_copies(const struct runtime_search *search)
{
	struct runtime_processes *processes = &search->registry->processes;
	struct runtime_job *job = search->job;
	const struct runtime_found *first = NULL;
	struct runtime_known_process *process = TAILQ_FIRST(&processes->work), *next;

	for (; process && job->nr_frames < RUNTIME_MAX_FRAMES; process = next) {
		next = TAILQ_NEXT(process, work_link);
		if (!fits(search, process, first))
			continue;
		if (!first) {
			first = runtime_processes_found(process, copied.kind);
			job->kind = RUNTIME_REQUEST_COPIES;
			job->owner = process->sampled.cgroup_id;
			begin_request(search->request, copied.kind, first);
		}
		take_copied(search, process);
	}
	if (job->nr_frames > 0)
		end_request(search);
	else
		strbuf_clear(search->request);
	return job->nr_frames > 0;
}

bool frame_jobs_next(const struct runtime_search *search)
{
	return next_of_copies(search) || next_of_memory(search);
}

/* Returns the process of a frame; NULL: it was forgotten meanwhile. */
static struct runtime_known_process *process_of(const struct runtime_registry *registry,
						const struct runtime_job_frame *frame)
{
	return runtime_processes_get(&registry->processes, frame->process);
}

void frame_jobs_put_back(struct runtime_registry *registry, const struct runtime_job *job)
{
	for (size_t i = job->nr_frames; i-- > 0;) {
		struct runtime_known_process *process = process_of(registry, &job->frames[i]);

		if (!process)
			continue;
		frame_names_put_back(&process->frames, &job->frames[i].number, 1);
		runtime_processes_update(&registry->processes, process);
	}
}

static void set_names(struct runtime_registry *registry, const struct runtime_job_frame *frame,
		      const char *names, size_t len, uint64_t now_ns)
{
	struct runtime_known_process *process = process_of(registry, frame);

	if (!process)
		return;
	struct frame_names *frames = &process->frames;
	uint64_t tag = words_of(process, frame->number)[0];
	struct runtimes_kind_stats *stats = runtimes_stats_of(&registry->stats,
							      frame_names_kind(tag));
	size_t nr_bytes = frames->nr_bytes;

	frame_names_set(frames, frame->number, names, len, now_ns);
	registry->stats.nr_bytes += frames->nr_bytes - nr_bytes;
	stats->nr_named += len > 0;
	stats->nr_unnamed += len == 0;
}

void frame_jobs_lose(struct runtime_registry *registry, const struct runtime_job *job,
		     uint64_t now_ns)
{
	for (size_t i = 0; i < job->nr_frames; i++)
		set_names(registry, &job->frames[i], NULL, 0, now_ns);
}

/* Has frames that could not be read from copies read from the memory of their processes. */
static void give_up_copies(struct runtime_registry *registry,
			   const struct runtime_job_frame *frames, size_t nr)
{
	for (size_t i = nr; i-- > 0;) {
		struct runtime_known_process *process = process_of(registry, &frames[i]);

		if (!process)
			continue;
		read_from_memory(process, frames[i].number);
		runtime_processes_update(&registry->processes, process);
	}
}

/* Reads the next frame of a reply; its length is 0 if it has no lines. Errors: -EBADMSG. */
static int read_frame(struct frame_reader *reader, size_t *ret_len)
{
	size_t start = reader->position;
	struct runtime_line line;
	uint32_t nr_lines;
	int r = frame_reader_next(reader, &nr_lines);

	for (uint32_t i = 0; r >= 0 && i < nr_lines; i++)
		r = frame_reader_line(reader, &line);
	if (r < 0)
		return r;
	*ret_len = nr_lines > 0 ? reader->position - start : 0;
	return 0;
}

/* Takes the names of the frames that are in the reply. Returns their number. Errors: -EBADMSG. */
static int take_names(struct runtime_registry *registry, const struct runtime_job *job,
		      const struct runtime_reply *reply)
{
	struct frame_reader reader = { .bytes = reply->bytes, .len = reply->len };
	size_t i = 0, len;

	for (; i < job->nr_frames && reader.position < reader.len; i++) {
		size_t start = reader.position;
		int r = read_frame(&reader, &len);

		if (r < 0)
			return r;
		if (len == 0 && job->kind == RUNTIME_REQUEST_COPIES)
			give_up_copies(registry, &job->frames[i], 1);
		else
			set_names(registry, &job->frames[i], reader.bytes + start, len,
				  reply->now_ns);
	}
	return i == 0 || reader.position < reader.len ? -EBADMSG : (int)i;
}

/* The frames could not be read. If they were many, one of them may be the cause. */
static void fail(struct runtime_registry *registry, const struct runtime_job *job,
		 const struct runtime_reply *reply)
{
	struct runtime_known_process *process = job->process;

	if (job->kind == RUNTIME_REQUEST_COPIES) {
		give_up_copies(registry, job->frames, job->nr_frames);
		return;
	}
	process->nr_deaths++;
	if (job->nr_frames > 1 && process->nr_deaths < MAX_DEATHS) {
		process->max_frames = 1;
		frame_jobs_put_back(registry, job);
		return;
	}
	process->is_gone |= process->nr_deaths >= MAX_DEATHS;
	frame_jobs_lose(registry, job, reply->now_ns);
}

int frame_jobs_take(struct runtime_registry *registry, const struct runtime_job *job,
		    const struct runtime_reply *reply)
{
	int r = reply->error < 0 ? reply->error : take_names(registry, job, reply);

	if (r < 0) {
		fail(registry, job, reply);
		return reply->error < 0 ? 0 : r;
	}
	struct runtime_job rest = *job;
	rest.nr_frames -= (size_t)r;
	memmove(rest.frames, job->frames + r, rest.nr_frames * sizeof(*rest.frames));
	frame_jobs_put_back(registry, &rest);
	return 0;
}
