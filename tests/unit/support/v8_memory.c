/* SPDX-License-Identifier: Apache-2.0 */
#include "v8_memory.h"

#include "unit.h"

#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MEMORY_BYTES (16 << 20) /* of a space */
#define FIRST_ADDRESS 0x20000
#define CODE_ADDRESS 0x800000 /* code is at no lower address */
#define CAGE_BYTES (1ULL << 32)
#define MAP_BYTES 32
#define OBJECT_ALIGNMENT 8
#define CODE_ALIGNMENT 64
#define STRING_LENGTH 4 /* behind the first word, as is the next */
#define STRING_CHARS 8
#define REPRESENTATION_MASK 7
#define EXTERNAL 2
#define SHARED_BYTES 72
#define SCRIPT_BYTES 128
#define CODE_BYTES 128
#define SMI_SHIFT 32
#define HAS_FUNCTION_NAME (3U << 12)
#define HAS_INFERRED_NAME (1U << 14)
#define LITERAL_ID 7
#define LITERAL_OFFSET 12 /* from the length on */

/* Returns the upper half of the addresses of a space. */
static uint64_t half_of(enum v8_memory_layout layout, enum v8_memory_space space)
{
	if (layout < V8_MEMORY_COMPRESSED)
		return 0;
	return 1 + (space == V8_TRUSTED && layout != V8_MEMORY_CAGED ? V8_HEAP : space);
}

void v8_memory_init(struct v8_memory *objects, enum v8_memory_layout layout)
{
	int fd = memfd_create("heap", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, (off_t)(V8_NR_SPACES * CAGE_BYTES + MEMORY_BYTES)), 0);
	*objects = (struct v8_memory){ .memory = { .fd = fd, .nr_left = V8_MEMORY_QUOTA } };
	v8_values_of(layout, objects->values);
	for (int i = 0; i < V8_NR_SPACES; i++)
		objects->ends[i] = half_of(layout, (enum v8_memory_space)i) * CAGE_BYTES +
				   (i == V8_CODE ? CODE_ADDRESS : FIRST_ADDRESS);
	objects->heap = v8_heap_of(&objects->memory, objects->values, objects->ends[V8_HEAP],
				   half_of(layout, V8_TRUSTED));
}

/* Returns where the objects of a space are put. */
static uint64_t *end_of(struct v8_memory *objects, enum v8_memory_space space)
{
	bool is_heap = space == V8_TRUSTED && objects->values[V8_TRUSTED_CAGE] == 0;

	return &objects->ends[is_heap ? V8_HEAP : space];
}

void v8_memory_done(struct v8_memory *objects)
{
	close(objects->memory.fd);
}

void v8_memory_put(struct v8_memory *objects, uint64_t address, const void *bytes, size_t len)
{
	assert_int_equal(pwrite(objects->memory.fd, bytes, len, (off_t)address), len);
}

void v8_memory_set(struct v8_memory *objects, uint64_t object, uint64_t offset, uint64_t word)
{
	uint32_t compressed = (uint32_t)(word & 1 ? word : word >> (SMI_SHIFT - 1));

	if (v8_heap_is_compressed(&objects->heap))
		v8_memory_put(objects, object - 1 + offset, &compressed, sizeof(compressed));
	else
		v8_memory_put(objects, object - 1 + offset, &word, sizeof(word));
}

/* Sets words that follow each other. */
static void set_words(struct v8_memory *objects, uint64_t object, uint64_t offset,
		      const uint64_t *words, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		v8_memory_set(objects, object, offset + i * v8_word_bytes(&objects->heap),
			      words[i]);
}

uint64_t v8_memory_smi(int32_t value)
{
	return (uint64_t)(uint32_t)value << SMI_SHIFT;
}

static uint64_t reserve(struct v8_memory *objects, enum v8_memory_space space, size_t nr_bytes,
			uint64_t alignment)
{
	uint64_t *end = end_of(objects, space);
	uint64_t address = (*end + alignment - 1) / alignment * alignment;

	*end = address + nr_bytes;
	return address;
}

