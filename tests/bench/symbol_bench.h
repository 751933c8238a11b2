/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of symbol_bench. Each prints what it measured and returns an exit status. */
#ifndef BENCH_SYMBOL_BENCH_H
#define BENCH_SYMBOL_BENCH_H

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define SYMBOL_BENCH_MAX_PATH 4096

/* Measures the cost of an address in each of these files, the first time and again. */
int resolve_bench(const char *flamelet, char *const *paths, int nr_paths);

/* The tables of all files whose paths are lines of the input, kept in memory: ours, libdwfl's. */
int table_bench_ours(void);
int table_bench_libdwfl(void);

/* An ELF cache with the agent's budget and its worker, for all these files. */
int cache_bench(const char *flamelet);

/* The next line of the input, NULL at its end; borrowed until the next call. */
static inline const char *symbol_bench_next_path(char path[static SYMBOL_BENCH_MAX_PATH])
{
	if (!fgets(path, SYMBOL_BENCH_MAX_PATH, stdin))
		return NULL;
	path[strcspn(path, "\n")] = '\0';
	return path;
}

/* Resident memory of this process now. */
struct symbol_bench_memory {
	double mb; /* all of it */
	double anonymous_mb; /* without what is mapped from files */
};

struct symbol_bench_memory symbol_bench_get_memory(void);

/* Reads a file once, so that what is measured finds it in memory. */
void symbol_bench_warm(const char *path);

#endif
