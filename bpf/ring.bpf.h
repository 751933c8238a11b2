/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Sending records to the agent. */
#ifndef BPF_RING_BPF_H
#define BPF_RING_BPF_H

#include "bpf/maps.bpf.h"
#include "bpf/opts.bpf.h"

/* As bpf_ringbuf_output(). The ring buffer has a spin lock. If it is not free, the wait for it
 * comes to lock_end(), which must not wait for it again, nor use the scratch record from which this
 * record is copied. */
static __always_inline long output_record(void *record, __u64 bytes, __u64 flags)
{
	struct off_cpu_turn *turn = lock_is_followed ? get_turn() : NULL;
	__u32 was_unwinding;
	long r;

	if (!turn)
		return bpf_ringbuf_output(&samples, record, bytes, flags);
	was_unwinding = turn->is_unwinding;
	turn->is_unwinding = true;
	r = bpf_ringbuf_output(&samples, record, bytes, flags);
	turn->is_unwinding = was_unwinding;
	return r;
}

#endif
