/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The values of a HotSpot JVM that the unwinder needs. Offsets are in bytes. The names of fields
 * are HotSpot's; the sources are src/hotspot/share/code/codeBlob.hpp, nmethod.hpp
 * (compiledMethod.hpp from 9 to 22), memory/heap.hpp and oops/constMethod.hpp. */
#ifndef BPF_SHARED_RUNTIME_HOTSPOT_H
#define BPF_SHARED_RUNTIME_HOTSPOT_H

#include <linux/types.h>

/* The code caches of a process are in runtime_process.code, and their segment maps in `data`. Its
 * words: */
enum hotspot_word {
	HOTSPOT_WORD_CALL_STUB, /* StubRoutines::_call_stub_return_address */
	HOTSPOT_NR_WORDS,
};

#define HOTSPOT_NONE 0xffff /* this version has no such field */

struct hotspot_layout {
	__u8 kind; /* RUNTIME_HOTSPOT */
	__u8 log2_segment; /* a byte of the segment map stands for so much code */
	__u8 is_code_pointer; /* `code` is that of a pointer, else of an i32 from the blob */
	__u8 frame_complete_bytes; /* 2 or 4 */
	__u8 is_deopt_pointer; /* `deopt` is that of a pointer, else of an i32 from the blob */
	__u8 bcp; /* of an interpreted frame: words from the frame pointer down */
	__u16 heap_block; /* sizeof(HeapBlock), which is before each blob */
	__u16 name; /* CodeBlob._name */
	__u16 code; /* CodeBlob._code_begin or ._code_offset */
	__u16 frame_size; /* CodeBlob._frame_size, in words */
	__u16 frame_complete; /* CodeBlob._frame_complete_offset */
	__u16 compile_id; /* nmethod._compile_id */
	__u16 deopt; /* CompiledMethod._deopt_handler_begin and its like; HOTSPOT_NONE */
	__u16 orig_pc; /* nmethod._orig_pc_offset */
	__u16 const_method; /* Method._constMethod */
	__u16 const_method_bytes; /* sizeof(ConstMethod), which is before the bytecodes */
	__u16 code_size; /* ConstMethod._code_size */
	__u16 continuation; /* JavaThread._cont_entry; HOTSPOT_NONE */
	__u16 continuation_bytes; /* ContinuationEntry::size(); the frame record is behind it */
	__u8 unused[32];
};

_Static_assert(sizeof(struct hotspot_layout) == 64, "no hidden padding");

#endif
