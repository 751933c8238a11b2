/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* User stacks by frame pointers.
 *
 * Code built with -fno-omit-frame-pointer keeps a linked list on its stack. Each frame holds the caller's
 * frame pointer and, right above it, the return address:
 *
 *	fp ──▶ ┌──────────────┐
 *	       │ caller's fp  │──▶ ┌──────────────┐
 *	       │ return addr. │    │ …            │
 *	       └──────────────┘    └──────────────┘   towards higher addresses, until fp is 0
 *
 * x86-64 and arm64 lay it out alike. Code built without leaves anything in the register, so every step is
 * checked: the list must be aligned and go up. A stack that breaks off says why (enum unwind_result).
 *
 * sampler.bpf.c knows only unwind_user(): registers in, frames and a result out. */
#ifndef BPF_UNWIND_BPF_H
#define BPF_UNWIND_BPF_H

#include "bpf/arch.bpf.h"
#include "bpf/shared/events.h"
#include "bpf/shared/frames.h"

struct fp_frame {
	__u64 caller_fp;
	__u64 return_address;
};

/* Appends a user frame; false when there is no room. */
static __always_inline bool push_user_frame(struct sample_event *event, __u64 address)
{
	__u32 index = (__u32)event->nr_kernel + event->nr_user;

	if (event->nr_user >= MAX_USER_FRAMES || index >= MAX_FRAMES)
		return false;
	event->frames[index] = address;
	event->nr_user++;
	return true;
}

/* Steps from *fp to the caller's frame. UNWIND_COMPLETE: there is none, the root was reached. */
static __always_inline enum unwind_result step(struct sample_event *event, __u64 *fp,
					       bool *ret_done)
{
	struct fp_frame frame;

	*ret_done = true;
	if (*fp == 0)
		return UNWIND_COMPLETE;
	if (*fp & 7 || *fp > USER_ADDRESS_MAX)
		return UNWIND_BAD_FRAME_POINTER;
	if (bpf_probe_read_user(&frame, sizeof(frame), (const void *)*fp) < 0)
		return UNWIND_UNREADABLE_STACK;
	if (frame.return_address == 0)
		return UNWIND_COMPLETE;
	if (frame.return_address > USER_ADDRESS_MAX)
		return UNWIND_BAD_RETURN_ADDRESS;
	if (!push_user_frame(event, frame.return_address))
		return UNWIND_TOO_DEEP;
	if (frame.caller_fp != 0 && frame.caller_fp <= *fp)
		return UNWIND_BAD_FRAME_POINTER;
	*fp = frame.caller_fp;
	*ret_done = false;
	return UNWIND_COMPLETE;
}

/* Appends the user frames of a stack, leaf first. */
static __always_inline enum unwind_result unwind_user(const struct user_regs *regs,
						      struct sample_event *event)
{
	__u64 fp = regs->fp;
	bool done;

	if (!push_user_frame(event, regs->ip))
		return UNWIND_TOO_DEEP;
	if (fp < regs->sp)
		return fp == 0 ? UNWIND_COMPLETE : UNWIND_BAD_FRAME_POINTER;
	for (int i = 0; i < MAX_USER_FRAMES; i++) {
		enum unwind_result result = step(event, &fp, &done);

		if (done)
			return result;
	}
	return UNWIND_TOO_DEEP;
}

#endif
