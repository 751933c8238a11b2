/* SPDX-License-Identifier: Apache-2.0 */
/* Access of tests to the opaque parts of an ELF cache: to pass time that nobody
 * wants to wait for, to have less memory at once, to see what a table has. Sources named
 * *_inside.c include the product's source of that name, which the linker does not take from the
 * library then. */
#ifndef TESTS_UNIT_ELF_CACHE_INSIDE_H
#define TESTS_UNIT_ELF_CACHE_INSIDE_H

#include "symbol/debug_downloads.h"
#include "symbol/dwarf/cpu_budget.h"
#include "symbol/elf_cache.h"
#include "symbol/file_index.h"
#include "symbol/file_registry.h"
#include "symbol/name_store.h"
#include "symbol/symbol_client.h"
#include "symbol/symbol_jobs.h"

/* One owns the next. */
struct file_registry *inside_registry(const struct elf_cache *cache);
struct name_store *inside_store(const struct elf_cache *cache);
struct symbol_client *inside_client(const struct elf_cache *cache);
struct symbol_jobs *inside_jobs(const struct symbol_client *client);
struct debug_downloads *inside_downloads(const struct symbol_client *client);
struct file_index *inside_files(struct file_registry *registry);

/* The first of its tables, and the one of a file. */
struct name_table *inside_tables(const struct elf_cache *cache);
struct name_table *inside_table(const struct elf_cache *cache, uint32_t id);

struct worker_lanes *inside_lanes(const struct elf_cache *cache);

/* All tables have lost their names, or the files with their lines, at that time. */
void inside_drop_names(const struct elf_cache *cache, uint64_t dropped_ns);
void inside_close_lines(const struct elf_cache *cache, uint64_t dropped_ns);

/* Moves all failures and drops back by so much time. */
void inside_pass_time(const struct elf_cache *cache, uint64_t ns);

/* It has been read and could not be, a moment ago; once. */
void inside_fail_file(const struct elf_cache *cache, uint32_t id, int error);

/* No file waits any more; their descriptors are the caller's to close before. */
void inside_empty_waiting(struct file_registry *registry);

void inside_set_budget(struct name_store *store, size_t max_bytes);
void inside_set_last_key(struct name_store *store, uint64_t key);
uint64_t inside_nr_wraps(const struct name_store *store);

/* All that was looked up. */
void inside_forget_places(struct name_store *store);

/* Time limit of a worker's answer in the slow lane: for all requests, or for tables alone. */
void inside_set_limits(struct symbol_jobs *jobs, const struct worker_limits *limits);
void inside_set_table_limits(struct symbol_jobs *jobs, const struct worker_limits *limits);

struct cpu_budget *inside_lines_budgets(struct symbol_jobs *jobs);

/* The minute is over after which tables ask once more. */
void inside_ask_downloads_again(struct debug_downloads *downloads);

#endif
