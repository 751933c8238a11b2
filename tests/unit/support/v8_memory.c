/* SPDX-License-Identifier: Apache-2.0 */
#include "v8_memory.h"

#include "unit.h"

#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MEMORY_BYTES (16 << 20)
#define FIRST_ADDRESS 0x20000
#define CODE_ADDRESS 0x800000 /* code is at no lower address */
#define MAP_BYTES 32
#define OBJECT_ALIGNMENT 8
#define CODE_ALIGNMENT 64
#define STRING_LENGTH 12
#define STRING_CHARS 16
#define SHARED_BYTES 72
#define SCRIPT_BYTES 72
#define CODE_BYTES 128
#define SMI_SHIFT 32
#define HAS_FUNCTION_NAME (3U << 12)
#define HAS_INFERRED_NAME (1U << 14)
#define LITERAL_ID 7

void v8_memory_init(struct v8_memory *objects, enum v8_memory_layout layout)
{
	int fd = memfd_create("heap", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, MEMORY_BYTES), 0);
	*objects = (struct v8_memory){
		.memory = { .fd = fd, .nr_left = V8_MEMORY_QUOTA },
		.heap = { &objects->memory, objects->values },
		.end = FIRST_ADDRESS,
	};
	v8_values_of(layout, objects->values);
}

void v8_memory_done(struct v8_memory *objects)
{
	close(objects->memory.fd);
}

void v8_memory_put(struct v8_memory *objects, uint64_t address, const void *bytes, size_t len)
{
	assert_int_equal(pwrite(objects->memory.fd, bytes, len, (off_t)address), len);
	if (address + len > objects->end)
		objects->end = address + len;
}

void v8_memory_set(struct v8_memory *objects, uint64_t object, uint64_t offset, uint64_t word)
{
	v8_memory_put(objects, object - 1 + offset, &word, sizeof(word));
}

uint64_t v8_memory_smi(int32_t value)
{
	return (uint64_t)(uint32_t)value << SMI_SHIFT;
}

static uint64_t reserve(struct v8_memory *objects, size_t nr_bytes, uint64_t alignment)
{
	uint64_t address = (objects->end + alignment - 1) / alignment * alignment;
	const uint8_t last = 0;

	v8_memory_put(objects, address + nr_bytes - 1, &last, 1);
	return address;
}

static void put_map(struct v8_memory *objects, uint64_t address, uint64_t type)
{
	const uint16_t instance_type = (uint16_t)type;
	uint64_t map = reserve(objects, MAP_BYTES, OBJECT_ALIGNMENT);

	v8_memory_put(objects, map + V8_MAP_INSTANCE_TYPE, &instance_type, sizeof(instance_type));
	v8_memory_set(objects, address + 1, 0, map + 1);
}

uint64_t v8_memory_put_object(struct v8_memory *objects, uint64_t type, size_t nr_bytes)
{
	uint64_t address = reserve(objects, nr_bytes, OBJECT_ALIGNMENT);

	put_map(objects, address, type);
	return address + 1;
}

static uint64_t put_chars(struct v8_memory *objects, uint64_t type, uint32_t length,
			  const void *chars, size_t nr_bytes)
{
	uint64_t string = v8_memory_put_object(objects, type, STRING_CHARS + nr_bytes);

	v8_memory_put(objects, string - 1 + STRING_LENGTH, &length, sizeof(length));
	v8_memory_put(objects, string - 1 + STRING_CHARS, chars, nr_bytes);
	return string;
}

uint64_t v8_memory_put_string(struct v8_memory *objects, const char *chars)
{
	return put_chars(objects, V8_STRING_ONE_BYTE, (uint32_t)strlen(chars), chars,
			 strlen(chars));
}

uint64_t v8_memory_put_two_byte(struct v8_memory *objects, const uint16_t *chars, size_t nr_chars)
{
	return put_chars(objects, V8_STRING_TWO_BYTE, (uint32_t)nr_chars, chars,
			 nr_chars * sizeof(*chars));
}

uint64_t v8_memory_put_reference(struct v8_memory *objects, uint64_t type, uint32_t length,
				 uint64_t first, uint64_t second)
{
	const uint64_t words[] = { first, second };

	return put_chars(objects, type, length, words, sizeof(words));
}

/* In V8 15, lengths are no small integers any more. */
static uint64_t length_word(const struct v8_memory *objects, size_t length)
{
	return objects->values[V8_TYPE_SHARED] == V8_UNKNOWN_TYPE ? length
								  : v8_memory_smi((int32_t)length);
}

uint64_t v8_memory_put_bytes(struct v8_memory *objects, const void *bytes, size_t len)
{
	uint64_t array = v8_memory_put_object(objects, V8_TYPE_BYTES, V8_ARRAY_DATA + len);

	v8_memory_set(objects, array, V8_ARRAY_LENGTH, length_word(objects, len));
	v8_memory_put(objects, array - 1 + V8_ARRAY_DATA, bytes, len);
	return array;
}

