/* SPDX-License-Identifier: Apache-2.0 */
/* Names the frames of V8; runtime_ops.name(). */
#ifndef RUNTIME_V8_V8_NAME_H
#define RUNTIME_V8_V8_NAME_H

#include "base/err.h"
#include "runtime/frame_writer.h"
#include "runtime/process_memory.h"

#include <stdint.h>

int v8_name(struct process_memory *memory, const uint64_t *naming, const uint64_t *words,
	    struct frame_writer *writer) must_check;

#endif
