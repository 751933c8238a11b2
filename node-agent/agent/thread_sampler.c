/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/thread_sampler.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "process/proc_stat.h"

#include <stdlib.h>
#include <string.h>

#define SHORT_SLEEP_NS (10 * NSEC_PER_MSEC)

static int add_thread(struct thread_sampler *sampler, uint32_t tid)
{
	int r = array_grow(sampler->events, sampler->cap_events, sampler->nr_events + 1,
			   THREAD_LIST_MAX);

	if (r < 0)
		return r;
	r = sample_source_open_thread(sampler->source, tid, &sampler->events[sampler->nr_events]);
	if (r < 0)
		return r;
	sampler->nr_events++;
	return thread_stop_add(&sampler->stop, tid);
}

/* Threads that have ended cannot be traced, but may still be there. */
static bool has_ended(const struct thread_sampler *sampler, uint32_t tid)
{
	struct proc_stat stat;

	return proc_stat_read(sampler->proc_fd, tid, &stat) < 0 || stat.state == 'Z' ||
	       stat.state == 'X';
}

static int add_new_threads(struct thread_sampler *sampler, size_t *ret_nr)
{
	_cleanup_(thread_list_done) struct thread_list list = { 0 };
	size_t nr = 0;

	int r = thread_list_read(sampler->proc_fd, sampler->pid, THREAD_LIST_IDS, &list);
	for (size_t i = 0; r == 0 && i < list.nr; i++) {
		uint32_t tid = list.items[i].tid;

		if (thread_stop_has(&sampler->stop, tid))
			continue;
		r = add_thread(sampler, tid);
		nr += r == 0;
		if (r == -ESRCH || (r == -EPERM && has_ended(sampler, tid)))
			r = 0;
	}
	if (r == 0)
		*ret_nr = nr;
	return r;
}

int thread_sampler_begin(struct thread_sampler *sampler)
{
	size_t nr;

	sampler->begin_ns = clock_mono_ns();
	int r = add_new_threads(sampler, &nr);
	if (r < 0) {
		thread_sampler_end(sampler);
		return r;
	}
	return nr > 0 ? 0 : -ESRCH;
}

static struct sample_event *find_sample(const struct thread_sampler *sampler, uint32_t tid,
					size_t *ret_index)
{
	for (size_t i = 0; i < sampler->nr_samples; i++) {
		*ret_index = i;
		if (sampler->samples[i]->tid == tid)
			return sampler->samples[i];
	}
	*ret_index = sampler->nr_samples;
	return NULL;
}

/* Copies a sample without its kernel frames. */
static struct sample_event *copy_user_part(const struct sample_event *event)
{
	size_t header = offsetof(struct sample_event, frames);
	size_t bytes = event->nr_user * sizeof(event->frames[0]);
	struct sample_event *copy = malloc(header + bytes);

	if (!copy)
		return NULL;
	memcpy(copy, event, header);
	memcpy((char *)copy + header, event->frames + event->nr_kernel, bytes);
	copy->nr_kernel = 0;
	return copy;
}

/* Without memory the thread is shown without a stack. */
void thread_sampler_add(struct thread_sampler *sampler, const struct sample_event *event)
{
	size_t index;

	if (event->pid != sampler->pid)
		return;
	struct sample_event *former = find_sample(sampler, event->tid, &index);
	struct sample_event *copy = copy_user_part(event);
	/* NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers */
	int r = array_grow(sampler->samples, sampler->cap_samples, index + 1, THREAD_LIST_MAX);
	if (!copy || r < 0) {
		free(copy);
		return;
	}
	free(former);
	sampler->samples[index] = copy;
	sampler->nr_samples += !former;
}

/* Returns whether all threads that have not stopped are in an uninterruptible sleep, and were given
 * time to end it, as reads of a disk do. */
static bool are_stuck(const struct thread_sampler *sampler)
{
	struct proc_stat stat;

	if (clock_mono_ns() < sampler->begin_ns + SHORT_SLEEP_NS)
		return false;
	for (size_t i = 0; i < sampler->stop.nr; i++) {
		const struct stopping_thread *thread = &sampler->stop.items[i];

		if (!thread->is_stopped &&
		    proc_stat_read(sampler->proc_fd, thread->tid, &stat) == 0 && stat.state != 'D')
			return false;
	}
	return true;
}

bool thread_sampler_is_over(struct thread_sampler *sampler)
{
	size_t nr_new = 0;

	if (thread_stop_wait(&sampler->stop) > 0 && !are_stuck(sampler))
		return false;
	return add_new_threads(sampler, &nr_new) < 0 || nr_new == 0;
}

void thread_sampler_end(struct thread_sampler *sampler)
{
	for (size_t i = 0; i < sampler->nr_events; i++)
		sample_source_close_thread(sampler->source, sampler->events[i]);
	sampler->nr_events = 0;
	thread_stop_end(&sampler->stop);
}

void thread_sampler_clear(struct thread_sampler *sampler)
{
	for (size_t i = 0; i < sampler->nr_samples; i++)
		free(sampler->samples[i]);
	sampler->nr_samples = 0;
}

void thread_sampler_done(struct thread_sampler *sampler)
{
	thread_sampler_end(sampler);
	thread_sampler_clear(sampler);
	free(sampler->samples);
	free(sampler->events);
}
