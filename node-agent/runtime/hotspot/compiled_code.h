/* SPDX-License-Identifier: Apache-2.0 */
/* Names a place in compiled code: the Java methods that were inlined there, innermost first.
 *
 * An nmethod has a table of places (PcDesc), mostly return addresses, and for each of them a scope:
 * method, bytecode and the scope that it was inlined into. Code that is no nmethod, such as a stub,
 * has the name of its blob.
 * Sources: src/hotspot/share/code/nmethod.cpp, pcDesc.hpp, scopeDesc.cpp, debugInfoRec.cpp. */
#ifndef RUNTIME_HOTSPOT_COMPILED_CODE_H
#define RUNTIME_HOTSPOT_COMPILED_CODE_H

#include "runtime/frame_writer.h"
#include "runtime/process_memory.h"

#include <stdint.h>

struct code_place {
	uint64_t blob; /* address of the CodeBlob */
	uint16_t compile_id; /* its lowest bits; 0 if it is no nmethod */
	int32_t pc_offset; /* from the start of the code; of a call: of its last byte */
};

/* Adds the lines of the place to the frame. Adds none if the blob is not what it was any more.
 * `naming`: enum hotspot_naming. Errors: -ENOENT it is another one already; -EBADMSG this is no
 * such code; -ENOMEM; those of process_memory_read(). */
int compiled_code_add(struct process_memory *memory, const uint64_t *naming,
		      const struct code_place *place, struct frame_writer *writer) must_check;

#endif
