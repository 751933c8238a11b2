/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/thread_dump.h"

#include "agent/thread_sampler.h"
#include "base/capabilities.h"
#include "base/clock.h"
#include "base/heartbeat.h"
#include "base/thread.h"
#include "process/proc_stat.h"

#include <pthread.h>
#include <string.h>
#include <time.h>

#define POLL_NS (100 * NSEC_PER_USEC)

/* The reader's capabilities, and CAP_SYS_ADMIN if kernel.perf_event_paranoid is 3 or more. */
#define TRACER_CAPABILITIES                                                                        \
	(CAPABILITY(BPF) | CAPABILITY(PERFMON) | CAPABILITY(SYS_PTRACE) |                          \
	 CAPABILITY(DAC_READ_SEARCH) | CAPABILITY(SYS_ADMIN))
#define LEARN_MAX_NS (10 * NSEC_PER_SEC) /* a large program or a busy machine takes longer */

static void take_sample(const struct sample_event *event, void *data)
{
	thread_sampler_add(data, event);
}

static void nap(void)
{
	struct timespec wake = clock_timespec(clock_mono_ns() + POLL_NS);

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &wake, NULL);
}

/* One stop of all threads. */
struct round {
	struct agent *agent; /* borrowed */
	struct thread_sampler *sampler; /* borrowed */
	int result;
};

/* Stops all threads, takes their samples and lets them go on. */
static void *run_round(void *data)
{
	struct round *round = data;
	uint64_t deadline_ns = clock_mono_ns() + THREAD_DUMP_STOP_NS;

	round->result = thread_sampler_begin(round->sampler);
	if (round->result < 0)
		return NULL;
	while (!thread_sampler_is_over(round->sampler) && clock_mono_ns() < deadline_ns) {
		agent_poll_samples(round->agent, take_sample, round->sampler);
		nap();
	}
	thread_sampler_end(round->sampler);
	agent_poll_samples(round->agent, take_sample, round->sampler);
	return NULL;
}

/* The tracer is a thread of its own, as the kernel releases threads that did not stop when their
 * tracer ends. */
static int sample_threads(struct agent *agent, struct thread_sampler *sampler)
{
	struct round round = { agent, sampler, 0 };
	pthread_t tracer;

	int r = thread_start("tracer", TRACER_CAPABILITIES, run_round, &round, &tracer);
	if (r < 0)
		return r;
	pthread_join(tracer, NULL);
	heartbeat_beat();
	return round.result;
}

static int learn(struct agent *agent, struct thread_sampler *sampler)
{
	int r = sample_threads(agent, sampler);

	if (r < 0)
		return r;
	for (size_t i = 0; i < sampler->nr_samples; i++)
		agent_learn_sample(agent, sampler->samples[i]);
	thread_sampler_clear(sampler);
	agent_wait_learned(agent, clock_mono_ns() + LEARN_MAX_NS);
	return 0;
}

/* Threads of the kernel have no user stacks and cannot be stopped. Errors: those of
 * proc_stat_read(). */
static int has_user_stacks(int proc_fd, uint32_t pid)
{
	struct proc_stat stat;
	int r = proc_stat_read(proc_fd, pid, &stat);

	return r < 0 ? r : !proc_stat_is_kernel_thread(&stat);
}

static int dump(struct agent *agent, struct thread_sampler *sampler, struct thread_dump *dump)
{
	int r = thread_list_read(sampler->proc_fd, sampler->pid, THREAD_LIST_ALL, &dump->threads);
	if (r < 0)
		return r;
	uint64_t start_ns = clock_mono_ns();
	r = sample_threads(agent, sampler);
	if (r < 0)
		return r;
	dump->stopped_ns = clock_mono_ns() - start_ns;
	for (size_t i = 0; i < sampler->nr_samples; i++)
		agent_add_sample(agent, sampler->samples[i]);
	return 0;
}

/* The first stop makes threads that sleep in some calls sleep in a restarted one. */
static int learn_and_dump(struct agent *agent, struct thread_sampler *sampler,
			  struct thread_dump *taken)
{
	_cleanup_(thread_list_done) struct thread_list earlier = { 0 };

	int r = thread_list_read(sampler->proc_fd, sampler->pid, THREAD_LIST_ALL, &earlier);
	if (r == 0)
		r = learn(agent, sampler);
	if (r == 0)
		r = dump(agent, sampler, taken);
	if (r == 0)
		thread_list_restore_stacks(&taken->threads, &earlier);
	return r;
}

static void explain(int error, uint32_t pid, struct strbuf *out)
{
	switch (error) {
	case -ESRCH:
		strbuf_appendf(out, "pid %u: no such process", pid);
		break;
	case -EPERM:
		strbuf_appendf(out,
			       "pid %u cannot be stopped: a debugger traces it, the kernel "
			       "protects it, or flamelet lacks CAP_SYS_PTRACE",
			       pid);
		break;
	case -EOPNOTSUPP:
		strbuf_append_str(out, "flamelet dump needs BPF, and this kernel does not permit "
				       "it; flamelet doctor says why");
		break;
	default:
		strbuf_appendf(out, "pid %u cannot be dumped: %s", pid, strerror(-error));
	}
}

int thread_dump_take(struct agent *agent, int proc_fd, uint32_t pid, struct strbuf *reterr_msg,
		     struct thread_dump *ret_dump)
{
	_cleanup_(thread_sampler_done) struct thread_sampler sampler = {
		.source = agent_source(agent),
		.proc_fd = proc_fd,
		.pid = pid,
	};
	struct thread_dump taken = { 0 };

	int r = has_user_stacks(proc_fd, pid);
	if (r == 0)
		r = thread_list_read(proc_fd, pid, THREAD_LIST_ALL, &taken.threads);
	else if (r > 0)
		r = learn_and_dump(agent, &sampler, &taken);
	if (r < 0) {
		thread_dump_done(&taken);
		explain(r, pid, reterr_msg);
		return r;
	}
	*ret_dump = taken;
	return 0;
}

void thread_dump_done(struct thread_dump *dump)
{
	thread_list_done(&dump->threads);
}
