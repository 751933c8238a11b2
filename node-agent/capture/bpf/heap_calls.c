/* SPDX-License-Identifier: Apache-2.0 */
#include "capture/bpf/heap_calls.h"

#include "base/capabilities.h"
#include "base/clock.h"
#include "base/locked.h"
#include "base/log.h"
#include "base/minmax.h"
#include "base/random.h"
#include "base/thread.h"
#include "capture/bpf/call_pace.h"
#include "capture/bpf/trap_cost.h"
#include "capture/bpf/uprobe_multi.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct target {
	uint32_t pid;
	int fd; /* owned */
	int link_fd; /* owned; -EBADF: not attached */
	struct heap_probes probes;
};

struct heap_calls {
	struct heap_calls_kernel kernel;
	struct target *targets; /* owned */
	size_t nr_targets;
	char *values; /* owned; of kernel.counts, of all CPUs */
	bool is_attached;
	struct heap_call_counts counts; /* of all cycles before */
	pthread_t thread;
	bool is_running;
	pthread_mutex_t lock; /* of the following */
	pthread_cond_t wake;
	bool is_stopping;
};

static void detach(struct heap_calls *calls)
{
	for (size_t i = 0; i < calls->nr_targets; i++)
		cleanup_closep(&calls->targets[i].link_fd);
	calls->is_attached = false;
}

/* Attaches to all processes that are left. Errors: -ESRCH there is none. */
static int attach(struct heap_calls *calls)
{
	int error = -ESRCH;

	for (size_t i = 0; i < calls->nr_targets; i++) {
		struct target *target = &calls->targets[i];

		int r = uprobe_multi_attach(calls->kernel.program, target->pid, target->fd,
					    &target->probes, HEAP_PROBE_CALL, &target->link_fd);
		if (r > 0)
			calls->is_attached = true;
		else if (r < 0 && r != -ESRCH)
			error = r;
	}
	return calls->is_attached ? 0 : error;
}

static struct heap_call_counts read_counts(const struct heap_calls *calls)
{
	size_t bytes = (bpf_map__value_size(calls->kernel.counts) + 7) & ~(size_t)7;
	struct heap_call_counts sum = { 0 }, of_cpu;
	uint32_t zero = 0;

	if (bpf_map_lookup_elem(bpf_map__fd(calls->kernel.counts), &zero, calls->values) < 0)
		return sum;
	for (int cpu = 0; cpu < libbpf_num_possible_cpus(); cpu++) {
		memcpy(&of_cpu, calls->values + (size_t)cpu * bytes, sizeof(of_cpu));
		sum.nr += of_cpu.nr;
		sum.nr_slow += of_cpu.nr_slow;
		sum.bytes += of_cpu.bytes;
		sum.stacks_ns += of_cpu.stacks_ns;
	}
	return sum;
}

/* Returns the CPU time of all target processes. One with several files is several targets, one
 * behind the other. */
static uint64_t cpu_time(const struct heap_calls *calls)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < calls->nr_targets; i++) {
		uint32_t pid = calls->targets[i].pid;
		clockid_t clock;

		if ((i == 0 || pid != calls->targets[i - 1].pid) &&
		    clock_getcpuclockid((pid_t)pid, &clock) == 0)
			sum += clock_read_ns(clock);
	}
	return sum;
}

/* Returns whether the thread goes on. */
static bool wait_until(struct heap_calls *calls, uint64_t until_ns)
{
	struct timespec until = clock_timespec(until_ns);

	LOCKED(&calls->lock);
	while (!calls->is_stopping && clock_mono_ns() < until_ns)
		pthread_cond_timedwait(&calls->wake, &calls->lock, &until);
	return !calls->is_stopping;
}

static void open_window(const struct heap_calls *calls, const struct call_plan *plan)
{
	volatile uint64_t *window = calls->kernel.window;
	uint64_t now_ns = clock_mono_ns();

	window[HEAP_WINDOW_MEAN_BYTES] = plan->mean_bytes;
	window[HEAP_WINDOW_SCALE] = plan->scale;
	window[HEAP_WINDOW_FROM_NS] = now_ns;
	window[HEAP_WINDOW_UNTIL_NS] = call_plan_is_always(plan) ? UINT64_MAX
								 : now_ns + plan->window_ns;
}

/* Returns a moment for the window, each of the cycle with the same chance. */
static uint64_t draw_begin(const struct call_plan *plan)
{
	uint64_t random = 0, room = plan->cycle_ns - plan->window_ns;

	return random_bytes(&random, sizeof(random)) < 0 ? 0 : random % (room + 1);
}

/* Runs the window of a cycle. Returns 1 if the thread goes on. */
static int run_window(struct heap_calls *calls, const struct call_plan *plan,
		      struct call_result *result)
{
	int r = calls->is_attached ? 0 : attach(calls);

	if (r < 0)
		return r;
	uint64_t cpu_ns = cpu_time(calls), begin_ns = clock_mono_ns();
	open_window(calls, plan);
	bool goes_on = wait_until(calls, begin_ns + plan->window_ns);
	result->window_ns = plan->window_ns;
	result->cpu_window_ns = cpu_time(calls) - cpu_ns;
	if (!call_plan_is_always(plan))
		detach(calls);
	return goes_on;
}

