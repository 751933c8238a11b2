/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/oracle/unwind/recording.h"

#include "base/array.h"
#include "base/clock.h"
#include "bpf/shared/cfi.h"
#include "bpf/shared/events.h"
#include "bpf/shared/stats.h"
#include "capture/perf_events/cpu_list.h"
#include "capture/perf_events/perf_ring.h"
#include "tests/oracle/unwind/perf_stack.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "flamelet_bpf.skel.h"

#define PERF_RING_BYTES ((size_t)16 << 20)
#define BPF_RING_BYTES ((uint32_t)16 << 20)
#define MAX_STACKS 65536

/* Between the program's look at the clock and perf's; which is the earlier one differs between
 * kernels. A fifth of what is between two samples. */
#define MAX_DISTANCE_NS(frequency_hz) (NSEC_PER_SEC / 5 / (frequency_hz))

struct recording {
	struct flamelet_bpf *skel; /* owned */
	struct ring_buffer *bpf_ring; /* owned */
	struct perf_ring *rings; /* owned; one for each CPU */
	uint32_t *cpus; /* owned; theirs */
	size_t nr_rings, cap_rings, cap_cpus;
	struct perf_copy *copies; /* owned */
	size_t nr_copies, cap_copies;
	struct bpf_stack *stacks; /* owned */
	size_t nr_stacks, cap_stacks;
	uint64_t max_distance_ns; /* of a stack and its copy */
	struct recording_losses losses;
	uint8_t scratch[PERF_RING_MAX_RECORD_BYTES];
};

static int on_bpf_record(void *data, void *record, size_t len)
{
	struct recording *recording = data;
	const struct sample_event *event = record;
	size_t nr_frames = event->nr_user;

	if (len < offsetof(struct sample_event, frames[event->nr_kernel + nr_frames]))
		return -EBADMSG;
	int r = array_grow(recording->stacks, recording->cap_stacks, recording->nr_stacks + 1,
			   MAX_STACKS);
	if (r < 0)
		return r;
	uint64_t *frames = calloc(nr_frames + 1, sizeof(*frames));
	if (!frames)
		return -ENOMEM;
	for (size_t i = 0; i < nr_frames; i++)
		frames[i] = FRAME_ADDRESS(event->frames[event->nr_kernel + i]);
	recording->stacks[recording->nr_stacks++] = (struct bpf_stack){
		.time_ns = event->time_ns,
		.cpu = event->cpu,
		.tid = event->tid,
		.result = event->unwind_result,
		.nr_frames = nr_frames,
		.frames = frames,
	};
	return 0;
}

static int load(struct recording *recording, uint32_t pid)
{
	const uint8_t wanted = 1;

	recording->skel = flamelet_bpf__open();
	if (!recording->skel)
		return -errno;
	recording->skel->rodata->filter_by_pid = true;
	recording->skel->rodata->pass_to_perf = true;
	bpf_program__set_autoload(recording->skel->progs.follow_fork, false);
	int r = bpf_map__set_max_entries(recording->skel->maps.samples, BPF_RING_BYTES);
	if (r == 0)
		r = flamelet_bpf__load(recording->skel);
	if (r < 0)
		return r;
	recording->bpf_ring = ring_buffer__new(bpf_map__fd(recording->skel->maps.samples),
					       on_bpf_record, recording, NULL);
	if (!recording->bpf_ring)
		return -errno;
	return bpf_map_update_elem(bpf_map__fd(recording->skel->maps.filter_pids), &pid, &wanted,
				   BPF_ANY);
}