static void put_map(struct v8_memory *objects, uint64_t address, uint64_t type)
{
	const uint16_t instance_type = (uint16_t)type;
	uint64_t map = reserve(objects, V8_HEAP, MAP_BYTES, OBJECT_ALIGNMENT);

	v8_memory_put(objects, map + v8_word_bytes(&objects->heap) + V8_MAP_INSTANCE_TYPE,
		      &instance_type, sizeof(instance_type));
	v8_memory_set(objects, address + 1, 0, map + 1);
}

static uint64_t put_in(struct v8_memory *objects, enum v8_memory_space space, uint64_t type,
		       size_t nr_bytes)
{
	uint64_t address = reserve(objects, space, nr_bytes, OBJECT_ALIGNMENT);

	put_map(objects, address, type);
	return address + 1;
}

uint64_t v8_memory_put_object(struct v8_memory *objects, uint64_t type, size_t nr_bytes)
{
	return put_in(objects, V8_HEAP, type, nr_bytes);
}

uint64_t v8_memory_put_trusted(struct v8_memory *objects, uint64_t type, size_t nr_bytes)
{
	return put_in(objects, V8_TRUSTED, type, nr_bytes);
}

static uint64_t put_chars(struct v8_memory *objects, uint64_t type, uint32_t length,
			  const void *chars, size_t nr_bytes)
{
	size_t head = v8_word_bytes(&objects->heap);
	uint64_t string = v8_memory_put_object(objects, type, head + STRING_CHARS + nr_bytes);

	v8_memory_put(objects, string - 1 + head + STRING_LENGTH, &length, sizeof(length));
	v8_memory_put(objects, string - 1 + head + STRING_CHARS, chars, nr_bytes);
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
	uint64_t string = put_chars(objects, type, length, words, sizeof(words));

	if ((type & REPRESENTATION_MASK) != EXTERNAL)
		set_words(objects, string, v8_word_bytes(&objects->heap) + STRING_CHARS, words, 2);
	return string;
}

/* In V8 15, lengths are no small integers any more. */
static void put_length(struct v8_memory *objects, uint64_t array, size_t length)
{
	bool is_number = objects->values[V8_TYPE_SHARED] == V8_UNKNOWN_TYPE &&
			 objects->values[V8_SMI_LENGTHS] == 0;
	uint64_t offset = v8_word_bytes(&objects->heap);

	if (is_number)
		v8_memory_put(objects, array - 1 + offset, &length, v8_word_bytes(&objects->heap));
	else
		v8_memory_set(objects, array, offset, v8_memory_smi((int32_t)length));
}

uint64_t v8_memory_put_bytes(struct v8_memory *objects, const void *bytes, size_t len)
{
	uint64_t data = v8_array_data(&objects->heap);
	uint64_t array = v8_memory_put_trusted(objects, V8_TYPE_BYTES, data + len);

	put_length(objects, array, len);
	v8_memory_put(objects, array - 1 + data, bytes, len);
	return array;
}

uint64_t v8_memory_put_array(struct v8_memory *objects, const uint64_t *words, size_t nr_words)
{
	uint64_t data = v8_array_data(&objects->heap);
	uint64_t array = v8_memory_put_trusted(objects, objects->values[V8_TYPE_FIXED_ARRAY],
					       data + nr_words * sizeof(*words));

	put_length(objects, array, nr_words);
	set_words(objects, array, data, words, nr_words);
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
	const uint32_t literal_id = LITERAL_ID;
	uint64_t shared = v8_memory_put_object(objects, objects->values[V8_TYPE_SHARED],
					       SHARED_BYTES);

	v8_memory_set(objects, shared, objects->values[V8_SHARED_NAME], name);
	v8_memory_set(objects, shared, objects->values[V8_SHARED_SCRIPT], script);
	v8_memory_set(objects, shared, objects->values[V8_SHARED_DATA], data);
	v8_memory_put(objects, shared - 1 + objects->values[V8_SHARED_LENGTH] + LITERAL_OFFSET,
		      &literal_id, sizeof(literal_id));
	return shared;
}

