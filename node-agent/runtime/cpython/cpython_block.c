/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/cpython/cpython_block.h"

#include <stdbool.h>
#include <string.h>

#define MIN_BLOCK_BYTES 512
#define MAX_BLOCK_BYTES 4096
#define BLOCK_ALIGNMENT 16

/* The vector: 16 bytes for a counter, then 16 for each module, which begin with the address of the
 * module's TLS block. */
#define NR_MODULES 16
#define MODULE_BYTES 16

/* The first block begins behind two words, as the alignment of its variables wants. */
#define HEAD_BYTES 16
#define MAX_STATIC_BYTES 8192
#define MAX_CHECKED 8 /* threads */

static bool is_static_block(uint64_t block, uint64_t thread_pointer)
{
	return block - thread_pointer >= HEAD_BYTES && block - thread_pointer <= MAX_STATIC_BYTES &&
	       block > thread_pointer;
}

/* Returns whether an address is that of the vector of the thread with this thread pointer. */
static bool is_vector(struct process_memory *memory, uint64_t address, uint64_t thread_pointer)
{
	uint8_t bytes[NR_MODULES * MODULE_BYTES];
	uint64_t block;
	ssize_t n;

	if (address % sizeof(uint64_t) != 0 || address < MAX_BLOCK_BYTES)
		return false;
	n = process_memory_read_some(memory, address + MODULE_BYTES, bytes, sizeof(bytes));
	for (ssize_t at = 0; at + MODULE_BYTES <= n; at += MODULE_BYTES) {
		memcpy(&block, bytes + at, sizeof(block));
		if (is_static_block(block, thread_pointer))
			return true;
	}
	return false;
}

/* Returns whether all threads have a vector at that distance. */
static bool is_of_all(struct process_memory *memory, const struct cpython_threads *threads,
		      uint32_t distance)
{
	uint64_t address;

	for (size_t i = 0; i < threads->nr && i < MAX_CHECKED; i++) {
		uint64_t pointer = threads->items[i].pointer + distance;

		if (process_memory_read_u64(memory, pointer, &address) == 0 &&
		    !is_vector(memory, address, pointer))
			return false;
	}
	return true;
}

uint32_t cpython_block_bytes(struct process_memory *memory, const struct cpython_threads *threads)
{
	uint8_t bytes[MAX_BLOCK_BYTES];
	uint64_t word;
	ssize_t n = 0;
	uint64_t block = threads->nr > 0 ? threads->items[threads->nr - 1].pointer : 0;

	if (block != 0)
		n = process_memory_read_some(memory, block, bytes, sizeof(bytes));
	for (uint32_t at = MIN_BLOCK_BYTES; at + sizeof(word) <= (size_t)n; at += BLOCK_ALIGNMENT) {
		memcpy(&word, bytes + at, sizeof(word));
		if (is_vector(memory, word, block + at) && is_of_all(memory, threads, at))
			return at;
	}
	return 0;
}