static void count(struct heap_calls *calls, struct call_result *result)
{
	struct heap_call_counts now = read_counts(calls);

	result->nr_calls = now.nr - calls->counts.nr;
	result->nr_slow = now.nr_slow - calls->counts.nr_slow;
	result->bytes = now.bytes - calls->counts.bytes;
	result->stacks_ns = now.stacks_ns - calls->counts.stacks_ns;
	calls->counts = now;
}

/* Returns 1 if the thread goes on. */
static int run_cycle(struct heap_calls *calls, const struct call_plan *plan,
		     struct call_result *result)
{
	uint64_t begin_ns = clock_mono_ns(), cpu_ns = cpu_time(calls);

	*result = (struct call_result){ .cycle_ns = plan->cycle_ns };
	if (!wait_until(calls, begin_ns + draw_begin(plan)))
		return 0;
	int r = run_window(calls, plan, result);
	if (r <= 0)
		return r;
	count(calls, result);
	bool goes_on = wait_until(calls, begin_ns + plan->cycle_ns);
	result->cpu_cycle_ns = cpu_time(calls) - cpu_ns;
	return goes_on;
}

static void *run(void *data)
{
	struct heap_calls *calls = data;
	struct call_result result;
	struct call_pace pace;
	uint64_t trap_ns = 0;

	int r = trap_cost_measure(calls->kernel.program, calls->kernel.window, &trap_ns);
	calls->counts = read_counts(calls);
	log_debug("a call that is looked at takes %llu ns longer", (unsigned long long)trap_ns);
	struct call_plan plan = call_pace_begin(&pace, trap_ns);
	if (r == 0)
		r = 1;
	while (r > 0) {
		r = run_cycle(calls, &plan, &result);
		log_debug("calls were looked at for %llu of %llu us: %llu calls, %llu bytes",
			  (unsigned long long)result.window_ns / NSEC_PER_USEC,
			  (unsigned long long)result.cycle_ns / NSEC_PER_USEC,
			  (unsigned long long)result.nr_calls, (unsigned long long)result.bytes);
		if (r > 0)
			plan = call_pace_next(&pace, &result);
	}
	detach(calls);
	if (r < 0 && r != -ESRCH)
		log_warn("calls of the allocator are no longer sampled: %s", strerror(-r));
	return NULL;
}

static int copy_targets(struct heap_calls *calls, const struct call_target *targets, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		struct target *target = &calls->targets[i];

		*target = (struct target){ .pid = targets[i].pid,
					   .fd = fcntl(targets[i].fd, F_DUPFD_CLOEXEC, 0),
					   .link_fd = -EBADF,
					   .probes = targets[i].probes };
		if (target->fd < 0)
			return -errno;
		calls->nr_targets++;
	}
	return 0;
}

/* The first attempt tells errors that all others would have. */
static int try_to_attach(struct heap_calls *calls)
{
	int r = attach(calls);

	detach(calls);
	return r;
}

int heap_calls_start(const struct heap_calls_kernel *kernel, const struct call_target *targets,
		     size_t nr, struct heap_calls **ret_calls)
{
	_cleanup_(heap_calls_stopp) struct heap_calls *calls = calloc(1, sizeof(*calls));
	size_t value_bytes = (bpf_map__value_size(kernel->counts) + 7) & ~(size_t)7;

	if (nr > CALL_TARGETS_MAX)
		return -ENOSPC;
	if (!calls)
		return -ENOMEM;
	calls->kernel = *kernel;
	pthread_mutex_init(&calls->lock, NULL);
	thread_init_cond(&calls->wake);
	calls->targets = calloc(nr, sizeof(*calls->targets));
	calls->values = calloc((size_t)libbpf_num_possible_cpus(), value_bytes);
	if (!calls->targets || !calls->values)
		return -ENOMEM;
	int r = copy_targets(calls, targets, nr);
	if (r == 0)
		r = try_to_attach(calls);
	if (r == 0)
		r = thread_start("heap calls", CAPABILITY(BPF) | CAPABILITY(PERFMON), run, calls,
				 &calls->thread);
	if (r < 0)
		return r;
	calls->is_running = true;
	*ret_calls = take_ptr(calls);
	return 0;
}

static void ask_to_stop(struct heap_calls *calls)
{
	LOCKED(&calls->lock);
	calls->is_stopping = true;
	pthread_cond_signal(&calls->wake);
}

void heap_calls_stop(struct heap_calls *calls)
{
	if (!calls)
		return;
	if (calls->is_running) {
		ask_to_stop(calls);
		pthread_join(calls->thread, NULL);
	}
	for (size_t i = 0; i < calls->nr_targets; i++)
		cleanup_closep(&calls->targets[i].fd);
	pthread_cond_destroy(&calls->wake);
	pthread_mutex_destroy(&calls->lock);
	free(calls->targets);
	free(calls->values);
	free(calls);
}
