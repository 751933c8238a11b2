/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a process's memory by whole pages, and keeps some of them: for tables whose strings lie
 * close together. */
#ifndef RUNTIME_HOTSPOT_MEMORY_PAGES_H
#define RUNTIME_HOTSPOT_MEMORY_PAGES_H

#include "runtime/process_memory.h"

#include <stddef.h>
#include <stdint.h>

#define MEMORY_PAGES_NR 64
#define MEMORY_PAGE_BYTES 4096

struct memory_pages {
	struct process_memory *memory; /* borrowed */
	char *bytes; /* owned */
	uint64_t addresses[MEMORY_PAGES_NR]; /* 1: none */
};

/* Errors: -ENOMEM. */
int memory_pages_init(struct memory_pages *pages, struct process_memory *memory) must_check;
void memory_pages_done(struct memory_pages *pages);

/* Reads exactly `len` bytes. Errors: those of process_memory_read(). */
int memory_pages_read(struct memory_pages *pages, uint64_t address, void *to, size_t len)
	must_check;

/* Reads a number of this machine. Errors: the same. */
int memory_pages_read_u64(struct memory_pages *pages, uint64_t address, uint64_t *ret) must_check;

/* Reads a string of less than `size` bytes, and its NUL. Errors: -EBADMSG it is longer; those of
 * process_memory_read(). */
int memory_pages_read_string(struct memory_pages *pages, uint64_t address, char *to, size_t size)
	must_check;

#endif
