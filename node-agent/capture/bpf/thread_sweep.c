/* SPDX-License-Identifier: Apache-2.0 */
#include "capture/bpf/thread_sweep.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/minmax.h"
#include "bpf/shared/frames.h"
#include "capture/bpf/stack_copier.h"
#include "unwind/local_unwinder.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MIN_INTERVAL_NS NSEC_PER_SEC
#define MAX_INTERVAL_NS (10 * NSEC_PER_SEC)
#define MAX_FOUND 65536
#define TABLES_WAIT_NS (10 * NSEC_PER_SEC) /* for the tables of a thread's files */
#define RETRY_NS (500 * NSEC_PER_MSEC)
#define UNWIND_NS (10 * NSEC_PER_MSEC) /* in each call */

int thread_sweep_open(struct thread_sweep *sweep, const struct thread_sweep_kernel *kernel,
		      int proc_fd)
{
	sweep->slots = kernel->slots;
	sweep->min_rest_ns = kernel->min_rest_ns;
	sweep->interval_ns = MIN_INTERVAL_NS;
	for (size_t i = 0; i < array_len(sweep->iterators); i++) {
		sweep->iterators[i] = bpf_program__attach_iter(kernel->programs[i], NULL);
		if (!sweep->iterators[i])
			return -errno;
	}
	return stack_copier_start(proc_fd, &sweep->copier);
}

static void forget(struct thread_sweep *sweep, size_t i)
{
	free(sweep->found[i].event);
	sweep->found[i] = sweep->found[--sweep->nr_found];
}

void thread_sweep_close(struct thread_sweep *sweep)
{
	while (sweep->nr_found > 0)
		forget(sweep, sweep->nr_found - 1);
	free(sweep->found);
	stack_copier_stop(sweep->copier);
	for (size_t i = 0; i < array_len(sweep->iterators); i++)
		bpf_link__destroy(sweep->iterators[i]);
	*sweep = (struct thread_sweep){ 0 };
}

/* The programs write nothing that could be read here: their records are in the ring buffer. */
static void visit_threads(const struct bpf_link *iterator)
{
	_cleanup_close_ int fd = bpf_iter_create(bpf_link__fd(iterator));
	char byte;

	if (fd < 0)
		return;
	while (read(fd, &byte, sizeof(byte)) < 0 && errno == EAGAIN) /* after each million */
		;
}

void thread_sweep_tell_rests(struct thread_sweep *sweep)
{
	if (!sweep->copier)
		return;
	*sweep->min_rest_ns = 0;
	visit_threads(sweep->iterators[0]);
	*sweep->min_rest_ns = OFF_CPU_MIN_REST_NS;
}

void thread_sweep_run(struct thread_sweep *sweep, uint64_t now_ns, bool is_last)
{
	if (!sweep->copier || (now_ns < sweep->next_ns && !is_last))
		return;
	*sweep->min_rest_ns = is_last ? 0 : OFF_CPU_MIN_REST_NS;
	for (size_t i = 0; i < array_len(sweep->iterators); i++)
		visit_threads(sweep->iterators[i]);
	sweep->next_ns = now_ns + sweep->interval_ns;
	sweep->interval_ns = min_u64(2 * sweep->interval_ns, MAX_INTERVAL_NS);
}

static size_t bytes_of(const struct sample_event *event)
{
	return offsetof(struct sample_event, frames) +
	       ((size_t)event->nr_kernel + event->nr_user) * sizeof(event->frames[0]);
}

void thread_sweep_add(struct thread_sweep *sweep, const struct sample_event *event, uint64_t now_ns)
{
	_cleanup_free_ struct sample_event *copy = malloc(bytes_of(event));

	int r = array_grow(sweep->found, sweep->cap_found, sweep->nr_found + 1, MAX_FOUND);
	if (!copy || r < 0) {
		sweep->nr_lost++;
		return;
	}
	memcpy(copy, event, bytes_of(event));
	sweep->found[sweep->nr_found++] = (struct found_thread){
		.event = take_ptr(copy),
		.give_up_ns = now_ns + TABLES_WAIT_NS,
	};
}

/* The words in place of the user's frames. */
static const __u64 *registers_of(const struct sample_event *event)
{
	return event->nr_user == SWEEP_REGS ? event->frames + event->nr_kernel : NULL;
}

/* Begins the record that is handed out, without the user's part of the stack except where it
 * entered the kernel. */
static struct sample_event *begin_event(struct thread_sweep *sweep,
					const struct sample_event *found)
{
	const __u64 *registers = registers_of(found);
	struct sample_event *event = &sweep->event;

	memcpy(event, found, bytes_of(found));
	event->kind = RECORD_BLOCK_BEGIN;
	event->nr_user = 0;
	if (!registers)
		return event;
	event->frames[event->nr_kernel] = registers[NR_REGS];
	event->nr_user = 1;
	event->unwind_result = UNWIND_UNREADABLE_STACK;
	return event;
}

/* The block counts from its beginning. */
static void hand_out(struct sample_event *event, const struct sample_consumer *consumer)
{
	consumer->catch_up(event->time_ns, consumer->data);
	event->time_ns -= event->length_ns;
	event->length_ns = 0;
	consumer->handle(event, consumer->data);
}

