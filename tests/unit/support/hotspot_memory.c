/* SPDX-License-Identifier: Apache-2.0 */
#include "hotspot_memory.h"

#include "unit.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define FIRST_ADDRESS 0x1000
#define ALIGNMENT 16
#define HAS_LINE_TABLE 1

/* Indexes in a constant pool. */
enum { POOL_NAME = 1, POOL_SOURCE_FILE, POOL_LENGTH };

void hotspot_memory_init(struct hotspot_memory *objects)
{
	int fd = memfd_create("objects", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, HOTSPOT_MEMORY_BYTES), 0);
	*objects = (struct hotspot_memory){
		.memory = { .fd = fd, .nr_left = UINT64_MAX },
		.end = FIRST_ADDRESS,
	};
}

void hotspot_memory_done(struct hotspot_memory *objects)
{
	close(objects->memory.fd);
}

void hotspot_memory_put(struct hotspot_memory *objects, uint64_t address, const void *bytes,
			size_t len)
{
	assert_int_equal(pwrite(objects->memory.fd, bytes, len, (off_t)address), len);
	if (address + len > objects->end)
		objects->end = address + len;
}

void hotspot_memory_put_u64(struct hotspot_memory *objects, uint64_t address, uint64_t value)
{
	hotspot_memory_put(objects, address, &value, sizeof(value));
}

void hotspot_memory_put_u32(struct hotspot_memory *objects, uint64_t address, uint32_t value)
{
	hotspot_memory_put(objects, address, &value, sizeof(value));
}

void hotspot_memory_put_u16(struct hotspot_memory *objects, uint64_t address, uint16_t value)
{
	hotspot_memory_put(objects, address, &value, sizeof(value));
}

