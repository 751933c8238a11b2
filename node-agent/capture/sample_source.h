/* SPDX-License-Identifier: Apache-2.0 */
/* Finished samples from the kernel, taken by a timer on each online CPU. Two backends deliver
 * the same records:
 *
 *	bpf	a BPF program filters, unwinds and writes the record
 *	perf	the kernel copies registers and stack; filtering and unwinding happen in
 *		this process. For kernels without usable BPF (docs/capture.md)
 *
 * A source owns the unwind memory: the tables and mappings that its stacks are unwound with. The
 * consumer fills it, and tells the source what happens to processes. Belongs to one thread. */
#ifndef CAPTURE_SAMPLE_SOURCE_H
#define CAPTURE_SAMPLE_SOURCE_H

#include "base/cleanup.h"
#include "base/err.h"
#include "bpf/shared/cgroups.h"
#include "bpf/shared/heap.h"
#include "capture/call_target.h"
#include "capture/capture_stats.h"
#include "capture/irq_time.h"
#include "capture/perf_events/cpu_list.h"
#include "capture/sample_consumer.h"
#include "process/proc_event.h"

#include <stdbool.h>
#include <stdint.h>

struct sample_source;
struct unwind_memory;

/* Opened by capture/bpf/capture_bpf.h or capture/perf/capture_perf.h. */
void sample_source_close(struct sample_source *source);
DEFINE_FREEP(struct sample_source, sample_source_close)

/* Returns the backend's name for profiles, constant text; NULL for the usual backend,
 * which profiles do not name. */
const char *sample_source_profile_label(const struct sample_source *source);

/* The unwind memory that the source's stacks are unwound with; borrowed, as long as the source
 * is open. */
struct unwind_memory *sample_source_unwind_memory(const struct sample_source *source);

/* Starts the timers of all CPUs that are online and wanted. To be called about once a second, to
 * follow CPUs that go online and offline; the CPUs of `*ret_restarted` were offline in between.
 * Errors: -ENODEV no timer could be started; what perf_event_open(2) said. */
int sample_source_follow_cpus(struct sample_source *source, struct cpu_set_bits *ret_restarted)
	must_check;

/* Has all timers fire each `period_ns` of their CPU's clock from now on. Samples do not tell which
 * period they are of. Errors: those of cpu_timers_set_period(). */
int sample_source_set_period(struct sample_source *source, uint64_t period_ns) must_check;

/* Stops the timers; what was sampled before can still be polled. */
void sample_source_stop(struct sample_source *source);

/* Hands the consumer each sample that is waiting, up to a full buffer of them: samples that come
 * faster than they are handled cannot keep the caller busy for ever. Returns the number of
 * records. */
uint64_t sample_source_poll(struct sample_source *source, const struct sample_consumer *consumer);

/* Calls `handle` for each cgroup that was made or removed since the last call, up to a full
 * buffer of them. The path has its NUL; the record is valid during the call. The backend perf
 * reports a cgroup when it first sees it in a sample, before it hands the sample out, so this
 * may be called while a sample is handled; it reports no removals. */
void sample_source_poll_cgroups(struct sample_source *source,
				void (*handle)(const struct cgroup_event *event, void *data),
				void *data);

/* Sets which cgroups are sampled from now on: the verdict of a cgroup and those below it, and
 * the default of cgroups without one. At first everything is sampled. Errors: those of
 * verdict_slots_set(). */
int sample_source_set_cgroup(struct sample_source *source, uint64_t id, enum cgroup_verdict verdict)
	must_check;
void sample_source_forget_cgroup(struct sample_source *source, uint64_t id);
void sample_source_set_cgroup_default(struct sample_source *source, enum cgroup_verdict verdict);

/* Keeps the bindings of processes in the unwind memory true until the consumer binds them again.
 * Call it with each event, in the order of time. Under the backend bpf the kernel does this by
 * itself. */
void sample_source_follow_process(struct sample_source *source, const struct proc_event *event);

/* Call it when events were lost: bindings of processes may be wrong from then on. */
void sample_source_lose_events(struct sample_source *source);

/* Waits until a time (CLOCK_MONOTONIC), a signal, or a sample of a process that must be bound
 * now. Returns whether it was such a sample. */
bool sample_source_wait(struct sample_source *source, uint64_t until_ns);

/* Number of CPUs that are sampled now. */
uint32_t sample_source_nr_cpus(const struct sample_source *source);

/* The kernel's error for the last CPU that is online and wanted and cannot be sampled; 0 if there
 * is none. */
int sample_source_cpu_refusal(const struct sample_source *source);

/* From now on, a thread is sampled whenever it stops running, besides what the timers do; until
 * sample_source_close_thread(). Errors: -EOPNOTSUPP the backend cannot do that, -ESRCH, what
 * perf_event_open(2) says. */
int sample_source_open_thread(struct sample_source *source, uint32_t tid, void **ret_thread)
	must_check;
void sample_source_close_thread(struct sample_source *source, void *thread);

/* Returns whether a block has begun and not ended: its record RECORD_BLOCK_END may be lost. */
bool sample_source_has_block(const struct sample_source *source, uint32_t tid, uint32_t sequence);

/* Starts to count times of blocks. Records of all earlier time in run queues come at once; they do
 * not count. Returns the start, to tell them apart. */
uint64_t sample_source_start_blocks(struct sample_source *source);

/* From now on, allocations are sampled of all processes that map a file with such probes, if the
 * source was opened for that. Returns the number of probes; 0 if the file is known. Errors:
 * -EOPNOTSUPP the backend, or the kernel, cannot do that; those of heap_links_add(). */
int sample_source_attach_heap(struct sample_source *source, int fd,
			      const struct heap_probes *probes) must_check;

/* From now on, allocations of these processes are sampled by the calls of their allocators, if the
 * source was opened for that. To be called once; the targets are copied. Errors: -EOPNOTSUPP the
 * backend, or the kernel, cannot do that; those of heap_calls_start(). */
int sample_source_sample_calls(struct sample_source *source, const struct call_target *targets,
			       size_t nr) must_check;

/* Tells for how long each CPU was in interrupts since the last call, by kind. */
void sample_source_take_irq_times(struct sample_source *source, irq_time_fn handle, void *data);

/* Adds a target while the source runs. Errors: -ENOSPC, and those of bpf(2). */
int sample_source_add_pid(struct sample_source *source, uint32_t pid) must_check;

void sample_source_get_stats(const struct sample_source *source, struct capture_stats *ret_stats);

#endif
