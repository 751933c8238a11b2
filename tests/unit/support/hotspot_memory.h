/* SPDX-License-Identifier: Apache-2.0 */
/* The memory of a process that has objects of a HotSpot JVM, in a file. */
#ifndef TESTS_UNIT_HOTSPOT_MEMORY_H
#define TESTS_UNIT_HOTSPOT_MEMORY_H

#include "hotspot_naming_table.h"
#include "runtime/process_memory.h"

#include <stddef.h>
#include <stdint.h>

#define HOTSPOT_MEMORY_BYTES ((uint64_t)1 << 20)

struct hotspot_memory {
	struct process_memory memory;
	uint64_t end; /* of what is used */
};

void hotspot_memory_init(struct hotspot_memory *objects);
void hotspot_memory_done(struct hotspot_memory *objects);

void hotspot_memory_put(struct hotspot_memory *objects, uint64_t address, const void *bytes,
			size_t len);
void hotspot_memory_put_u64(struct hotspot_memory *objects, uint64_t address, uint64_t value);
void hotspot_memory_put_u32(struct hotspot_memory *objects, uint64_t address, uint32_t value);
void hotspot_memory_put_u16(struct hotspot_memory *objects, uint64_t address, uint16_t value);

/* Reserve zeroes, or put an object, behind those that are there, and return its address. */
uint64_t hotspot_memory_reserve(struct hotspot_memory *objects, size_t len);
uint64_t hotspot_memory_put_text(struct hotspot_memory *objects, const char *text);
uint64_t hotspot_memory_put_symbol(struct hotspot_memory *objects, const char *text);

struct hotspot_method_parts {
	const char *class_name;
	const char *name;
	const char *source_file; /* NULL: none */
	uint16_t code_size;
	const void *line_table; /* NULL: none */
	size_t line_table_bytes;
};

/* Puts a Method, with its ConstMethod, constant pool and class. */
uint64_t hotspot_memory_put_method(struct hotspot_memory *objects,
				   const struct hotspot_method_parts *parts);

struct hotspot_blob_parts {
	const char *name;
	uint32_t compile_id;
	uint64_t method;
	const int32_t (*pcs)[4]; /* PcDesc */
	size_t nr_pcs;
	const void *scopes;
	size_t scopes_bytes;
	const uint64_t *metadata;
	size_t nr_metadata;
	const void *code; /* NULL: none */
	size_t code_bytes;
};

/* Puts an nmethod or another CodeBlob. */
uint64_t hotspot_memory_put_blob(struct hotspot_memory *objects,
				 const struct hotspot_blob_parts *parts);

#endif
