/* SPDX-License-Identifier: Apache-2.0 */
/* The values of a CPython's file: indexes of runtime_file.values. An offset of a field is in
 * bytes, or CPYTHON_NONE if this version has no such field. */
#ifndef RUNTIME_CPYTHON_CPYTHON_VALUES_H
#define RUNTIME_CPYTHON_CPYTHON_VALUES_H

#include "runtime/runtime.h"

/* X(NAME, field): the names are CPython's. The sources are Include/cpython/pystate.h and
 * Include/cpython/code.h, and Include/internal/pycore_runtime.h, pycore_interp.h and
 * pycore_frame.h. */
#define CPYTHON_OFFSETS(X)                                                                         \
	X(INTERPRETERS, "_PyRuntime.interpreters.head")                                            \
	X(INTERPRETER_NEXT, "PyInterpreterState.next")                                             \
	X(THREADS, "PyInterpreterState.threads.head")                                              \
	X(THREAD_NEXT, "PyThreadState.next")                                                       \
	X(THREAD_ID, "PyThreadState.thread_id")                                                    \
	/* With these three, the running thread's state is found (up to 3.11). */                  \
	X(THREAD_INTERPRETER, "PyThreadState.interp")                                              \
	X(INTERPRETER_RUNTIME, "PyInterpreterState.runtime")                                       \
	X(CURRENT_THREAD, "_PyRuntime.gilstate.tstate_current")                                    \
	X(THREAD_CFRAME, "PyThreadState.cframe")                                                   \
	/* In _PyCFrame if there is one, else in PyThreadState. */                                 \
	X(CURRENT_FRAME, "current_frame")                                                          \
	X(CFRAME_PREVIOUS, "_PyCFrame.previous")                                                   \
	X(FRAME_CODE, "frame.f_code or f_executable")                                              \
	X(FRAME_PREVIOUS, "frame.f_back or previous")                                              \
	X(FRAME_INSTR, "frame.f_lasti, prev_instr or instr_ptr")                                   \
	X(FRAME_OWNER, "frame.is_entry or owner")                                                  \
	X(FRAME_TLBC_INDEX, "frame.tlbc_index")                                                    \
	X(CODE_FILENAME, "PyCodeObject.co_filename")                                               \
	X(CODE_NAME, "PyCodeObject.co_name")                                                       \
	X(CODE_QUALNAME, "PyCodeObject.co_qualname")                                               \
	X(CODE_FIRSTLINENO, "PyCodeObject.co_firstlineno")                                         \
	X(CODE_LINETABLE, "PyCodeObject.co_lnotab or co_linetable")                                \
	X(CODE_BYTECODE, "PyCodeObject.co_code_adaptive")                                          \
	X(CODE_TLBC, "PyCodeObject.co_tlbc")                                                       \
	X(UNICODE_LENGTH, "PyASCIIObject.length")                                                  \
	X(UNICODE_STATE, "PyASCIIObject.state")                                                    \
	X(ASCII_DATA, "sizeof(PyASCIIObject)")                                                     \
	X(COMPACT_DATA, "sizeof(PyCompactUnicodeObject)")                                          \
	X(BYTES_SIZE, "PyBytesObject.ob_size")                                                     \
	X(BYTES_DATA, "PyBytesObject.ob_sval")

enum cpython_value {
	CPYTHON_RUNTIME, /* virtual address of _PyRuntime */
	CPYTHON_CHAIN, /* enum cpython_chain */
	CPYTHON_INSTR, /* enum cpython_instr */
	CPYTHON_LINES, /* enum cpython_lines */
	CPYTHON_SHIM_OWNER, /* frames with at least this owner are shims */
	CPYTHON_FREE_THREADED, /* 1: a build without the GIL */
	CPYTHON_TAIL_CALLS, /* 1: bytecode handlers are functions that call each other */
	CPYTHON_IS_GUESS, /* 1: a version that is not known, read like the newest known one */
	CPYTHON_IS_PROGRAM, /* 1: the file is a program, 0: a library of different programs */
	CPYTHON_TLS_BYTES, /* of the file's block of thread-local variables */
	/* The thread-local variables of PyGILState_GetThisThreadState() in its code: distances from
	 * the thread pointer as 32 bits; 0: none. */
	CPYTHON_GILSTATE_PLACE,
	/* Code of _PyEval_EvalFrameDefault() up to 3.10: offsets in the file. */
	CPYTHON_EVAL_START,
	CPYTHON_EVAL_END,
	CPYTHON_EVAL_COLD_START,
	CPYTHON_EVAL_COLD_END,
	CPYTHON_HAS_OFFSETS, /* 0: the version is not supported, and there are no offsets */
#define X(NAME, field) CPYTHON_OFFSET_##NAME,
	CPYTHON_OFFSETS(X)
#undef X
		CPYTHON_NR_VALUES,
};

#define CPYTHON_FIRST_OFFSET (CPYTHON_HAS_OFFSETS + 1)
#define CPYTHON_NR_OFFSETS (CPYTHON_NR_VALUES - CPYTHON_FIRST_OFFSET)

_Static_assert(CPYTHON_NR_VALUES <= RUNTIME_FILE_VALUES, "values fit into struct runtime_file");

#define CPYTHON_VERSION(major, minor) ((uint32_t)(major) << 24 | (uint32_t)(minor) << 16)
#define CPYTHON_MAJOR(version) ((version) >> 24)
#define CPYTHON_MINOR(version) ((version) >> 16 & 0xff)

#endif
