/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The contract for frames of language runtimes (CPython, HotSpot, V8): the words in a record that
 * stand for such a frame, and the structures by which the unwinder knows a runtime.
 *
 * A frame of a runtime is a tag, followed by as many words as its kind has:
 *
 *	bits 63, 62	FRAME_INTERRUPTED, FRAME_ENTERED, as in an address
 *	bits 61 to 56	enum runtime_frame; 0 in every address
 *	bits 55 to 40	a check of the object that the frame names, which the agent computes again
 *	bits 39 to 0	the position in that object
 *
 * A *layout* (struct runtime_layout) says where a runtime keeps what is needed to unwind its
 * frames. If it is the same in all processes that map a file, it is a block of its own in the
 * arena, to which the file's slot refers. A *descriptor* (struct runtime_descriptor) adds what is
 * particular to a process. It follows the ranges of the process's mapping table, so it is inherited
 * by fork and dropped by exec as that is. */
#ifndef BPF_SHARED_RUNTIME_H
#define BPF_SHARED_RUNTIME_H

#include "bpf/shared/runtime_cpython.h"
#include "bpf/shared/runtime_hotspot.h"
#include "bpf/shared/runtime_v8.h"

#include <linux/types.h>

/* X(NAME, name) */
#define RUNTIME_KINDS(X)                                                                           \
	X(CPYTHON, cpython)                                                                        \
	X(HOTSPOT, hotspot)                                                                        \
	X(V8, v8)

enum runtime_kind {
	RUNTIME_NONE,
#define X(NAME, name) RUNTIME_##NAME,
	RUNTIME_KINDS(X)
#undef X
		RUNTIME_NR_KINDS,
};

/* X(NAME, nr_words): the words behind the tag */
#define RUNTIME_FRAMES(X)                                                                          \
	/* position: code units from the start of the bytecode; word: the code object */           \
	X(CPYTHON, 1)                                                                              \
	/* position: bytecode index; word: the Method */                                           \
	X(JVM_INTERPRETED, 1)                                                                      \
	/* position: bytes from the start of the code; word: the nmethod or other CodeBlob */      \
	X(JVM_COMPILED, 1)                                                                         \
	/* position: offset in the bytecode; word: the SharedFunctionInfo */                       \
	X(V8_BYTECODE, 1)                                                                          \
	/* the same of compressed pointers; words: the BytecodeArray, the SharedFunctionInfo */    \
	X(V8_ARRAY, 2)                                                                             \
	/* words: the return address, or the interrupted one + 1; the SharedFunctionInfo */        \
	/* position: of compressed pointers, the upper half of the trusted cage's address */       \
	X(V8_CODE, 2)                                                                              \
	/* position: enum runtime_mark */                                                          \
	X(MARK, 0)

enum runtime_frame {
	RUNTIME_FRAME_ADDRESS,
#define X(NAME, nr_words) RUNTIME_FRAME_##NAME,
	RUNTIME_FRAMES(X)
#undef X
		RUNTIME_NR_FRAMES,
};

/* Frames that stand for others which are missing, and say why. X(NAME, words) */
#define RUNTIME_MARKS(X)                                                                           \
	X(PYTHON_UNREADABLE, "Python frames unreadable")                                           \
	X(PYTHON_APART, "Python frames of another stack")                                          \
	X(CONTINUATION, "continuation")                                                            \
	X(V8_COMPRESSED, "JavaScript with compressed pointers")

enum runtime_mark {
#define X(NAME, words) RUNTIME_MARK_##NAME,
	RUNTIME_MARKS(X)
#undef X
		RUNTIME_NR_MARKS,
};

#define RUNTIME_TAG_SHIFT 56
#define RUNTIME_CHECK_SHIFT 40
#define RUNTIME_POSITION_MASK ((1ULL << RUNTIME_CHECK_SHIFT) - 1)
#define RUNTIME_TAG(frame, check, position)                                                        \
	((__u64)(frame) << RUNTIME_TAG_SHIFT | (__u64)(__u16)(check) << RUNTIME_CHECK_SHIFT |      \
	 ((position)&RUNTIME_POSITION_MASK))
#define RUNTIME_TAG_FRAME(word) ((__u32)((word) >> RUNTIME_TAG_SHIFT) & 0x3f)
#define RUNTIME_TAG_CHECK(word) ((__u16)((word) >> RUNTIME_CHECK_SHIFT))
#define RUNTIME_TAG_POSITION(word) ((word)&RUNTIME_POSITION_MASK)

#define RUNTIME_MAX_WORDS 3 /* of a frame, with its tag */

/* Returns the number of words of a frame that begins with this word; 0 for an unknown kind. */
static inline __u32 runtime_nr_words(__u64 word)
{
	static const __u8 words[] = { 1, /* an address */
#define X(NAME, nr_words) 1 + (nr_words),
				      RUNTIME_FRAMES(X)
#undef X
	};
	__u32 frame = RUNTIME_TAG_FRAME(word);

	return frame < sizeof(words) ? words[frame] : 0;
}

/* Folds eight bytes of an object to the check of a tag. */
static inline __u16 runtime_check(__u64 bytes)
{
	bytes ^= bytes >> 32;
	return (__u16)(bytes ^ bytes >> 16);
}

#define RUNTIME_CHECK_WORDS 8

/* Folds RUNTIME_CHECK_WORDS words. An object that took the place of a similar one has other
 * pointers, so more bytes than eight are needed to notice it. */
static inline __u16 runtime_check_words(const __u64 *words)
{
	__u64 sum = 0;

	for (int i = 0; i < RUNTIME_CHECK_WORDS; i++)
		sum = (sum ^ words[i]) * 0x9e3779b97f4a7c15ULL;
	return runtime_check(sum);
}

#define RUNTIME_LAYOUT_BYTES 64

struct runtime_layout {
	union {
		__u8 kind; /* enum runtime_kind; also the first member of the others */
		struct cpython_layout cpython;
		struct hotspot_layout hotspot;
		struct v8_layout v8;
		__u8 bytes[RUNTIME_LAYOUT_BYTES];
	};
};

#define RUNTIME_MAX_OF_PROCESS 2

/* The code that a runtime made: a range of addresses, and where the runtime keeps the map of it. */
struct runtime_code {
	__u64 start;
	__u64 end; /* equal to start: no range */
	__u64 data; /* HotSpot: the segment map of the code heap */
	__u64 pad;
};

#define RUNTIME_MAX_CODE 4

/* Returns the slot of a descriptor's file by the descriptor's first eight bytes. */
#define RUNTIME_SLOT(head) ((__u32)((head) >> 32))

struct runtime_process {
	__u8 kind; /* enum runtime_kind */
	__u8 pad[3];
	__u32 slot; /* of the runtime's file */
	__u64 words[7]; /* by kind */
	struct runtime_code code[RUNTIME_MAX_CODE];
};

struct runtime_descriptor {
	struct runtime_process process;
	struct runtime_layout layout;
};

_Static_assert(sizeof(struct runtime_layout) == RUNTIME_LAYOUT_BYTES, "read at once");
_Static_assert(sizeof(struct runtime_code) == 32, "read at once");
_Static_assert(sizeof(struct runtime_process) == 192, "three units of the arena");
_Static_assert(sizeof(struct runtime_descriptor) == 256, "no hidden padding");

#endif
