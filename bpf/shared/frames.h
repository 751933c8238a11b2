/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The results of unwinding a user stack. This one list makes the enum, its counters (stats.h)
 * and the words that stand as the last frame of a stack that did not reach its root. */
#ifndef BPF_SHARED_FRAMES_H
#define BPF_SHARED_FRAMES_H

/* X(NAME, name, words) */
#define UNWIND_RESULTS(X)                                                                          \
	X(COMPLETE, complete, "complete")                                                          \
	X(KERNEL_THREAD, kernel_thread, "kernel thread")                                           \
	X(NO_STACK, no_stack, "no user stack")                                                     \
	X(NO_REGISTERS, no_registers, "no user registers")                                         \
	X(COMPAT, compat, "32-bit process")                                                        \
	X(NEW_PROCESS, new_process, "process not known yet")                                       \
	X(NOT_LOADED, not_loaded, "unwind table not loaded yet")                                   \
	X(BAD_FRAME_POINTER, bad_frame_pointer, "no frame pointer")                                \
	X(UNREADABLE_STACK, unreadable_stack, "stack unreadable")                                  \
	X(BAD_RETURN_ADDRESS, bad_return_address, "bad return address")                            \
	X(NOT_ASCENDING, not_ascending, "stack does not ascend")                                   \
	X(LOST_REGISTER, lost_register, "register not recoverable")                                \
	X(UNSUPPORTED_RULE, unsupported_rule, "unwind rule not supported")                         \
	X(BAD_TABLE, bad_table, "damaged unwind table")                                            \
	X(TOO_DEEP, too_deep, "too deep")                                                          \
	X(TRUNCATED, truncated, "stack copy too short")                                            \
	X(INTERRUPTED, interrupted, "unwinder interrupted")

enum unwind_result {
#define X(NAME, name, words) UNWIND_##NAME,
	UNWIND_RESULTS(X)
#undef X
		UNWIND_NR_RESULTS,
};

#endif