static int start_cpu(struct recording *recording, uint32_t cpu, uint32_t frequency_hz)
{
	struct perf_event_attr attr = perf_stack_attr(frequency_hz);
	const struct perf_ring_target target = { .pid = -1, .cpu = (int)cpu };
	struct perf_ring_size size = { PERF_RING_BYTES, PERF_RING_BYTES };
	size_t nr = recording->nr_rings;
	int program_fd = bpf_program__fd(recording->skel->progs.sample);

	int r = array_grow(recording->rings, recording->cap_rings, nr + 1, CPU_LIST_MAX);
	if (r == 0)
		r = array_grow(recording->cpus, recording->cap_cpus, nr + 1, CPU_LIST_MAX);
	if (r == 0)
		r = perf_ring_open(&attr, &target, &size, &recording->rings[nr]);
	if (r < 0)
		return r;
	recording->cpus[nr] = cpu;
	recording->nr_rings++;
	if (ioctl(recording->rings[nr].fd, PERF_EVENT_IOC_SET_BPF, program_fd) < 0 ||
	    ioctl(recording->rings[nr].fd, PERF_EVENT_IOC_ENABLE, 0) < 0)
		return -errno;
	return 0;
}

static int start(struct recording *recording, uint32_t frequency_hz)
{
	struct cpu_set_bits online;

	int r = cpu_list_online(&online);
	for (uint32_t cpu = 0; r == 0 && cpu < CPU_LIST_MAX; cpu++) {
		if (cpu_set_has(&online, cpu))
			r = start_cpu(recording, cpu, frequency_hz);
	}
	return r;
}

int recording_open(const struct recording_opts *opts, struct recording **ret_recording)
{
	_cleanup_(recording_closep) struct recording *recording = calloc(1, sizeof(*recording));

	if (!recording)
		return -ENOMEM;
	recording->max_distance_ns = MAX_DISTANCE_NS(opts->frequency_hz);
	int r = load(recording, opts->pid);
	if (r == 0)
		r = start(recording, opts->frequency_hz);
	if (r < 0)
		return r;
	*ret_recording = take_ptr(recording);
	return 0;
}

void recording_close(struct recording *recording)
{
	if (!recording)
		return;
	for (size_t i = 0; i < recording->nr_rings; i++)
		perf_ring_close(&recording->rings[i]);
	for (size_t i = 0; i < recording->nr_copies; i++)
		free(recording->copies[i].bytes);
	for (size_t i = 0; i < recording->nr_stacks; i++)
		free(recording->stacks[i].frames);
	ring_buffer__free(recording->bpf_ring);
	flamelet_bpf__destroy(recording->skel);
	free(recording->rings);
	free(recording->cpus);
	free(recording->copies);
	free(recording->stacks);
	free(recording);
}

struct recording_maps recording_get_maps(const struct recording *recording)
{
	return (struct recording_maps){
		.processes_fd = bpf_map__fd(recording->skel->maps.processes),
		.tables_fd = bpf_map__fd(recording->skel->maps.tables),
		.arena_fd = bpf_map__fd(recording->skel->maps.arena),
	};
}

static int take_copy(struct recording *recording, const void *record, size_t len, uint32_t cpu)
{
	struct perf_stack stack;

	int r = perf_stack_parse(record, len, &stack);
	if (r < 0)
		return r;
	recording->losses.nr_perf_lost += stack.nr_lost;
	if (!stack.is_sample)
		return 0;
	if (!stack.has_registers) {
		recording->losses.nr_without_registers++;
		return 0;
	}
	r = array_grow(recording->copies, recording->cap_copies, recording->nr_copies + 1,
		       MAX_STACKS);
	if (r < 0)
		return r;
	uint8_t *bytes = calloc(1, stack.len + 1);
	if (!bytes)
		return -ENOMEM;
	memcpy(bytes, stack.bytes, stack.len);
	struct perf_copy *copy = &recording->copies[recording->nr_copies++];
	*copy = (struct perf_copy){
		.time_ns = stack.time_ns,
		.cpu = cpu,
		.tid = stack.tid,
		.bytes = bytes,
		.len = stack.len,
		.is_truncated = stack.is_truncated,
	};
	memcpy(copy->registers, stack.registers, sizeof(copy->registers));
	return 0;
}

static int drain_ring(struct recording *recording, size_t index)
{
	struct perf_ring *ring = &recording->rings[index];
	const void *record;
	size_t len;
	int r;

	perf_ring_begin(ring);
	while ((r = perf_ring_next(ring, recording->scratch, &record, &len)) > 0) {
		int error = take_copy(recording, record, len, recording->cpus[index]);
		if (error < 0)
			return error;
	}
	return r;
}

