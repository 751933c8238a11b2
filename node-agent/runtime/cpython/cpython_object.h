/* SPDX-License-Identifier: Apache-2.0 */
/* A CPython object in the memory of a process. One read gets its start, which for most strings and
 * tables is all of it. */
#ifndef RUNTIME_CPYTHON_CPYTHON_OBJECT_H
#define RUNTIME_CPYTHON_CPYTHON_OBJECT_H

#include "base/err.h"
#include "base/strbuf.h"
#include "runtime/process_memory.h"

#include <stddef.h>
#include <stdint.h>

#define CPYTHON_OBJECT_BYTES 512

struct cpython_object {
	uint64_t address;
	size_t len; /* of `bytes` */
	uint8_t bytes[CPYTHON_OBJECT_BYTES];
};

/* Reads the first bytes of an object: at most `len` and CPYTHON_OBJECT_BYTES, or fewer where its
 * memory ends. Errors: -EFAULT there is nothing, those of process_memory_read(). */
int cpython_object_read(struct process_memory *memory, uint64_t address, size_t len,
			struct cpython_object *ret_object) must_check;

/* Copies a field that is in the start of the object. Errors: -EFAULT it is not. */
int cpython_object_field(const struct cpython_object *object, uint64_t offset, void *to, size_t len)
	must_check;

/* Gets a part of the object, which is read into `scratch` unless it is in the start. The result is
 * valid as long as both are. Errors: -ENOSPC it is too long for `scratch`, -ENOMEM, those of
 * process_memory_read(). */
int cpython_object_part(struct process_memory *memory, const struct cpython_object *object,
			uint64_t offset, size_t len, struct strbuf *scratch,
			const uint8_t **ret_part) must_check;

#endif
