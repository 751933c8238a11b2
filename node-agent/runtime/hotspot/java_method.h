/* SPDX-License-Identifier: Apache-2.0 */
/* Names a Java method and a place in it: "package.Class.method", source file and line.
 * Sources: src/hotspot/share/oops/method.hpp, constMethod.hpp, constantPool.hpp, symbol.hpp. */
#ifndef RUNTIME_HOTSPOT_JAVA_METHOD_H
#define RUNTIME_HOTSPOT_JAVA_METHOD_H

#include "runtime/frame_writer.h"
#include "runtime/process_memory.h"

#include <stdint.h>

#define JAVA_BCI_NONE INT32_MIN /* the place is not known */

struct java_place {
	uint64_t method; /* address of the Method */
	uint64_t const_method; /* that it must have; 0: any */
	int32_t bci; /* bytecode index; JAVA_BCI_NONE; other negative ones: before the first */
};

/* Adds the line of the place to the frame. `naming`: enum hotspot_naming. Errors: -EBADMSG this is
 * no method, or has no such bytecode; -ENOMEM; those of process_memory_read(). */
int java_method_add(struct process_memory *memory, const uint64_t *naming,
		    const struct java_place *place, struct frame_writer *writer) must_check;

#endif
