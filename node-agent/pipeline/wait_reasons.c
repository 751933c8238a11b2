/* SPDX-License-Identifier: Apache-2.0 */
/* The frame that is nearest to the leaf and has a reason decides, with one exception: waits for
 * disks are page faults if a page fault is further out. */
#include "pipeline/wait_reasons.h"

#include "base/cleanup.h"
#include "bpf/shared/off_cpu.h"

#include <stdbool.h>

static const struct kernel_name functions[] = {
	{ "__percpu_down_read", REASON_KERNEL_LOCK },
	{ "__mutex_lock*", REASON_KERNEL_LOCK },
	{ "__ww_mutex_lock*", REASON_KERNEL_LOCK },
	{ "__down", REASON_KERNEL_LOCK },
	{ "__down_*", REASON_KERNEL_LOCK },
	{ "percpu_down_write", REASON_KERNEL_LOCK },
	{ "percpu_rwsem_wait", REASON_KERNEL_LOCK },
	{ "rt_mutex_slowlock*", REASON_KERNEL_LOCK },
	{ "rwsem_down_*", REASON_KERNEL_LOCK },
	{ "synchronize_rcu*", REASON_KERNEL_LOCK },
	{ "synchronize_srcu*", REASON_KERNEL_LOCK },

	{ "__folio_lock*", REASON_DISK },
	{ "__lock_page*", REASON_DISK },
	{ "__wait_on_buffer", REASON_DISK },
	{ "balance_dirty_pages*", REASON_DISK },
	{ "blk_mq_get_tag", REASON_DISK },
	{ "folio_wait_bit*", REASON_DISK },
	{ "folio_wait_writeback*", REASON_DISK },
	{ "jbd2_log_wait_commit", REASON_DISK },
	{ "rq_qos_wait", REASON_DISK },
	{ "submit_bio_wait", REASON_DISK },
	{ "wait_on_page_bit*", REASON_DISK },
	{ "wait_on_page_writeback", REASON_DISK },

	{ "do_page_fault", REASON_PAGE_FAULT },
	{ "do_user_addr_fault", REASON_PAGE_FAULT },
	{ "exc_page_fault", REASON_PAGE_FAULT },
	{ "handle_mm_fault", REASON_PAGE_FAULT },

	{ "mem_cgroup_handle_over_high", REASON_RECLAIM },
	{ "__mem_cgroup_handle_over_high", REASON_RECLAIM },
	{ "reclaim_throttle", REASON_RECLAIM },
	{ "shrink_lruvec", REASON_RECLAIM },
	{ "shrink_node", REASON_RECLAIM },
	{ "shrink_slab", REASON_RECLAIM },
	{ "throttle_direct_reclaim", REASON_RECLAIM },
	{ "try_to_free_pages", REASON_RECLAIM },

	{ "__inet_stream_connect", REASON_NETWORK },
	{ "__skb_wait_for_more_packets", REASON_NETWORK },
	{ "inet_csk_accept", REASON_NETWORK },
	{ "inet_csk_wait_for_connect", REASON_NETWORK },
	{ "inet_wait_for_connect", REASON_NETWORK },
	{ "rpc_wait_bit_killable", REASON_NETWORK },
	{ "sk_stream_wait_*", REASON_NETWORK },
	{ "sk_wait_data", REASON_NETWORK },
	{ "sock_alloc_send_pskb", REASON_NETWORK },
	{ "tcp_recvmsg*", REASON_NETWORK },
	{ "unix_accept", REASON_NETWORK },
	{ "unix_stream_connect", REASON_NETWORK },
	{ "unix_stream_data_wait", REASON_NETWORK },
	{ "unix_stream_read_generic", REASON_NETWORK },
	{ "unix_wait_for_peer", REASON_NETWORK },
	{ "vsock_*recvmsg", REASON_NETWORK },

	{ "anon_pipe_read", REASON_PIPE },
	{ "anon_pipe_write", REASON_PIPE },
	{ "eventfd_read", REASON_PIPE },
	{ "fifo_open", REASON_PIPE },
	{ "n_tty_read", REASON_PIPE },
	{ "n_tty_write", REASON_PIPE },
	{ "pipe_read", REASON_PIPE },
	{ "pipe_wait*", REASON_PIPE },
	{ "pipe_write", REASON_PIPE },
	{ "tty_wait_until_sent", REASON_PIPE },

	{ "do_epoll_wait", REASON_POLL },
	{ "do_poll", REASON_POLL },
	{ "do_select", REASON_POLL },
	{ "do_sys_poll", REASON_POLL },
	{ "ep_poll", REASON_POLL },
	{ "inotify_read", REASON_POLL },
	{ "io_cqring_wait*", REASON_POLL },
	{ "poll_schedule_timeout*", REASON_POLL },

	{ "do_futex", REASON_FUTEX },
	{ "futex_do_wait", REASON_FUTEX },
	{ "futex_lock_pi", REASON_FUTEX },
	{ "futex_wait*", REASON_FUTEX },

	{ "do_nanosleep", REASON_SLEEP },
	{ "hrtimer_nanosleep", REASON_SLEEP },
	{ "msleep*", REASON_SLEEP },
	{ "timerfd_read", REASON_SLEEP },
	{ "usleep_range*", REASON_SLEEP },

	{ "do_wait", REASON_CHILD },
	{ "kernel_clone", REASON_CHILD },

	{ "__arm64_sys_pause", REASON_SIGNAL },
	{ "__do_sys_pause", REASON_SIGNAL },
	{ "__refrigerator", REASON_SIGNAL },
	{ "do_freezer_trap", REASON_SIGNAL },
	{ "do_signal_stop", REASON_SIGNAL },
	{ "do_sigtimedwait", REASON_SIGNAL },
	{ "ptrace_stop", REASON_SIGNAL },
	{ "signalfd_read*", REASON_SIGNAL },
	{ "sigsuspend", REASON_SIGNAL },
	{ "__x64_sys_pause", REASON_SIGNAL },

	{ "process_one_work", REASON_OTHER }, /* what a worker of the kernel does */
	{ "io_wq_worker", REASON_IDLE },
	{ "kthread", REASON_IDLE },
};

void wait_reasons_init(struct kernel_ranges *reasons, const struct kernel_symbols *symbols)
{
	kernel_ranges_init(reasons, symbols, functions, array_len(functions));
}

enum wait_reason wait_reasons_of(const struct kernel_ranges *reasons,
				 const struct sample_event *event, size_t nr_skipped)
{
	bool is_disk = event->wait_flags & WAIT_FLAG_IO;

	if (event->wait_flags & WAIT_FLAG_THROTTLED)
		return REASON_THROTTLED;
	if (event->wait_flags & WAIT_FLAG_PREEMPTED)
		return REASON_PREEMPTED;
	for (size_t i = nr_skipped; i < event->nr_kernel; i++) {
		enum wait_reason reason = kernel_ranges_find(reasons, event->frames[i]);

		if (reason == REASON_DISK)
			is_disk = true;
		else if (reason == REASON_PAGE_FAULT || (reason != REASON_NONE && !is_disk))
			return reason;
	}
	return is_disk ? REASON_DISK : REASON_OTHER;
}