void thread_sweep_end(struct thread_sweep *sweep, const struct sample_event *end,
		      const struct sample_consumer *consumer)
{
	for (size_t i = 0; i < sweep->nr_found; i++) {
		const struct sample_event *found = sweep->found[i].event;

		if (found->tid != end->tid || found->sequence != end->sequence)
			continue;
		sweep->nr_stacks_lost += registers_of(found) != NULL;
		hand_out(begin_event(sweep, found), consumer);
		forget(sweep, i);
		return;
	}
}

/* Takes the registers apart. */
static struct stack_copy copy_of(const __u64 *registers, const struct stack_request *request)
{
	struct stack_copy copy = {
		.ip = registers[NR_REGS],
		.address = request->address,
		.bytes = request->bytes,
		.len = request->len,
		.is_truncated = request->len == STACK_COPY_BYTES,
	};

	memcpy(copy.regs, registers, sizeof(copy.regs));
	return copy;
}

/* Returns whether the stack was unwound as far as it can be: no table is on its way. The kernel's
 * unwinder may have asked for the process before. */
static bool unwind(struct local_unwinder *unwinder, const struct stack_copy *copy,
		   struct sample_event *event, const struct sample_consumer *consumer)
{
	bool asks = local_unwinder_unwind(unwinder, copy, event);

	if (asks || event->unwind_result == UNWIND_NEW_PROCESS) {
		consumer->meet_process(event, copy->ip, consumer->data);
		(void)local_unwinder_unwind(unwinder, copy, event);
	}
	return event->unwind_result != UNWIND_NOT_LOADED &&
	       event->unwind_result != UNWIND_NEW_PROCESS;
}

/* Returns whether the thread is done with: handed out, or it runs. */
static bool finish(struct thread_sweep *sweep, struct local_unwinder *unwinder,
		   struct found_thread *found, const struct stack_request *request,
		   const struct sample_consumer *consumer)
{
	struct sample_event *event = begin_event(sweep, found->event);
	uint64_t now_ns = clock_mono_ns();
	bool is_late = sweep->is_last || now_ns >= found->give_up_ns;

	found->next_ns = now_ns + RETRY_NS;
	if (request->len > 0) {
		const struct stack_copy copy = copy_of(registers_of(found->event), request);

		if (!unwind(unwinder, &copy, event, consumer) && !is_late)
			return false;
	}
	/* If the thread runs, the record of its end hands it out, unless that came before. */
	if (!block_slots_has(sweep->slots, event->tid, event->sequence)) {
		sweep->nr_lost += is_late;
		return is_late;
	}
	sweep->nr_stacks_lost += request->address != 0 && request->len == 0;
	hand_out(event, consumer);
	return true;
}

/* The threads that are unwound next, by their places, which ascend. */
struct batch {
	size_t places[STACK_COPIER_MAX];
	struct stack_request requests[STACK_COPIER_MAX];
	uint32_t nr;
};

/* Finds threads that are due, from a place on. Returns the place behind the last one. */
static size_t find_due(const struct thread_sweep *sweep, size_t place, uint64_t now_ns,
		       struct batch *batch)
{
	batch->nr = 0;
	for (; place < sweep->nr_found && batch->nr < STACK_COPIER_MAX; place++) {
		const struct found_thread *found = &sweep->found[place];
		const __u64 *registers = registers_of(found->event);

		if (found->next_ns > now_ns)
			continue;
		batch->places[batch->nr] = place;
		batch->requests[batch->nr++] = (struct stack_request){
			.pid = found->event->pid,
			.address = registers ? registers[CFI_SP] : 0,
		};
	}
	return place;
}

/* From the last one to the first, so that others can take the places of those that are done. */
static void unwind_batch(struct thread_sweep *sweep, struct local_unwinder *unwinder,
			 const struct sample_consumer *consumer, struct batch *batch)
{
	int r = stack_copier_copy(sweep->copier, batch->requests, batch->nr);
	(void)r; /* then there is nothing in them */

	for (uint32_t i = batch->nr; i-- > 0;) {
		struct found_thread *found = &sweep->found[batch->places[i]];

		if (finish(sweep, unwinder, found, &batch->requests[i], consumer))
			forget(sweep, batch->places[i]);
	}
}

void thread_sweep_unwind(struct thread_sweep *sweep, struct unwind_memory *memory,
			 const struct sample_consumer *consumer, bool is_last)
{
	uint64_t now_ns = is_last ? UINT64_MAX : clock_mono_ns();
	uint64_t until_ns = is_last ? UINT64_MAX : now_ns + UNWIND_NS;
	_cleanup_(local_unwinder_freep) struct local_unwinder *unwinder = NULL;
	struct batch batch;
	size_t place = 0;

	sweep->is_last = is_last;
	if (sweep->nr_found == 0 || local_unwinder_new(memory, &unwinder) < 0)
		return;
	do {
		place = find_due(sweep, place, now_ns, &batch);
		unwind_batch(sweep, unwinder, consumer, &batch);
	} while (batch.nr > 0 && clock_mono_ns() < until_ns);
}
