/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the functions that run at a call in the code of Maglev (from V8 13.6 on) and TurboFan (from
 * 14.7 on), and their positions, by what V8 needs to deoptimize them. The tables of source
 * positions lack calls in loops.
 * Sources: V8's src/execution/frames.cc (OptimizedJSFrame::Summarize),
 * src/objects/deoptimization-data.h. */
#ifndef RUNTIME_V8_V8_DEOPT_H
#define RUNTIME_V8_V8_DEOPT_H

#include "base/err.h"
#include "runtime/v8/v8_code.h"

#include <stddef.h>
#include <stdint.h>

#define V8_DEOPT_MAX_FRAMES 32

struct v8_deopt_frame {
	uint64_t shared; /* SharedFunctionInfo */
	int32_t position; /* in its script; -1: unknown */
};

/* Finds the functions at the return address `address`, the outermost one first. Returns how many of
 * the V8_DEOPT_MAX_FRAMES `frames` it set, at least one. Errors: -ENOENT the address is not behind
 * such a call, or the data are damaged; those of v8_heap_bytes(). */
int v8_deopt_read(const struct v8_heap *heap, const struct v8_code *code, uint64_t address,
		  struct v8_deopt_frame *frames) must_check;

#endif
