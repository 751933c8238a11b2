/* SPDX-License-Identifier: Apache-2.0 */
/* The memory that unwinders read, wherever they run: the chunks of the arena, the table slots, and
 * the mapping tables of processes (bpf/shared/cfi.h). BPF programs read BPF maps; local_unwinder.h
 * reads plain memory.
 *
 * Thread-safe, except the binding of processes, which belongs to one thread, and
 * unwind_memory_add_chunk(). */
#ifndef UNWIND_TABLES_UNWIND_MEMORY_H
#define UNWIND_TABLES_UNWIND_MEMORY_H

#include "base/cleanup.h"
#include "base/err.h"
#include "base/memory_pool.h"
#include "bpf/shared/cfi.h"

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

struct unwind_memory;

/* The chunks as one piece of this process's memory, for the local unwinder. The lock is held while
 * a stack is unwound; unwind_memory_wait() takes it once. */
struct unwind_view {
	uint8_t *arena;
	size_t max_bytes; /* what is behind is in no chunk */
	pthread_mutex_t *unwinding; /* borrowed */
};

/* A piece of a chunk in this process's memory. */
struct unwind_window {
	void *place;
	void *pages; /* what was mapped for it; NULL: nothing */
	size_t len;
};

/* The operations of one kind of memory, as the functions below describe them. */
struct unwind_memory_ops {
	void (*free)(struct unwind_memory *memory);
	int (*add_chunk)(struct unwind_memory *memory, uint32_t index);
	int (*map)(struct unwind_memory *memory, uint64_t address, size_t len,
		   struct unwind_window *ret_window);
	int (*bind)(struct unwind_memory *memory, uint32_t pid, uint64_t binding);
	int (*find_binding)(struct unwind_memory *memory, uint32_t pid, uint64_t *ret_binding);
	int (*set_binding)(struct unwind_memory *memory, uint32_t pid, uint64_t binding);
	int (*open_view)(struct unwind_memory *memory, struct unwind_view *ret_view);
	void (*close_view)(struct unwind_view *view); /* NULL: there is nothing to close */
	int (*wait)(struct unwind_memory *memory);
	int (*find_key)(struct unwind_memory *memory, int fd, struct file_key *ret_key);
	int (*set_file)(struct unwind_memory *memory, const struct file_key *key, uint32_t slot);
	void (*unset_file)(struct unwind_memory *memory, const struct file_key *key, uint32_t slot);
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

/* Makes memory of BPF maps, which are borrowed and outlive it. Errors: -ENOMEM, what mmap(2)
 * says of `tables`. */
int unwind_memory_bpf_new(int arena_fd, int tables_fd, int processes_fd,
			  struct unwind_memory **ret_memory) must_check;

/* More BPF maps, also borrowed, with which unwinders can look into the mappings of processes.
 * `find_key_fd` is the program file_key (bpf/file_key.bpf.c), `found_fd` the map with its
 * answer. */
struct unwind_file_maps {
	int files_fd;
	int found_fd;
	int find_key_fd;
};
void unwind_memory_bpf_know_files(struct unwind_memory *memory,
				  const struct unwind_file_maps *maps);

/* Makes memory of this process. At most `max_bytes`, rounded up to a chunk, are for the arena;
 * pages are touched when they are needed. Errors: -ENOMEM. */
int unwind_memory_local_new(size_t max_bytes, struct unwind_memory **ret_memory) must_check;

void unwind_memory_free(struct unwind_memory *memory);
DEFINE_FREEP(struct unwind_memory, unwind_memory_free)

/* Makes the chunk with this number, all zero, where unwinders can reach it, unless it is there.
 * All chunks before it must be there. Errors: what bpf(2) and mprotect(2) say; -ENOSPC beyond
 * `max_bytes` or what the pool has left. */
int unwind_memory_add_chunk(struct unwind_memory *memory, uint32_t index) must_check;

/* Maps a piece of one chunk for writing, until unwind_memory_unmap(). Errors: what mmap(2) says. */
int unwind_memory_map(struct unwind_memory *memory, uint64_t address, size_t len,
		      struct unwind_window *ret_window) must_check;
void unwind_memory_unmap(struct unwind_window *window);

/* Binds a process to a mapping table, if the unwinder asked for one or has one. Errors: -ENOENT
 * it did not; what bpf(2) says. */
int unwind_memory_bind(struct unwind_memory *memory, uint32_t pid, uint64_t binding) must_check;

/* The binding of a process as unwinders read and note it. Errors: -ENOENT it has none; -ENOMEM;
 * what bpf(2) says. */
int unwind_memory_find_binding(struct unwind_memory *memory, uint32_t pid, uint64_t *ret_binding)
	must_check;
int unwind_memory_set_binding(struct unwind_memory *memory, uint32_t pid, uint64_t binding)
	must_check;

/* Opens a view of all chunks that are there now. While it is open, chunks in BPF maps count as
 * memory of this process. Errors: what mmap(2) says. */
int unwind_memory_open_view(struct unwind_memory *memory, struct unwind_view *ret_view) must_check;
void unwind_memory_close_view(struct unwind_memory *memory, struct unwind_view *view);

/* Finds the key of an open file. To be called by one thread at a time. Errors: -EOPNOTSUPP
 * unwinders do not look into mappings, or the file cannot be mapped; what mmap(2) and bpf(2)
 * say. */
int unwind_memory_find_key(struct unwind_memory *memory, int fd, struct file_key *ret_key)
	must_check;

/* Sets the slot of the file with this key; the second function removes it if it is still this
 * slot. Errors: -EOPNOTSUPP as above; -E2BIG there are MAX_KNOWN_FILES; what bpf(2) says. */
int unwind_memory_set_file(struct unwind_memory *memory, const struct file_key *key, uint32_t slot)
	must_check;
void unwind_memory_unset_file(struct unwind_memory *memory, const struct file_key *key,
			      uint32_t slot);

/* Waits until every stack that is being unwound now is done. Must not be called while this
 * thread unwinds one. Takes tens of milliseconds if the kernel unwinds. Errors: what bpf(2)
 * says. */
int unwind_memory_wait(struct unwind_memory *memory) must_check;

#endif
