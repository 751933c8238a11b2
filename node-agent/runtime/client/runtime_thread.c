/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/client/runtime_thread.h"

#include "base/capabilities.h"
#include "base/clock.h"
#include "base/heartbeat.h"
#include "base/locked.h"
#include "base/minmax.h"
#include "base/thread.h"
#include "process/proc_stat.h"
#include "runtime/client/runtime_jobs.h"
#include "worker/worker_process.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define CHORES_NS NSEC_PER_SEC
#define CHECK_NS (10 * NSEC_PER_SEC) /* between two checks whether a process lives */
#define CLOSE_NS (10 * NSEC_PER_SEC) /* without a sample; then its memory is closed */
#define HEARTBEAT_MAX_NS (60 * NSEC_PER_SEC)
#define START_PAUSE_NS (10 * NSEC_PER_MSEC) /* after a worker could not be started */
#define PROC_PATH_BYTES 32

struct runtime_thread {
	struct runtime_registry *registry; /* borrowed */
	int proc_fd; /* borrowed */
	struct worker_lanes *lanes; /* owned */
	struct runtime_job jobs[WORKER_NR_LANES]; /* valid while the lane is busy */
	struct strbuf request;
	uint64_t turn;
	uint64_t next_chores_ns;
	pthread_t pthread;
	bool is_running;
	bool is_stopping; /* atomic */
};

/* Opens the memory of the process that was sampled, not of another one with its pid. Errors:
 * -ESRCH, those of open(2). */
