/* SPDX-License-Identifier: Apache-2.0 */
/* The memory of a process that has objects of a CPython, in a file. */
#ifndef TESTS_UNIT_CPYTHON_MEMORY_H
#define TESTS_UNIT_CPYTHON_MEMORY_H

#include "runtime/process_memory.h"

#include <stddef.h>
#include <stdint.h>

#define CPYTHON_MEMORY_QUOTA ((uint64_t)1 << 30)

struct cpython_memory {
	struct process_memory memory;
	const uint64_t *naming;
	uint64_t end; /* of what is used */
};

/* PyASCIIObject.state of builds with a GIL. */
#define CPYTHON_TEXT_STATE(kind, is_compact, is_ascii)                                             \
	((uint32_t)((kind) << 2 | (is_compact) << 5 | (is_ascii) << 6))

#define CPYTHON_ASCII CPYTHON_TEXT_STATE(1, 1, 1)
#define CPYTHON_LATIN_1 CPYTHON_TEXT_STATE(1, 1, 0)
#define CPYTHON_UCS_2 CPYTHON_TEXT_STATE(2, 1, 0)
#define CPYTHON_UCS_4 CPYTHON_TEXT_STATE(4, 1, 0)

/* An empty memory of a version, 3.`minor`. */
void cpython_memory_init(struct cpython_memory *objects, int minor);
void cpython_memory_done(struct cpython_memory *objects);

void cpython_memory_put(struct cpython_memory *objects, uint64_t address, const void *bytes,
			size_t len);

/* Put an object each behind those that are there, and return its address. */
uint64_t cpython_memory_put_text(struct cpython_memory *objects, uint32_t state, uint64_t length,
				 const void *chars, size_t nr_bytes);
uint64_t cpython_memory_put_ascii(struct cpython_memory *objects, const char *text);
uint64_t cpython_memory_put_bytes(struct cpython_memory *objects, uint64_t size, const void *bytes,
				  size_t len);

struct cpython_code_parts {
	uint64_t name; /* addresses of objects */
	uint64_t filename;
	uint64_t table;
	int32_t first_line;
};

uint64_t cpython_memory_put_code(struct cpython_memory *objects,
				 const struct cpython_code_parts *parts);

/* Returns the check of a tag for a code object. */
uint16_t cpython_memory_check(struct cpython_memory *objects, uint64_t code);

#endif
