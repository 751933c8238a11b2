/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The values of a CPython that the unwinder needs, to find a thread's state and follow the list of
 * its frames. Offsets are in bytes. The names of fields are CPython's; the sources are
 * Include/cpython/pystate.h, Include/internal/pycore_frame.h (pycore_interpframe_structs.h since
 * 3.14) and Include/internal/pycore_debug_offsets.h (pycore_runtime.h in 3.13). */
#ifndef BPF_SHARED_RUNTIME_CPYTHON_H
#define BPF_SHARED_RUNTIME_CPYTHON_H

#include <linux/types.h>

/* The ways to find the native frame that belongs to a *segment* of the chain: the frames of one
 * call of the eval loop. */
enum cpython_chain {
	/* Up to 3.10: each frame is a call of the eval loop, which is known by its code. */
	CPYTHON_CHAIN_BY_CODE,
	/* 3.11: a segment is in a _PyCFrame on the native stack, and ends with the frame that has
	 * is_entry. */
	CPYTHON_CHAIN_BY_CFRAME,
	/* From 3.12 on: a segment ends with a frame that lies on the native stack, the shim. 3.12
	 * has the first frame in a _PyCFrame, later versions in the thread state. */
	CPYTHON_CHAIN_BY_SHIM,
};

/* Forms of the instruction pointer of a frame. */
enum cpython_instr {
	CPYTHON_INSTR_BYTES, /* i32: bytes from the start of the bytecode (f_lasti) */
	CPYTHON_INSTR_UNITS, /* i32: the same in code units */
	CPYTHON_INSTR_POINTER, /* a pointer into the bytecode, which follows the code object */
};

/* Words of a runtime_process. */
enum cpython_word {
	CPYTHON_WORD_RUNTIME, /* address of _PyRuntime */
	CPYTHON_NR_WORDS,
};

#define CPYTHON_MAX_PLACE 3
#define CPYTHON_NONE 0xffff /* this version has no such field */

struct cpython_layout {
	__u8 kind; /* RUNTIME_CPYTHON */
	__u8 chain; /* enum cpython_chain */
	__u8 instr_kind; /* enum cpython_instr */
	__u8 shim_owner; /* frames with at least this owner are shims */
	/* The function above the eval loop's is a bytecode handler and part of it: a tail-calling
	 * build. */
	__u8 drops_handler;
	__u8 nr_place; /* 1 to CPYTHON_MAX_PLACE */
	__u16 cframe; /* PyThreadState.cframe, from 3.10 to 3.12; CPYTHON_NONE */
	/* The thread state is found from what pthread_self() returns: for each i below nr_place,
	 * add place[i] and load a word from there. */
	__s32 place[CPYTHON_MAX_PLACE];
	__u16 frame; /* PyThreadState.frame or .current_frame; in _PyCFrame if there is one */
	union {
		__u16 cframe_previous; /* CPYTHON_CHAIN_BY_CFRAME: _PyCFrame.previous */
		/* CPYTHON_CHAIN_BY_CODE: _PyRuntime.interpreters.head; .main is behind it. */
		__u16 interpreters;
	};
	__u16 thread_id; /* PyThreadState.thread_id, which pthread_self() returned */
	__u8 code; /* PyFrameObject.f_code, _PyInterpreterFrame.f_executable */
	__u8 previous;
	__u8 instr; /* f_lasti, prev_instr, instr_ptr */
	__u8 owner; /* or is_entry */
	/* The parts of a code object that are copied (code_copy.h), as offsets in it; 0: code
	 * objects of this version are not copied. */
	__u8 filename; /* PyCodeObject.co_filename */
	__u8 name; /* co_qualname; up to 3.10, co_name */
	__u8 lines; /* co_linetable, co_lnotab */
	__u8 bytes_size; /* PyBytesObject.ob_size */
	__u16 check; /* PyCodeObject.co_firstlineno: RUNTIME_CHECK_WORDS from here make the check */
	__u16 bytecode; /* PyCodeObject.co_code_adaptive */
	/* The part of a frame that is read at once, from `code` to `owner`; at most 120. */
	__u8 frame_bytes;
	/* PyThreadState.interp, from which PyInterpreterState.runtime leads to _PyRuntime; 0: this
	 * version has no such field, and the process's words say where _PyRuntime is. */
	__u8 interpreter;
	/* Code of the eval loop, for CPYTHON_CHAIN_BY_CODE: offsets in the file, start and end of
	 * up to two ranges. */
	__u32 eval[4];
	/* The thread pointer less this is what pthread_self() returns: arm64 has the C library's
	 * record of a thread below it, x86-64 at it (0). */
	__u32 block_bytes;
	__u16 runtime; /* PyInterpreterState.runtime */
	__u16 current; /* _PyRuntime.gilstate.tstate_current; 0: this version has none */
};

_Static_assert(sizeof(struct cpython_layout) == 64, "no hidden padding");

#endif
