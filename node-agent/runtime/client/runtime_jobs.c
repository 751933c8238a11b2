/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/client/runtime_jobs.h"

#include "base/clock.h"
#include "base/minmax.h"
#include "runtime/client/frame_jobs.h"
#include "runtime/client/runtime_search.h"
#include "runtime/client/runtime_thread.h"

#include <stdlib.h>
#include <string.h>

static bool next_file(const struct runtime_search *search)
{
	struct runtime_files *files = &search->registry->files;
	const struct runtime_file_request request = { .kinds = search->registry->kinds };
	struct runtime_known_file *file;

	TAILQ_FOREACH(file, &files->waiting, link)
	{
		if (!runtime_search_is_turn_of(search, file->owner, file->is_slow))
			continue;
		runtime_files_take(files, file);
		search->job->kind = RUNTIME_REQUEST_FILE;
		search->job->owner = file->owner;
		search->job->file = runtime_known_file_ref(file);
		strbuf_append(search->request, &request, sizeof(request));
		return true;
	}
	return false;
}

static bool is_due(const struct runtime_known_process *process,
		   const struct runtime_instance *instance, uint64_t now_ns)
{
	return !runtime_instance_is_settled(process, instance) && now_ns >= instance->due_ns;
}

/* Returns the number of the first instance that is due, or that of all instances if none is. */
static size_t find_due(const struct runtime_known_process *process, uint64_t now_ns)
{
	size_t i = 0;

	while (i < process->nr_instances && !is_due(process, &process->instances[i], now_ns))
		i++;
	return i;
}

static void inspect(const struct runtime_search *search, struct runtime_known_process *process,
		    size_t number)
{
	const struct runtime_instance *instance = &process->instances[number];
	const struct runtime_process_request request = {
		.file = instance->file->answer->file,
		.bias = runtime_file_bias(instance->file->answer, instance->start,
					  instance->offset),
	};

	strbuf_append(search->request, &request, sizeof(request));
	search->job->instance = number;
	runtime_search_begin(search, process, RUNTIME_REQUEST_PROCESS);
}

static bool next_inspection(const struct runtime_search *search)
{
	struct runtime_known_process *process;

	TAILQ_FOREACH(process, &search->registry->processes.due, due_link)
	{
		if (!runtime_search_is_turn_of_process(search, process))
			continue;
		size_t number = find_due(process, search->now_ns);

		if (number < process->nr_instances) {
			inspect(search, process, number);
			return true;
		}
	}
	return false;
}

static bool search_all(const struct runtime_search *search, bool has_files_first)
{
	if (has_files_first && next_file(search))
		return true;
	return next_inspection(search) || frame_jobs_next(search) ||
	       (!has_files_first && next_file(search));
}

bool runtime_job_next(struct runtime_registry *registry, const struct worker_lanes *lanes,
		      enum worker_lane lane, uint64_t turn, struct runtime_job *ret_job,
		      struct strbuf *request)
{
	struct runtime_search search = {
		.registry = registry,
		.lanes = lanes,
		.lane = lane,
		.now_ns = clock_mono_ns(),
		.job = ret_job,
		.request = request,
	};

	*ret_job = (struct runtime_job){ 0 };
	strbuf_clear(request);
	if (search_all(&search, turn % 2 == 0))
		return true;
	search.takes_late = true;
	ret_job->is_late = lane == WORKER_LANE_FAST;
	return search_all(&search, turn % 2 == 0);
}

uint64_t runtime_job_next_due_ns(const struct runtime_registry *registry)
{
	const struct runtime_known_process *process;
	uint64_t due_ns = UINT64_MAX;

	TAILQ_FOREACH(process, &registry->processes.due, due_link)
	{
		for (size_t i = 0; i < process->nr_instances; i++)
			if (is_due(process, &process->instances[i], UINT64_MAX))
				due_ns = min_u64(due_ns, process->instances[i].due_ns);
	}
	return due_ns;
}

static void release(struct runtime_registry *registry, struct runtime_job *job)
{
	if (job->file)
		runtime_known_file_unref(job->file);
	if (job->process) {
		job->process->is_asked = false;
		runtime_processes_update(&registry->processes, job->process);
	}
	*job = (struct runtime_job){ 0 };
}

static void repeat(struct runtime_registry *registry, struct runtime_job *job)
{
	if (job->kind == RUNTIME_REQUEST_FILE && job->file->id != 0)
		runtime_files_put_back(&registry->files, job->file);
	frame_jobs_put_back(registry, job);
}

void runtime_job_put_back(struct runtime_registry *registry, struct runtime_job *job)
{
	repeat(registry, job);
	release(registry, job);
}

static void end_file(struct runtime_registry *registry, struct runtime_known_file *file,
		     const struct runtime_file_answer *answer)
{
	runtime_files_settle(file, answer && answer->file.kind != RUNTIME_NONE ? answer : NULL);
	runtime_registry_tell(registry);
}

static int take_file(struct runtime_registry *registry, struct runtime_job *job,
		     const struct runtime_reply *reply)
{
	struct runtime_file_answer answer;
	int r = reply->error < 0
			? 0
			: runtime_answer_file(reply->bytes, reply->len, registry->kinds, &answer);

	end_file(registry, job->file, reply->error < 0 || r < 0 ? NULL : &answer);
	return r;
}

/* Shares the values of a process, unless other values are shared already. Then the frames of all
 * processes that map the file can be named. Returns whether it is shared. */
