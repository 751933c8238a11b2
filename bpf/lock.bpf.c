/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Waits for locks of the kernel: shared/lock.h.
 *
 * Attach points: BTF tracepoints contention_begin(lock, flags) and contention_end(lock, ret), since
 * Linux 5.19, on the way through a lock that is not free. Both may come in any context: a thread
 * that waits for a mutex may be interrupted, and so may these programs; a spin lock may belong to
 * an interrupt, to the scheduler, or to the ring buffer into which a BPF program writes.
 * Maps: lock_spins and lock_waits; for chosen waits those of the sampler.
 *
 * A thread waits for one lock that lets it sleep, but it may be interrupted meanwhile. A CPU waits
 * for one spin lock in each context. So the former are kept by thread, the latter by CPU, each one
 * in front of those that it interrupted. A mutex begins twice if it spins first and sleeps then:
 * the first time counts. */
#include "bpf/filter.bpf.h"
#include "bpf/maps.bpf.h"
#include "bpf/opts.bpf.h"
#include "bpf/sample.bpf.h"
#include "bpf/threshold.bpf.h"

#define LOCK_BURST 16
#define LOCK_BURST_NS (100 * 1000 * 1000ULL)
#define LOCK_MAX_SHIFT 20

static __always_inline bool is_spin_lock(__u32 flags)
{
	return (flags & (LOCK_FLAG_SPIN | LOCK_FLAG_MUTEX)) == LOCK_FLAG_SPIN;
}

static __always_inline struct lock_spins *get_spins(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&lock_spins, &zero);
}

static __always_inline struct lock_wait *wait_of_thread(__u32 tid)
{
	__u32 index = tid & (LOCK_SLOTS - 1);

	return bpf_map_lookup_elem(&lock_waits, &index);
}

/* Waits whose end was not seen make the stack of them full. Then it begins anew. */
static __always_inline void begin_spin(const struct lock_wait *wait)
{
	struct lock_spins *spins = get_spins();
	__u32 nr;

	if (!spins)
		return;
	nr = spins->nr < LOCK_SPINS ? spins->nr : 0;
	spins->waits[nr & (LOCK_SPINS - 1)] = *wait;
	spins->nr = nr + 1;
}

static __always_inline void begin_sleep(const struct lock_wait *wait)
{
	struct lock_wait *known = wait_of_thread(wait->tid);

	if (known && (known->lock != wait->lock || known->tid != wait->tid))
		*known = *wait;
}

SEC("tp_btf/contention_begin")
int BPF_PROG(lock_begin, void *lock, unsigned int flags)
{
	const struct lock_wait wait = {
		.lock = (__u64)lock,
		.begin_ns = bpf_ktime_get_ns(),
		.tid = (__u32)bpf_get_current_pid_tgid(),
		.flags = flags & LOCK_KERNEL_FLAGS,
	};

	(void)ctx;
	if (is_spin_lock(flags))
		begin_spin(&wait);
	else
		begin_sleep(&wait);
	return 0;
}

/* Takes the wait for a spin lock, and forgets those that began in it and did not end. */
static __always_inline bool end_spin(__u64 lock, struct lock_wait *ret_wait)
{
	struct lock_spins *spins = get_spins();

	if (!spins)
		return false;
	for (int i = LOCK_SPINS - 1; i >= 0; i--)
		if ((__u32)i < spins->nr && spins->waits[i].lock == lock) {
			*ret_wait = spins->waits[i];
			spins->nr = i;
			return true;
		}
	return false;
}

static __always_inline bool end_sleep(__u64 lock, struct lock_wait *ret_wait)
{
	__u32 tid = (__u32)bpf_get_current_pid_tgid();
	struct lock_wait *wait = wait_of_thread(tid);

	if (!wait || wait->lock != lock || wait->tid != tid)
		return false;
	*ret_wait = *wait;
	wait->lock = 0;
	return true;
}

/* Returns the present threshold of this CPU. It is twice as high after each LOCK_BURST waits that
 * were chosen within LOCK_BURST_NS, so that a lock that becomes busy at once does not fill the ring
 * buffer before the agent raises the threshold. */
static __always_inline __u64 present_threshold(struct lock_spins *spins, __u64 now_ns)
{
	__u32 nr_bursts;

	if (now_ns - spins->burst_ns > LOCK_BURST_NS) {
		spins->burst_ns = now_ns;
		spins->nr_chosen = 0;
	}
	nr_bursts = spins->nr_chosen / LOCK_BURST;
	return lock_threshold_ns << (nr_bursts < LOCK_MAX_SHIFT ? nr_bursts : LOCK_MAX_SHIFT);
}

/* Returns the bits that say which lock of the task it is. */
static __always_inline __u8 name_lock(struct task_struct *task, __u64 lock)
{
	__u64 mm = (__u64)READ_KERNEL(task->mm), sighand = (__u64)READ_KERNEL(task->sighand);

	if (mm != 0 && lock == mm + bpf_core_field_offset(struct mm_struct, mmap_lock))
		return LOCK_IS_MMAP;
	if (lock == sighand + bpf_core_field_offset(struct sighand_struct, siglock))
		return LOCK_IS_SIGHAND;
	return 0;
}

static __always_inline void send_wait(void *ctx, const struct lock_wait *wait, __u64 now_ns,
				      __u32 probability)
{
	struct task_struct *task = current_task();
	struct scratch *scratch = get_scratch();
	struct sample_event *event;

	if (!scratch || !cgroup_is_wanted(task))
		return;
	event = &scratch->event;
	read_task(task, event);
	if (!sample_is_wanted(event))
		return;
	event->kind = RECORD_LOCK;
	event->time_ns = now_ns;
	event->length_ns = now_ns - wait->begin_ns;
	event->probability = probability;
	event->lock = wait->lock;
	event->lock_flags = (__u8)wait->flags | name_lock(task, wait->lock);
	read_stacks(ctx, task, scratch);
	stat_add(output_event(event, scratch->unwind.asks || must_be_read_soon(scratch)) < 0
			 ? STAT_BLOCK_LOST
			 : STAT_BLOCK_SENT);
}

/* Where another program uses this CPU's scratch record, it was interrupted, or waits for the ring
 * buffer's lock itself. */
static __always_inline void choose_wait(void *ctx, const struct lock_wait *wait, __u64 now_ns)
{
	struct off_cpu_turn *turn = get_turn();
	struct lock_spins *spins = get_spins();
	__u32 probability;

	if (!turn || !spins || now_ns - wait->begin_ns < off_cpu_min_ns)
		return;
	probability = share_of_threshold(now_ns - wait->begin_ns, present_threshold(spins, now_ns));
	if (bpf_get_prandom_u32() > probability)
		return;
	spins->nr_chosen++;
	if (turn->is_unwinding) {
		stat_add(STAT_BLOCK_LOST);
		return;
	}
	turn->is_unwinding = true;
	send_wait(ctx, wait, now_ns, probability);
	turn->is_unwinding = false;
}

SEC("tp_btf/contention_end")
int BPF_PROG(lock_end, void *lock, int ret)
{
	struct lock_wait wait;

	(void)ret;
	if (end_spin((__u64)lock, &wait) || end_sleep((__u64)lock, &wait))
		choose_wait(ctx, &wait, bpf_ktime_get_ns());
	return 0;
}
