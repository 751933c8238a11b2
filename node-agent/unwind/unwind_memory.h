/* SPDX-License-Identifier: Apache-2.0 */
/* What an unwinder reads, wherever it runs: the arena's chunks, the table slots, and which process has which code list
 * (bpf/shared/cfi.h). BPF programs read BPF maps; without them local_unwinder.h reads plain memory.
 *
 * Thread-safe, but for the binding of processes, which belongs to one thread, and unwind_memory_add_chunk(). */
#ifndef UNWIND_UNWIND_MEMORY_H
#define UNWIND_UNWIND_MEMORY_H

#include "base/cleanup.h"
#include "base/err.h"
#include "base/memory_pool.h"
#include "bpf/shared/cfi.h"

#include <stddef.h>
#include <stdint.h>

struct unwind_memory;

/* A piece of a chunk in this process's memory. */
struct unwind_window {
	void *place;
	void *pages; /* what was mapped for it; NULL: nothing */
	size_t len;
};

/* What one kind of memory does; the functions below say it. */
struct unwind_memory_ops {
	void (*free)(struct unwind_memory *memory);
	int (*add_chunk)(struct unwind_memory *memory, uint32_t index);
	int (*map)(struct unwind_memory *memory, uint64_t address, size_t len,
		   struct unwind_window *ret_window);
	int (*bind)(struct unwind_memory *memory, uint32_t pid, uint64_t binding);
	int (*wait)(struct unwind_memory *memory);
};

/* The first member of each kind. */
struct unwind_memory {
	const struct unwind_memory_ops *ops;
	struct table_slot *tables; /* MAX_TABLE_SLOTS; all access is atomic */
	uint64_t capabilities; /* that adding to it takes */
	struct memory_pool
		*pool; /* borrowed, outlives the memory; NULL: none. Chunks are taken from it */
	uint32_t nr_pooled_chunks;
};

/* Maps of the kernel: borrowed, outlive the memory. Errors: -ENOMEM, what mmap(2) says of `tables`. */
int unwind_memory_bpf_new(int arena_fd, int tables_fd, int processes_fd,
			  struct unwind_memory **ret_memory) must_check;

/* Memory of this process, of which at most `max_bytes` are the arena's (rounded up to a chunk); touched as it is needed.
 * Errors: -ENOMEM. */
int unwind_memory_local_new(size_t max_bytes, struct unwind_memory **ret_memory) must_check;

void unwind_memory_free(struct unwind_memory *memory);
DEFINE_FREEP(struct unwind_memory, unwind_memory_free)

/* Makes the chunk of this number, all zero, where unwinders can reach it, unless it is there. Those before it are. Errors:
 * what bpf(2) and mprotect(2) say; -ENOSPC beyond `max_bytes` or what the pool has left. */
int unwind_memory_add_chunk(struct unwind_memory *memory, uint32_t index) must_check;

/* A piece of one chunk, for writing, until unwind_memory_unmap(). Errors: what mmap(2) says. */
int unwind_memory_map(struct unwind_memory *memory, uint64_t address, size_t len,
		      struct unwind_window *ret_window) must_check;
void unwind_memory_unmap(struct unwind_window *window);

/* Sets which code list a process has, if the unwinder asked for one or has one. Errors: -ENOENT it did not; what bpf(2)
 * says. */
int unwind_memory_bind(struct unwind_memory *memory, uint32_t pid, uint64_t binding) must_check;

/* Waits until every stack that is being unwound now is done. Not while one is being unwound on this thread. Takes tens of
 * milliseconds where the kernel unwinds. Errors: what bpf(2) says. */
int unwind_memory_wait(struct unwind_memory *memory) must_check;

#endif
