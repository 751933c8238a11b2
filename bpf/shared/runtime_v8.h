/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The values of a V8 that the unwinder needs. Offsets are in bytes from the start of an object,
 * that is, from one byte below a pointer to it: pointers to objects have their lowest bit set. The
 * sources are V8's src/execution/frame-constants.h and src/objects/shared-function-info.tq. */
#ifndef BPF_SHARED_RUNTIME_V8_H
#define BPF_SHARED_RUNTIME_V8_H

#include <linux/types.h>

/* The words of a frame, by their distance from where rbp points. All code that V8 makes has such
 * frames. */
enum v8_frame_slot {
	V8_FRAME_BYTECODE_OFFSET = -5, /* small integer; counts from the tagged BytecodeArray */
	V8_FRAME_BYTECODE_ARRAY = -4, /* in a frame of the interpreter */
	V8_FRAME_FUNCTION = -2, /* JSFunction */
	V8_FRAME_CONTEXT = -1, /* or, in frames that are no function's, a marker: type << 1 */
};

#define V8_OBJECT_TAG 1
#define V8_SMI_SHIFT 32
#define V8_UNKNOWN_TYPE 0xffff /* in the place of an instance type */

/* Markers of frames by which C++ calls generated code; the same in all versions. */
#define V8_MARKER_ENTRY (1 << 1)
#define V8_MARKER_CONSTRUCT_ENTRY (2 << 1)

struct v8_layout {
	__u8 kind; /* RUNTIME_V8 */
	__u8 is_compressed; /* pointers to objects have four bytes */
	__u16 map_type; /* Map.instance_type */
	__u16 function_shared; /* JSFunction.shared_function_info */
	__u16 shared_type; /* the instance types of a SharedFunctionInfo and a BytecodeArray */
	__u16 bytecode_type;
	__u16 shared_check; /* SharedFunctionInfo.length: V8_CHECK_WORDS from here make the check */
	/* V8's own functions, which have no CFI: offsets in the file. 0, 0: not known. */
	__u32 builtins_start;
	__u32 builtins_end;
	__u16 bytecode_length; /* BytecodeArray.length, a small integer */
	/* Of the address of the cage that has compiled code's data, from the root register on; 0:
	 * there is none. */
	__u16 trusted_cage;
	__u8 is_marked; /* functions cannot be named, and are marked */
	__u8 unused[39];
};

#define V8_CHECK_WORDS 2

/* Returns the bytes of which the check of a tag is made: the numbers of parameters, the offset of
 * the function's token and the number of the function in its script. The fields between them change
 * while the program runs. */
static inline __u64 v8_check_bytes(__u64 first, __u64 second)
{
	return (first & 0xffffffffffffULL) ^ (second & ~0xffffffffULL);
}

_Static_assert(sizeof(struct v8_layout) == 64, "no hidden padding");

#endif
