/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Frames of language runtimes: what unwind_native.bpf.c asks of runtime_*.bpf.c. All functions work
 * on this CPU's scratch record. */
#ifndef BPF_RUNTIME_BPF_H
#define BPF_RUNTIME_BPF_H

#include "bpf/shared/runtime.h"

#include <stdbool.h>

#define PYTHON_SEGMENT_MAX_FRAMES 1024
#define PYTHON_SEGMENT_MAX_WORDS (2 * PYTHON_SEGMENT_MAX_FRAMES)
#define PYTHON_FRAME_MAX_WORDS 16

enum python_state {
	PYTHON_NOT_MET, /* no frame was in a file with a layout */
	PYTHON_FOLLOWED, /* the chain of this thread is being followed */
	PYTHON_OVER, /* all of it was, or there is none */
	PYTHON_TOO_DEEP, /* the stack has no room for the rest of it */
	PYTHON_UNREADABLE,
};

/* The chain of a thread's Python frames, leaf first, on the way to the root. It is read one segment
 * ahead: the frames of the next call of the eval loop that the native stack will come to. */
struct python_chain {
	struct cpython_layout layout;
	__u64 runtime; /* address of _PyRuntime; 0: not known of this process */
	__u64 frame; /* the next one to be read; 0: the segment is the last one */
	__u64 cframe; /* CPYTHON_CHAIN_BY_CFRAME: of this segment */
	__u64 boundary; /* an address on the stack, in the native frame of the eval loop */
	__u32 nr_words; /* of this segment */
	bool is_doubtful; /* the thread may run in another interpreter */
	__u64 raw[PYTHON_FRAME_MAX_WORDS]; /* a frame as it was read */
	__u64 words[PYTHON_SEGMENT_MAX_WORDS];
};

/* A frame that no runtime can step over: no enum unwind_result. */
#define RUNTIME_ELSEWHERE (-2)

#define HOTSPOT_RAW_WORDS 16
#define HOTSPOT_STACK_WORDS 16

/* A frame in the code caches of a HotSpot JVM. */
struct hotspot_frame {
	__u32 mapping_table_id; /* whose descriptor the next four are of; 0: nobody's */
	__s32 frame_size; /* of the blob, in words */
	struct runtime_code heaps[RUNTIME_MAX_CODE];
	__u64 call_stub; /* a return address */
	struct hotspot_layout layout;
	__u64 blob; /* address of the CodeBlob */
	__u64 code; /* address of its code */
	__u64 name; /* address of its name */
	__u64 name_start; /* the name's first bytes */
	__s32 frame_complete; /* where its prologue ends, from `code` on; negative: nowhere */
	__u64 raw[HOTSPOT_RAW_WORDS]; /* the blob as it was read */
	__u64 stack[HOTSPOT_STACK_WORDS]; /* words of the stack */
};

/* Steps from a frame in a code cache of the process's JVM to its caller's, and gives the frame its
 * words. Returns GOES_ON, an enum unwind_result, or RUNTIME_ELSEWHERE: the frame is not there, or
 * no step is known. */
int hotspot_step(void);

/* Does the same for code that V8 made, and for its builtins. The range of the frame was just looked
 * up. */
int v8_step(void);

/* To be called for a frame of a young process: copies its code object for the agent if that is new
 * (code_copy.bpf.c). */
int python_copy_code(__u64 code, __u32 check);

/* Begins with the chain of the thread, by the layout at `offset` from a unit of the arena. */
int python_begin(__u32 unit, __u32 offset);

/* To be called when the native frame between the stack pointers `sp` and that of its caller is
 * done, and before its caller is appended: if the frame is an eval loop's, puts the frames of its
 * segment in its place. `offset` is that of the frame's code in the file with the eval loop; 0 in
 * other files. */
int python_splice(__u64 sp, __u64 offset);

/* Appends the segment that was read, when it is too long to know where it ends. */
int python_cut(void);

/* Appends what is left of the chain when the native stack has ended. If it ended at its root, these
 * frames belong to another stack (that of a greenlet), and a mark says so. */
int python_end(int is_complete);

#endif
