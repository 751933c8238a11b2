/* SPDX-License-Identifier: Apache-2.0 */
/* The symbols of one ELF file, or of several that are copies of each other, with the names demangled so
 * far. Belongs to the loader thread, except `nr_refs`, `has_names` and `dropped_ns`: elf_cache's lock. */
#ifndef SYMBOL_ELF_TABLE_H
#define SYMBOL_ELF_TABLE_H

#include "base/htable.h"
#include "symbol/elf_cache.h"
#include "symbol/elf_fingerprint.h"

#include <stdbool.h>

struct pretty_name;

struct elf_table {
	struct elf_table *next; /* in elf_cache's list */
	struct elf_fingerprint print;
	bool has_print; /* else it is like no other */
	struct elf_symbols *symbols; /* owned */
	bool has_names; /* not dropped */
	uint64_t dropped_ns; /* when, by CLOCK_MONOTONIC */
	uint64_t last_use;
	unsigned int nr_refs; /* files that have it */
	struct htable pretty_index; /* by symbol address */
	struct pretty_name *pretty; /* owned */
	size_t nr_pretty;
	size_t cap_pretty;
	size_t pretty_bytes;
};

/* Reads the file and makes a table of it; `print` is NULL or its fingerprint.
 * Errors: as elf_symbols_load(). */
int elf_table_new(int fd, const struct elf_fingerprint *print, size_t max_bytes,
		  struct elf_table **ret_table) must_check;
void elf_table_free(struct elf_table *table);
DEFINE_FREEP(struct elf_table, elf_table_free)

/* Forgets all names, keeps what gives virtual addresses. */
void elf_table_drop_names(struct elf_table *table, uint64_t now_ns);

/* Memory it holds. */
size_t elf_table_bytes(const struct elf_table *table);

/* As elf_cache_symbolize(). Demangled names are kept up to `max_pretty_bytes`, then all made anew. */
int elf_table_symbolize(struct elf_table *table, uint64_t file_offset, size_t max_pretty_bytes,
			struct elf_frame *ret_frame) must_check;

#endif