static int open_memory(const struct runtime_thread *thread, const struct runtime_job *job)
{
	char path[PROC_PATH_BYTES];

	if (job->process->memory_fd >= 0)
		return 0;
	snprintf(path, sizeof(path), "%" PRIu32 "/mem", job->pid);
	_cleanup_close_ int fd = openat(thread->proc_fd, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	int r = proc_stat_verify_start(thread->proc_fd, job->pid, job->start_ns);
	if (r < 0)
		return r;
	job->process->memory_fd = take_fd(fd);
	return 0;
}

static void close_memory(struct runtime_known_process *process)
{
	cleanup_closep(&process->memory_fd);
	process->memory_fd = -EBADF;
}

static void set_rank(const struct runtime_thread *thread, enum worker_lane lane,
		     struct runtime_job *job)
{
	uint64_t now_ns = clock_mono_ns();
	enum worker_rank rank = worker_lanes_rank(thread->lanes, job->owner, now_ns);

	job->is_try = lane == WORKER_LANE_FAST && worker_lanes_is_try(thread->lanes, rank, now_ns);
	job->is_late = lane == WORKER_LANE_FAST && rank == WORKER_RANK_LATE;
}

static int send_request(struct runtime_thread *thread, enum worker_lane lane,
			struct runtime_job *job)
{
	static const uint64_t max_bytes[] = {
		[RUNTIME_REQUEST_FILE] = sizeof(struct runtime_file_answer),
		[RUNTIME_REQUEST_PROCESS] = sizeof(struct runtime_found),
		[RUNTIME_REQUEST_NAMES] = RUNTIME_NAMES_MAX_BYTES,
		[RUNTIME_REQUEST_COPIES] = RUNTIME_NAMES_MAX_BYTES,
	};
	const struct worker_request head = {
		.kind = job->kind,
		.nr_bytes = (uint32_t)thread->request.len,
		.max_bytes = max_bytes[job->kind],
	};
	bool has_fd = job->file || job->process;
	int fd = job->process ? job->process->memory_fd : job->file ? job->file->fd : -EBADF;
	const struct worker_payload payload = { thread->request.data, &fd, has_fd };
	const struct worker_limits limits = {
		.timeout_ns = job->is_try ? WORKER_LANES_TRY_NS : RUNTIME_REQUEST_NS,
		.cpu_s = RUNTIME_REQUEST_CPU_S,
	};

	int r = strbuf_error(&thread->request);
	return r < 0 ? r : worker_lanes_send(thread->lanes, lane, &head, &payload, &limits);
}

static bool choose_job(struct runtime_thread *thread, enum worker_lane lane)
{
	LOCKED(&thread->registry->lock);

	return runtime_job_next(thread->registry, thread->lanes, lane, thread->turn++,
				&thread->jobs[lane], &thread->request);
}

static void lose_process(struct runtime_thread *thread, struct runtime_job *job)
{
	LOCKED(&thread->registry->lock);

	runtime_job_lose_process(thread->registry, job);
}

/* Ends a request that could not be sent. If the worker cannot be started for now, it is sent
 * later. */
static void give_back(struct runtime_thread *thread, struct runtime_job *job, int error)
{
	const struct runtime_reply reply = { .error = error, .now_ns = clock_mono_ns() };
	LOCKED(&thread->registry->lock);

	if (error == -EAGAIN) {
		runtime_job_put_back(thread->registry, job);
		return;
	}
	int r = runtime_job_end(thread->registry, job, &reply);
	(void)r; /* there is no worker to end */
}

/* Sends the next request in a lane that is free. Returns false if the worker cannot be started
 * yet. */
static bool start_next(struct runtime_thread *thread, enum worker_lane lane)
{
	struct runtime_job *job = &thread->jobs[lane];

	while (!worker_lanes_is_busy(thread->lanes, lane) && choose_job(thread, lane)) {
		heartbeat_beat();
		set_rank(thread, lane, job);
		if (job->process && open_memory(thread, job) < 0) {
			lose_process(thread, job);
			continue;
		}
		int r = send_request(thread, lane, job);
		if (r < 0)
			give_back(thread, job, r);
		if (r == -EAGAIN)
			return false;
	}
	return true;
}

/* Penalizes the owner of a request that took too long, or ended its worker. */
static void punish(struct runtime_thread *thread, struct runtime_job *job, uint64_t now_ns)
{
	if (job->file)
		job->file->is_slow = true;
	else if (job->process)
		job->process->slow_until_ns = now_ns + WORKER_LANES_PENALTY_NS;
	worker_lanes_punish(thread->lanes, job->owner, now_ns);
}

static void take_answer(struct runtime_thread *thread, enum worker_lane lane,
			struct runtime_reply *reply)
{
	struct runtime_job *job = &thread->jobs[lane];
	bool is_lost = reply->error == -ETIMEDOUT || reply->error == -EPIPE;

	reply->now_ns = clock_mono_ns();
	reply->is_again = reply->error == -ETIMEDOUT && lane == WORKER_LANE_FAST;
	if (lane == WORKER_LANE_FAST)
		worker_lanes_charge(thread->lanes, job->owner,
				    worker_lanes_took_ns(thread->lanes, lane), reply->now_ns);
	LOCKED(&thread->registry->lock);

	if (is_lost && !(reply->is_again && job->is_try))
		punish(thread, job, reply->now_ns);
	if (runtime_job_end(thread->registry, job, reply) < 0)
		worker_lanes_stop(thread->lanes, lane);
}

static void take_answers(struct runtime_thread *thread)
{
	for (unsigned int lane = 0; lane < WORKER_NR_LANES; lane++) {
		_cleanup_free_ void *bytes = NULL;
		struct runtime_reply reply = { 0 };

		if (!worker_lanes_take(thread->lanes, (enum worker_lane)lane, &reply.error, &bytes,
				       &reply.len))
			continue;
		reply.bytes = bytes;
		take_answer(thread, (enum worker_lane)lane, &reply);
	}
}

static void remove_process(struct runtime_registry *registry, struct runtime_known_process *process)
{
	registry->stats.nr_bytes -= process->frames.nr_bytes;
	runtime_processes_remove(&registry->processes, process);
}

static struct runtime_known_process *find_least_used(const struct runtime_registry *registry)
{
	struct runtime_known_process *least = NULL;

	for (size_t i = 0; i < registry->processes.nr_slots; i++) {
		struct runtime_known_process *process = registry->processes.slots[i];

		if (process && !process->is_asked && process->frames.nr_bytes > 0 &&
		    (!least || process->sampled.now_ns < least->sampled.now_ns))
			least = process;
	}
	return least;
}

static void evict(struct runtime_registry *registry)
{
	while (registry->stats.nr_bytes > registry->max_bytes) {
		struct runtime_known_process *process = find_least_used(registry);

		if (!process)
			return;
		remove_process(registry, process);
		registry->stats.nr_evicted++;
	}
}

static bool has_ended(const struct runtime_thread *thread, struct runtime_known_process *process)
{
	return proc_stat_verify_start(thread->proc_fd, process->sampled.pid,
				      process->sampled.start_ns) == -ESRCH;
}

/* Returns whether a process is no longer needed: it was not sampled for a while, and has ended or
 * takes the place of others. */
static bool is_over(const struct runtime_thread *thread, struct runtime_known_process *process,
		    uint64_t now_ns)
{
	uint64_t last_ns = process->sampled.now_ns;
	uint64_t idle_ns = now_ns > last_ns ? now_ns - last_ns : 0;

	if (process->is_asked || idle_ns < RUNTIMES_FORGET_NS)
		return false;
	if (process->is_gone || idle_ns >= RUNTIMES_IDLE_NS ||
	    thread->registry->processes.nr_used == RUNTIME_PROCESSES_MAX)
		return true;
	if (now_ns < process->checked_ns + CHECK_NS)
		return false;
	process->checked_ns = now_ns;
	return has_ended(thread, process);
}

/* Looks after a process: closes what it does not need, and forgets it when it is over. */
static void tidy_process(struct runtime_thread *thread, struct runtime_known_process *process,
			 uint64_t now_ns)
{
	if (is_over(thread, process, now_ns)) {
		remove_process(thread->registry, process);
		return;
	}
	if (!process->is_asked && (process->is_gone || now_ns > process->sampled.now_ns + CLOSE_NS))
		close_memory(process);
}

static void do_chores(struct runtime_thread *thread, uint64_t now_ns)
{
	struct runtime_registry *registry = thread->registry;

	worker_lanes_tidy(thread->lanes, now_ns);
	struct worker_stats worker = worker_lanes_get_stats(thread->lanes);
	thread->next_chores_ns = now_ns + CHORES_NS;
	LOCKED(&registry->lock);

	registry->stats.worker = worker;
	code_copies_expire(&registry->copies, now_ns);
	for (size_t i = 0; i < registry->processes.nr_slots; i++)
		if (registry->processes.slots[i])
			tidy_process(thread, registry->processes.slots[i], now_ns);
}

/* Returns how often the thread was woken. It will now see all work that was added; what is added
 * after this call wakes it again. */
static uint64_t count_wakes(struct runtime_thread *thread)
{
	eventfd_t nr_events;

	(void)eventfd_read(thread->registry->wake_fd, &nr_events);
	LOCKED(&thread->registry->lock);
	thread->registry->wake_due_ns = UINT64_MAX;
	return thread->registry->nr_wakes;
}

/* Wakes the threads in runtimes_wait() if no more names will come soon. */
static void become_idle(struct runtime_thread *thread, uint64_t nr_wakes)
{
	struct runtime_registry *registry = thread->registry;
	bool is_reading = worker_lanes_is_busy(thread->lanes, WORKER_LANE_FAST) &&
			  !thread->jobs[WORKER_LANE_FAST].is_late;
	LOCKED(&registry->lock);

	if (is_reading || registry->nr_wakes != nr_wakes)
		return;
	registry->is_idle = true;
	pthread_cond_broadcast(&registry->is_idle_now);
}

/* Returns when there is something to do unless something happens before. */
static uint64_t next_wake_ns(struct runtime_thread *thread, bool is_started)
{
	LOCKED(&thread->registry->lock);
	uint64_t wake_ns = min_u64(thread->next_chores_ns,
				   runtime_job_next_due_ns(thread->registry));

	evict(thread->registry);
	return is_started ? wake_ns : min_u64(wake_ns, clock_mono_ns() + START_PAUSE_NS);
}

static void work(struct runtime_thread *thread)
{
	uint64_t nr_wakes = count_wakes(thread);

	take_answers(thread);
	bool is_started = start_next(thread, WORKER_LANE_FAST);
	if (is_started)
		become_idle(thread, nr_wakes);
	is_started = start_next(thread, WORKER_LANE_SLOW) && is_started;
	worker_lanes_wait(thread->lanes, thread->registry->wake_fd,
			  next_wake_ns(thread, is_started));
}

static void give_up_jobs(struct runtime_thread *thread)
{
	for (unsigned int lane = 0; lane < WORKER_NR_LANES; lane++) {
		if (!worker_lanes_is_busy(thread->lanes, (enum worker_lane)lane))
			continue;
		worker_lanes_stop(thread->lanes, (enum worker_lane)lane);
		LOCKED(&thread->registry->lock);
		runtime_job_put_back(thread->registry, &thread->jobs[lane]);
	}
}

static void *run(void *data)
{
	struct runtime_thread *thread = data;

	heartbeat_begin("runtimes", HEARTBEAT_MAX_NS);
	while (!__atomic_load_n(&thread->is_stopping, __ATOMIC_ACQUIRE)) {
		heartbeat_beat();
		uint64_t now_ns = clock_mono_ns();

		if (now_ns >= thread->next_chores_ns)
			do_chores(thread, now_ns);
		work(thread);
	}
	give_up_jobs(thread);
	return NULL;
}

/* The thread opens the memory of other users' processes, and may have to start a program that only
 * its owner may run when root is not the owner. */
static uint64_t needed_capabilities(const struct runtimes_opts *opts)
{
	const char *program = opts->worker_program;

	return CAPABILITY(SYS_PTRACE) | CAPABILITY(DAC_READ_SEARCH) |
	       capabilities_for_file(program ? program : WORKER_PROCESS_OWN_PROGRAM, X_OK);
}

int runtime_thread_start(struct runtime_registry *registry, const struct runtimes_opts *opts,
			 struct runtime_thread **ret_thread)
{
	const struct worker_client_opts worker = {
		.program = opts->worker_program,
		.command = RUNTIME_WORKER_COMMAND,
		.max_data_bytes = RUNTIME_WORKER_MAX_DATA_BYTES,
	};
	struct runtime_thread *thread = calloc(1, sizeof(*thread));

	if (!thread)
		return -ENOMEM;
	thread->registry = registry;
	thread->proc_fd = opts->proc_fd;
	thread->request = strbuf_with_max(RUNTIME_REQUEST_MAX_BYTES);
	int r = worker_lanes_new(&worker, &thread->lanes);
	if (r == 0)
		r = thread_start("runtimes", needed_capabilities(opts), run, thread,
				 &thread->pthread);
	if (r < 0) {
		runtime_thread_stop(thread);
		return r;
	}
	thread->is_running = true;
	*ret_thread = thread;
	return 0;
}

void runtime_thread_stop(struct runtime_thread *thread)
{
	if (!thread)
		return;
	if (thread->is_running) {
		__atomic_store_n(&thread->is_stopping, true, __ATOMIC_RELEASE);
		(void)eventfd_write(thread->registry->wake_fd, 1);
		pthread_join(thread->pthread, NULL);
	}
	worker_lanes_free(thread->lanes);
	strbuf_done(&thread->request);
	free(thread);
}