/* Perf's records first: those of the program to them are then in the other ring. */
int recording_drain(struct recording *recording)
{
	for (size_t i = 0; i < recording->nr_rings; i++) {
		int r = drain_ring(recording, i);
		if (r < 0)
			return r;
	}
	int r = ring_buffer__consume(recording->bpf_ring);
	return r < 0 ? r : 0;
}

static int compare_places(uint32_t cpu, uint64_t time_ns, uint32_t other_cpu,
			  uint64_t other_time_ns)
{
	if (cpu != other_cpu)
		return cpu < other_cpu ? -1 : 1;
	if (time_ns != other_time_ns)
		return time_ns < other_time_ns ? -1 : 1;
	return 0;
}

static int compare_copies(const void *a, const void *b)
{
	const struct perf_copy *x = a, *y = b;

	return compare_places(x->cpu, x->time_ns, y->cpu, y->time_ns);
}

static int compare_stacks(const void *a, const void *b)
{
	const struct bpf_stack *x = a, *y = b;

	return compare_places(x->cpu, x->time_ns, y->cpu, y->time_ns);
}

static uint64_t nr_ring_full(const struct recording *recording)
{
	const uint32_t zero = 0;
	int nr_cpus = libbpf_num_possible_cpus();
	uint64_t sum = 0;

	_cleanup_free_ struct bpf_counts *counts = calloc((size_t)nr_cpus, sizeof(*counts));
	if (!counts ||
	    bpf_map_lookup_elem(bpf_map__fd(recording->skel->maps.stats), &zero, counts) < 0)
		return 0;
	for (int i = 0; i < nr_cpus; i++)
		sum += counts[i].of[STAT_RING_FULL];
	return sum;
}

static uint64_t distance_ns(const struct bpf_stack *stack, const struct perf_copy *copy)
{
	uint64_t ip = copy->registers[NR_REGS];

	if (copy->cpu != stack->cpu || copy->tid != stack->tid || stack->nr_frames == 0 ||
	    stack->frames[0] != ip)
		return UINT64_MAX;
	return copy->time_ns > stack->time_ns ? copy->time_ns - stack->time_ns
					      : stack->time_ns - copy->time_ns;
}

/* The copy of the same interrupt, or NULL. `*next` is the first copy that is later than the
 * stack. */
static const struct perf_copy *find_copy(const struct recording *recording,
					 const struct bpf_stack *stack, size_t *next)
{
	const struct perf_copy *copies = recording->copies;
	uint64_t before_ns = UINT64_MAX, after_ns = UINT64_MAX;

	while (*next < recording->nr_copies &&
	       compare_places(copies[*next].cpu, copies[*next].time_ns, stack->cpu,
			      stack->time_ns) < 0)
		(*next)++;
	if (*next > 0)
		before_ns = distance_ns(stack, &copies[*next - 1]);
	if (*next < recording->nr_copies)
		after_ns = distance_ns(stack, &copies[*next]);
	if (before_ns > recording->max_distance_ns && after_ns > recording->max_distance_ns)
		return NULL;
	return before_ns < after_ns ? &copies[*next - 1] : &copies[*next];
}

void recording_pair(struct recording *recording,
		    void (*handle)(const struct bpf_stack *stack, const struct perf_copy *copy,
				   void *data),
		    void *data)
{
	size_t next = 0;

	for (size_t i = 0; i < recording->nr_rings; i++)
		(void)ioctl(recording->rings[i].fd, PERF_EVENT_IOC_DISABLE, 0);
	recording->losses.nr_bpf_lost = nr_ring_full(recording);
	qsort(recording->copies, recording->nr_copies, sizeof(*recording->copies), compare_copies);
	qsort(recording->stacks, recording->nr_stacks, sizeof(*recording->stacks), compare_stacks);
	for (size_t i = 0; i < recording->nr_stacks; i++) {
		const struct bpf_stack *stack = &recording->stacks[i];

		handle(stack, find_copy(recording, stack, &next), data);
	}
}

struct recording_losses recording_get_losses(const struct recording *recording)
{
	return recording->losses;
}