uint64_t hotspot_memory_reserve(struct hotspot_memory *objects, size_t len)
{
	uint64_t address = (objects->end + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;

	objects->end = address + len;
	assert_true(objects->end <= HOTSPOT_MEMORY_BYTES);
	return address;
}

uint64_t hotspot_memory_put_text(struct hotspot_memory *objects, const char *text)
{
	uint64_t address = hotspot_memory_reserve(objects, strlen(text) + 1);

	hotspot_memory_put(objects, address, text, strlen(text) + 1);
	return address;
}

uint64_t hotspot_memory_put_symbol(struct hotspot_memory *objects, const char *text)
{
	const uint64_t *naming = hotspot_memory_naming;
	uint64_t body = naming[HOTSPOT_NAMING_SYMBOL_BODY];
	uint64_t address = hotspot_memory_reserve(objects, body + strlen(text));

	hotspot_memory_put_u16(objects, address + naming[HOTSPOT_NAMING_SYMBOL_LENGTH],
			       (uint16_t)strlen(text));
	hotspot_memory_put(objects, address + body, text, strlen(text));
	return address;
}

static uint64_t put_class(struct hotspot_memory *objects, const char *name)
{
	uint64_t place = hotspot_memory_naming[HOTSPOT_NAMING_KLASS_NAME];
	uint64_t address = hotspot_memory_reserve(objects, place + sizeof(uint64_t));

	hotspot_memory_put_u64(objects, address + place, hotspot_memory_put_symbol(objects, name));
	return address;
}

static uint64_t put_pool(struct hotspot_memory *objects, const struct hotspot_method_parts *parts)
{
	const uint64_t *naming = hotspot_memory_naming;
	uint64_t constants = naming[HOTSPOT_NAMING_POOL_BYTES];
	uint64_t address = hotspot_memory_reserve(objects, constants + 8UL * POOL_LENGTH);

	hotspot_memory_put_u64(objects, address + naming[HOTSPOT_NAMING_POOL_HOLDER],
			       put_class(objects, parts->class_name));
	hotspot_memory_put_u32(objects, address + naming[HOTSPOT_NAMING_POOL_LENGTH], POOL_LENGTH);
	hotspot_memory_put_u64(objects, address + constants + 8UL * POOL_NAME,
			       hotspot_memory_put_symbol(objects, parts->name));
	if (!parts->source_file)
		return address;
	hotspot_memory_put_u16(objects, address + naming[HOTSPOT_NAMING_POOL_SOURCE_FILE],
			       POOL_SOURCE_FILE);
	hotspot_memory_put_u64(objects, address + constants + 8UL * POOL_SOURCE_FILE,
			       hotspot_memory_put_symbol(objects, parts->source_file));
	return address;
}

static uint64_t put_const_method(struct hotspot_memory *objects,
				 const struct hotspot_method_parts *parts)
{
	const uint64_t *naming = hotspot_memory_naming;
	uint64_t table = naming[HOTSPOT_NAMING_CONST_BYTES] + parts->code_size;
	uint64_t words = (table + parts->line_table_bytes + 7) / 8;
	uint64_t address = hotspot_memory_reserve(objects, 8 * words);

	hotspot_memory_put_u32(objects, address + naming[HOTSPOT_NAMING_CONST_SIZE],
			       (uint32_t)words);
	hotspot_memory_put_u16(objects, address + naming[HOTSPOT_NAMING_CONST_CODE_SIZE],
			       parts->code_size);
	hotspot_memory_put_u16(objects, address + naming[HOTSPOT_NAMING_CONST_NAME_INDEX],
			       POOL_NAME);
	if (parts->line_table) {
		hotspot_memory_put_u16(objects, address + naming[HOTSPOT_NAMING_CONST_FLAGS],
				       HAS_LINE_TABLE);
		hotspot_memory_put(objects, address + table, parts->line_table,
				   parts->line_table_bytes);
	}
	hotspot_memory_put_u64(objects, address + naming[HOTSPOT_NAMING_CONST_CONSTANTS],
			       put_pool(objects, parts));
	return address;
}

uint64_t hotspot_memory_put_method(struct hotspot_memory *objects,
				   const struct hotspot_method_parts *parts)
{
	uint64_t place = hotspot_memory_naming[HOTSPOT_NAMING_METHOD_CONST];
	uint64_t address = hotspot_memory_reserve(objects, place + sizeof(uint64_t));

	hotspot_memory_put_u64(objects, address + place, put_const_method(objects, parts));
	return address;
}

static uint64_t put_immutable_data(struct hotspot_memory *objects,
				   const struct hotspot_blob_parts *parts)
{
	size_t pcs_bytes = parts->nr_pcs * sizeof(*parts->pcs);
	uint64_t address = hotspot_memory_reserve(objects, pcs_bytes + parts->scopes_bytes);

	if (parts->pcs)
		hotspot_memory_put(objects, address, parts->pcs, pcs_bytes);
	if (parts->scopes)
		hotspot_memory_put(objects, address + pcs_bytes, parts->scopes,
				   parts->scopes_bytes);
	return address;
}

static void put_code(struct hotspot_memory *objects, const struct hotspot_blob_parts *parts,
		     uint64_t blob)
{
	uint64_t code = hotspot_memory_reserve(objects, parts->code_bytes);

	hotspot_memory_put(objects, code, parts->code, parts->code_bytes);
	hotspot_memory_put_u32(objects, blob + CODE_OFFSET, (uint32_t)(code - blob));
}

uint64_t hotspot_memory_put_blob(struct hotspot_memory *objects,
				 const struct hotspot_blob_parts *parts)
{
	const uint64_t *naming = hotspot_memory_naming;
	uint32_t pcs_bytes = (uint32_t)(parts->nr_pcs * sizeof(*parts->pcs));
	uint64_t blob = hotspot_memory_reserve(objects, naming[HOTSPOT_NAMING_NMETHOD_BYTES]);
	uint64_t metadata = hotspot_memory_reserve(objects, 8 * parts->nr_metadata);

	if (parts->metadata)
		hotspot_memory_put(objects, metadata, parts->metadata, 8 * parts->nr_metadata);
	hotspot_memory_put_u64(objects, blob + naming[HOTSPOT_NAMING_BLOB_NAME],
			       hotspot_memory_put_text(objects, parts->name));
	hotspot_memory_put_u32(objects, blob + naming[HOTSPOT_NAMING_COMPILE_ID],
			       parts->compile_id);
	hotspot_memory_put_u64(objects, blob + naming[HOTSPOT_NAMING_NMETHOD_METHOD],
			       parts->method);
	hotspot_memory_put_u64(objects, blob + MUTABLE_DATA, metadata);
	hotspot_memory_put_u64(objects, blob + IMMUTABLE_DATA, put_immutable_data(objects, parts));
	hotspot_memory_put_u32(objects, blob + PCS_OFFSET, 0);
	hotspot_memory_put_u32(objects, blob + SCOPES_OFFSET, pcs_bytes);
	hotspot_memory_put_u32(objects, blob + IMMUTABLE_SIZE,
			       pcs_bytes + (uint32_t)parts->scopes_bytes);
	if (parts->code)
		put_code(objects, parts, blob);
	return blob;
}