static bool share(struct runtime_registry *registry, struct runtime_known_file *file,
		  const struct runtime_found *found, uint64_t owner)
{
	if (!file->shared) {
		file->shared = malloc(sizeof(*found));
		if (!file->shared)
			return false;
		*file->shared = *found;
	}
	if (memcmp(file->shared->layout.bytes, found->layout.bytes, RUNTIME_LAYOUT_BYTES) != 0 ||
	    memcmp(file->shared->naming, found->naming, sizeof(found->naming)) != 0)
		return false;
	if (!found->is_likely)
		runtime_known_file_trust(file, owner);
	for (size_t i = 0; i < registry->processes.nr_slots; i++)
		if (registry->processes.slots[i])
			runtime_processes_update(&registry->processes,
						 registry->processes.slots[i]);
	return true;
}

static void wait_for(struct runtime_instance *instance, uint64_t now_ns)
{
	if (instance->nr_waits++ < RUNTIME_INSPECT_NR_MIN)
		instance->wait_ns = RUNTIME_INSPECT_MIN_NS;
	else
		instance->wait_ns = min_u64(2 * instance->wait_ns, RUNTIME_INSPECT_MAX_NS);
	instance->due_ns = now_ns + instance->wait_ns;
}

/* Keeps the values of a process for this process only. Errors: -ENOMEM. */
static int keep_own(struct runtime_instance *instance, const struct runtime_found *found)
{
	struct runtime_found *copy = malloc(sizeof(*copy));

	if (!copy)
		return -ENOMEM;
	*copy = *found;
	copy->is_shared = false;
	free(instance->own);
	instance->own = copy;
	return 0;
}

/* Returns whether a runtime may only seem to be unsupported, because the dynamic linker has not
 * relocated its data yet. */
static bool is_doubtful(struct runtime_instance *instance, const struct runtime_found *found)
{
	return found->state == RUNTIME_UNSUPPORTED && !found->is_marked &&
	       ++instance->nr_failures < RUNTIME_INSPECT_MAX_FAILURES;
}

/* Takes the values of a process. Without memory it is inspected again later. */
static void take_found(struct runtime_registry *registry, struct runtime_job *job,
		       const struct runtime_found *found, uint64_t now_ns)
{
	struct runtime_instance *instance = &job->process->instances[job->instance];
	bool may_share = found->state == RUNTIME_READY && found->is_shared && !found->has_process;

	if (found->state == RUNTIME_PENDING || is_doubtful(instance, found) ||
	    (!(may_share && share(registry, instance->file, found, job->owner)) &&
	     keep_own(instance, found) < 0)) {
		wait_for(instance, now_ns);
		return;
	}
	instance->state = found->state;
	runtime_registry_tell(registry);
}

/* Inspects an instance no more. The shared values must do for it, if there are some. */
static void give_up(struct runtime_instance *instance)
{
	instance->state = instance->file->shared ? RUNTIME_READY : RUNTIME_UNSUPPORTED;
}

/* The process, or its runtime, could not be read. */
static void fail_instance(struct runtime_registry *registry, struct runtime_instance *instance,
			  uint64_t now_ns)
{
	wait_for(instance, now_ns);
	if (++instance->nr_failures < RUNTIME_INSPECT_MAX_FAILURES)
		return;
	give_up(instance);
	runtime_registry_tell(registry);
}

static int take_process(struct runtime_registry *registry, struct runtime_job *job,
			const struct runtime_reply *reply)
{
	struct runtime_instance *instance = &job->process->instances[job->instance];
	struct runtime_found found;

	if (reply->error < 0) {
		fail_instance(registry, instance, reply->now_ns);
		return 0;
	}
	int r = runtime_answer_process(reply->bytes, reply->len, &instance->file->answer->file,
				       &found);
	if (r < 0)
		fail_instance(registry, instance, reply->now_ns);
	else
		take_found(registry, job, &found, reply->now_ns);
	return r;
}

static int take_frames(struct runtime_registry *registry, struct runtime_job *job,
		       const struct runtime_reply *reply)
{
	return frame_jobs_take(registry, job, reply);
}

void runtime_job_lose_process(struct runtime_registry *registry, struct runtime_job *job)
{
	struct runtime_known_process *process = job->process;

	process->is_gone = true;
	for (size_t i = 0; i < process->nr_instances; i++)
		if (process->instances[i].state == RUNTIME_PENDING)
			give_up(&process->instances[i]);
	frame_jobs_lose(registry, job, process->sampled.now_ns);
	runtime_registry_tell(registry);
	release(registry, job);
}

int runtime_job_end(struct runtime_registry *registry, struct runtime_job *job,
		    const struct runtime_reply *reply)
{
	static int (*const takers[])(struct runtime_registry * registry, struct runtime_job * job,
				     const struct runtime_reply *reply) = {
		[RUNTIME_REQUEST_FILE] = take_file,
		[RUNTIME_REQUEST_PROCESS] = take_process,
		[RUNTIME_REQUEST_NAMES] = take_frames,
		[RUNTIME_REQUEST_COPIES] = take_frames,
	};
	int r = 0;

	if (reply->is_again) {
		repeat(registry, job);
	} else {
		registry->stats.nr_failures += reply->error == -ETIMEDOUT ||
					       reply->error == -EPIPE || reply->error == -ENOMEM;
		r = takers[job->kind](registry, job, reply);
		registry->stats.nr_failures += r < 0;
	}
	release(registry, job);
	return r;
}
