/* SPDX-License-Identifier: Apache-2.0 */
#include "cpython_memory.h"

#include "bpf/shared/runtime.h"
#include "cpython_naming_table.h"
#include "unit.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define FIRST_ADDRESS 0x1000
#define ALIGNMENT 16

void cpython_memory_init(struct cpython_memory *objects, int minor)
{
	int fd = memfd_create("objects", MFD_CLOEXEC);

	assert_true(fd >= 0);
	*objects = (struct cpython_memory){
		.memory = { .fd = fd, .nr_left = CPYTHON_MEMORY_QUOTA },
		.naming = cpython_naming_of(minor),
		.end = FIRST_ADDRESS,
	};
}

void cpython_memory_done(struct cpython_memory *objects)
{
	close(objects->memory.fd);
}

void cpython_memory_put(struct cpython_memory *objects, uint64_t address, const void *bytes,
			size_t len)
{
	assert_int_equal(pwrite(objects->memory.fd, bytes, len, (off_t)address), len);
	if (address + len > objects->end)
		objects->end = address + len;
}

static uint64_t next_address(const struct cpython_memory *objects)
{
	return (objects->end + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static void put_u64(struct cpython_memory *objects, uint64_t address, uint64_t value)
{
	cpython_memory_put(objects, address, &value, sizeof(value));
}

uint64_t cpython_memory_put_text(struct cpython_memory *objects, uint32_t state, uint64_t length,
				 const void *chars, size_t nr_bytes)
{
	const uint64_t *naming = objects->naming;
	uint64_t address = next_address(objects);
	uint64_t data = naming[state == CPYTHON_ASCII ? CPYTHON_NAMING_ASCII_DATA
						      : CPYTHON_NAMING_COMPACT_DATA];

	put_u64(objects, address + naming[CPYTHON_NAMING_UNICODE_LENGTH], length);
	cpython_memory_put(objects, address + naming[CPYTHON_NAMING_UNICODE_STATE], &state,
			   sizeof(state));
	cpython_memory_put(objects, address + data, chars, nr_bytes);
	return address;
}

uint64_t cpython_memory_put_ascii(struct cpython_memory *objects, const char *text)
{
	return cpython_memory_put_text(objects, CPYTHON_ASCII, strlen(text), text, strlen(text));
}

uint64_t cpython_memory_put_bytes(struct cpython_memory *objects, uint64_t size, const void *bytes,
				  size_t len)
{
	const uint64_t *naming = objects->naming;
	uint64_t address = next_address(objects);

	put_u64(objects, address + naming[CPYTHON_NAMING_BYTES_SIZE], size);
	cpython_memory_put(objects, address + naming[CPYTHON_NAMING_BYTES_DATA], bytes, len);
	return address;
}

uint64_t cpython_memory_put_code(struct cpython_memory *objects,
				 const struct cpython_code_parts *parts)
{
	static const uint8_t zeroes[CPYTHON_NAMING_MAX_CODE_BYTES];
	const uint64_t *naming = objects->naming;
	uint64_t address = next_address(objects);
	uint64_t name = naming[CPYTHON_NAMING_QUALNAME];

	cpython_memory_put(objects, address, zeroes, naming[CPYTHON_NAMING_CODE_BYTES]);
	put_u64(objects, address + (name ? name : naming[CPYTHON_NAMING_NAME]), parts->name);
	put_u64(objects, address + naming[CPYTHON_NAMING_FILENAME], parts->filename);
	put_u64(objects, address + naming[CPYTHON_NAMING_LINETABLE], parts->table);
	cpython_memory_put(objects, address + naming[CPYTHON_NAMING_FIRSTLINENO],
			   &parts->first_line, sizeof(parts->first_line));
	return address;
}

uint16_t cpython_memory_check(struct cpython_memory *objects, uint64_t code)
{
	__u64 words[RUNTIME_CHECK_WORDS];

	assert_int_equal(process_memory_read(&objects->memory,
					     code + objects->naming[CPYTHON_NAMING_CHECK], words,
					     sizeof(words)),
			 0);
	return runtime_check_words(words);
}
