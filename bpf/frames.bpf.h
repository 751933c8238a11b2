/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The user frames of a record under construction. */
#ifndef BPF_FRAMES_BPF_H
#define BPF_FRAMES_BPF_H

#include "bpf/maps.bpf.h"
#include "bpf/shared/runtime.h"
#include "bpf/unwind.bpf.h"

/* Appends the address of the frame that the unwinder has come to. Returns false if there is no room
 * for more frames. */
static __always_inline bool push_frame(struct scratch *scratch)
{
	struct sample_event *event = &scratch->event;
	struct unwind_state *state = &scratch->unwind;
	__u32 index = (__u32)event->nr_kernel + event->nr_user;

	if (state->nr_frames >= MAX_USER_FRAMES || event->nr_user >= MAX_USER_WORDS ||
	    index >= MAX_FRAMES)
		return false;
	event->frames[index] = state->ip;
	if (event->nr_user > 0 && !state->is_call)
		event->frames[index] |= FRAME_INTERRUPTED;
	event->nr_user++;
	state->nr_frames++;
	state->nr_native++;
	return true;
}

/* Removes the last frame, which is an address, and returns its word. */
static __always_inline __u64 drop_frame(struct scratch *scratch)
{
	struct sample_event *event = &scratch->event;
	__u32 index = (__u32)event->nr_kernel + event->nr_user - 1;

	if (event->nr_user == 0 || index >= MAX_FRAMES)
		return 0;
	event->nr_user--;
	scratch->unwind.nr_frames--;
	scratch->unwind.nr_native--;
	return event->frames[index];
}

/* Appends a word of a frame of a runtime. */
static __always_inline void push_word(struct sample_event *event, __u64 word)
{
	__u32 index = (__u32)event->nr_kernel + event->nr_user;

	if (event->nr_user >= MAX_USER_WORDS || index >= MAX_FRAMES)
		return;
	event->frames[index] = word;
	event->nr_user++;
}

/* Appends a frame that says why frames of a runtime are missing. */
static __always_inline void push_mark(struct scratch *scratch, enum runtime_mark mark)
{
	if (scratch->unwind.nr_frames >= MAX_USER_FRAMES)
		return;
	push_word(&scratch->event, RUNTIME_TAG(RUNTIME_FRAME_MARK, 0, mark));
	scratch->unwind.nr_frames++;
}

/* Replaces the last frame, which is an address, by a frame of a runtime with a tag and one word. */
static __always_inline void name_frame(struct scratch *scratch, __u64 tag, __u64 word)
{
	__u64 dropped = drop_frame(scratch);

	push_word(&scratch->event, tag | (dropped & FRAME_INTERRUPTED));
	push_word(&scratch->event, word);
	scratch->unwind.nr_frames++;
	scratch->unwind.nr_native = 0;
}

#endif