uint64_t v8_memory_put_array(struct v8_memory *objects, const uint64_t *words, size_t nr_words)
{
	size_t nr_bytes = nr_words * sizeof(*words);
	uint64_t array = v8_memory_put_object(objects, objects->values[V8_TYPE_FIXED_ARRAY],
					      V8_ARRAY_DATA + nr_bytes);

	v8_memory_set(objects, array, V8_ARRAY_LENGTH, length_word(objects, nr_words));
	v8_memory_put(objects, array - 1 + V8_ARRAY_DATA, words, nr_bytes);
	return array;
}

uint64_t v8_memory_put_script(struct v8_memory *objects, const char *name, const char *source)
{
	uint64_t script = v8_memory_put_object(objects, objects->values[V8_TYPE_SCRIPT],
					       SCRIPT_BYTES);

	v8_memory_set(objects, script, objects->values[V8_SCRIPT_NAME],
		      v8_memory_put_string(objects, name));
	v8_memory_set(objects, script, objects->values[V8_SCRIPT_SOURCE],
		      v8_memory_put_string(objects, source));
	return script;
}

uint64_t v8_memory_put_shared(struct v8_memory *objects, uint64_t name, uint64_t script,
			      uint64_t data)
{
	uint64_t shared = v8_memory_put_object(objects, objects->values[V8_TYPE_SHARED],
					       SHARED_BYTES);

	v8_memory_set(objects, shared, objects->values[V8_SHARED_NAME], name);
	v8_memory_set(objects, shared, objects->values[V8_SHARED_SCRIPT], script);
	v8_memory_set(objects, shared, objects->values[V8_SHARED_DATA], data);
	v8_memory_set(objects, shared, objects->values[V8_SHARED_LENGTH] + V8_WORD_BYTES,
		      v8_memory_smi(LITERAL_ID));
	return shared;
}

uint64_t v8_memory_put_scope(struct v8_memory *objects, uint64_t name, uint64_t inferred,
			     int32_t start)
{
	uint32_t flags = (name ? HAS_FUNCTION_NAME : 0) | (inferred ? HAS_INFERRED_NAME : 0) | 4;
	bool is_fixed = objects->values[V8_SCOPE_VARIABLES] > 3;
	uint64_t words[10] = { is_fixed ? flags : v8_memory_smi((int32_t)flags) };
	size_t nr = objects->values[V8_SCOPE_VARIABLES];

	if (is_fixed)
		words[3] = v8_memory_smi(start);
	if (name) {
		words[nr++] = name;
		words[nr++] = v8_memory_smi(-1);
	}
	if (inferred)
		words[nr++] = inferred;
	if (!is_fixed)
		words[nr] = v8_memory_smi(start);
	uint64_t scope = v8_memory_put_object(objects, objects->values[V8_TYPE_SCOPE],
					      V8_WORD_BYTES + sizeof(words));
	v8_memory_put(objects, scope - 1 + V8_WORD_BYTES, words, sizeof(words));
	return scope;
}

uint64_t v8_memory_put_bytecode(struct v8_memory *objects, const void *bytes, size_t len,
				uint64_t positions)
{
	uint64_t data = objects->values[V8_BYTECODE_DATA];
	uint64_t bytecode = v8_memory_put_object(objects, objects->values[V8_TYPE_BYTECODE],
						 data + len);

	v8_memory_set(objects, bytecode, V8_ARRAY_LENGTH, v8_memory_smi((int32_t)len));
	v8_memory_set(objects, bytecode, objects->values[V8_BYTECODE_POSITIONS], positions);
	v8_memory_put(objects, bytecode - 1 + data, bytes, len);
	return bytecode;
}

/* The start of the instructions is aligned, not that of the header. Without an InstructionStream,
 * it is aligned to half as much. */
static uint64_t put_header(struct v8_memory *objects, uint64_t type, uint32_t size)
{
	bool has_stream = objects->values[V8_TYPE_STREAM] != 0;
	uint64_t header = objects->values[V8_CODE_HEADER], start;

	if (objects->end < CODE_ADDRESS)
		objects->end = CODE_ADDRESS;
	start = reserve(objects, 3 * CODE_ALIGNMENT + size, CODE_ALIGNMENT) + 2 * CODE_ALIGNMENT;
	if (!has_stream)
		start += CODE_ALIGNMENT / 2;
	put_map(objects, start - header, type);
	return start;
}

uint64_t v8_memory_put_code(struct v8_memory *objects, uint32_t kind, uint32_t size,
			    uint64_t *ret_start)
{
	bool has_stream = objects->values[V8_TYPE_STREAM] != 0;
	uint64_t start = put_header(
		objects, objects->values[has_stream ? V8_TYPE_STREAM : V8_TYPE_CODE], size);
	uint64_t header = start - objects->values[V8_CODE_HEADER];
	uint64_t code = header + 1;

	if (has_stream) {
		code = v8_memory_put_object(objects, objects->values[V8_TYPE_CODE], CODE_BYTES);
		v8_memory_set(objects, header + 1, 8, code);
		v8_memory_set(objects, code, objects->values[V8_CODE_START], start);
	}
	v8_memory_put(objects, code - 1 + objects->values[V8_CODE_SIZE], &size, sizeof(size));
	v8_memory_put(objects, code - 1 + objects->values[V8_CODE_FLAGS], &kind, sizeof(kind));
	*ret_start = start;
	return code;
}