uint64_t v8_memory_put_scope(struct v8_memory *objects, uint64_t name, uint64_t inferred,
			     int32_t start)
{
	uint32_t flags = (name ? HAS_FUNCTION_NAME : 0) | (inferred ? HAS_INFERRED_NAME : 0) | 4;
	bool is_fixed = objects->values[V8_SCOPE_VARIABLES] > 3;
	uint64_t words[10] = { is_fixed ? 0 : v8_memory_smi((int32_t)flags) };
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
	size_t head = v8_word_bytes(&objects->heap);
	uint64_t scope = v8_memory_put_object(objects, objects->values[V8_TYPE_SCOPE],
					      head + sizeof(words));
	set_words(objects, scope, head, words, array_len(words));
	if (is_fixed)
		v8_memory_put(objects, scope - 1 + head, &flags, sizeof(flags));
	return scope;
}

uint64_t v8_memory_put_bytecode(struct v8_memory *objects, const void *bytes, size_t len,
				uint64_t positions)
{
	uint64_t data = objects->values[V8_BYTECODE_DATA];
	uint64_t bytecode = v8_memory_put_trusted(objects, objects->values[V8_TYPE_BYTECODE],
						  data + len);

	v8_memory_set(objects, bytecode, objects->values[V8_EXPOSED_HEAD],
		      v8_memory_smi((int32_t)len));
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

	start = reserve(objects, V8_CODE, 3 * CODE_ALIGNMENT + size, CODE_ALIGNMENT) +
		2 * CODE_ALIGNMENT;
	if (!has_stream)
		start += CODE_ALIGNMENT / 2;
	put_map(objects, start - header, type);
	return start;
}

void v8_memory_share_handle(struct v8_memory *objects, uint64_t shared, uint64_t object)
{
	uint32_t handle = (uint32_t)object & ~1U;

	v8_memory_put(objects, shared - 1 + objects->values[V8_SHARED_DATA], &handle,
		      sizeof(handle));
	v8_memory_put(objects, object - 1 + v8_word_bytes(&objects->heap), &handle, sizeof(handle));
}

uint64_t v8_memory_put_wrapper(struct v8_memory *objects, uint64_t shared)
{
	if (objects->values[V8_TRUSTED_CAGE] == 0)
		return shared;
	uint64_t wrapper = v8_memory_put_trusted(objects, V8_TYPE_OTHER, 16);
	v8_memory_set(objects, wrapper, v8_word_bytes(&objects->heap), shared);
	return wrapper;
}

/* Puts the Code of a header, whose instructions begin at `start`. */
static uint64_t put_streamed(struct v8_memory *objects, uint64_t header, uint64_t start)
{
	uint64_t code = v8_memory_put_trusted(objects, objects->values[V8_TYPE_CODE], CODE_BYTES);

	v8_memory_set(objects, header + 1, v8_word_bytes(&objects->heap), code);
	if (objects->values[V8_CODE_START] != 0)
		v8_memory_put(objects, code - 1 + objects->values[V8_CODE_START], &start,
			      sizeof(start));
	if (objects->values[V8_CODE_STREAM] != 0)
		v8_memory_set(objects, code, objects->values[V8_CODE_STREAM], header + 1);
	return code;
}

uint64_t v8_memory_put_code(struct v8_memory *objects, uint32_t kind, uint32_t size,
			    uint64_t *ret_start)
{
	bool has_stream = objects->values[V8_TYPE_STREAM] != 0;
	uint64_t start = put_header(
		objects, objects->values[has_stream ? V8_TYPE_STREAM : V8_TYPE_CODE], size);
	uint64_t header = start - objects->values[V8_CODE_HEADER];
	uint64_t code = has_stream ? put_streamed(objects, header, start) : header + 1;

	v8_memory_put(objects, code - 1 + objects->values[V8_CODE_SIZE], &size, sizeof(size));
	v8_memory_put(objects, code - 1 + objects->values[V8_CODE_FLAGS], &kind, sizeof(kind));
	*ret_start = start;
	return code;
}
