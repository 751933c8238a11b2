/* SPDX-License-Identifier: Apache-2.0 */
/* Decodes how the frame of optimized code becomes frames of the interpreter, one for each function
 * that was inlined there: operations with operands (v8_numbers.h). An operation may repeat some of
 * an earlier translation. Sources: V8's src/deoptimizer/translation-opcode.h,
 * src/deoptimizer/frame-translation-builder.cc, src/objects/deoptimization-data.cc
 * (DeoptTranslationIterator). */
#ifndef RUNTIME_V8_V8_TRANSLATION_H
#define RUNTIME_V8_V8_TRANSLATION_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

/* A frame of the interpreter. */
struct v8_translated {
	int32_t bytecode_offset; /* -1: where the function begins */
	int32_t shared; /* index of its SharedFunctionInfo in the literals */
	int32_t bytecode; /* index of its BytecodeArray in the protected literals */
};

/* Reads the translation that begins at `index`: its frames, the outermost one first. Those of
 * builtins are left out. Returns their number. Errors: -ENOENT damaged, or there are no frames, or
 * more than `max`. */
int v8_translation_read(const uint8_t *bytes, size_t len, size_t index,
			struct v8_translated *frames, size_t max) must_check;

#endif
