/* SPDX-License-Identifier: Apache-2.0 */
/* Measures the cost of names:
 *
 *	symbol_bench resolve FLAMELET PATH...		an address, first and again
 *	symbol_bench tables < PATHS			the tables of functions of many files
 *	symbol_bench libdwfl-tables < PATHS		the same by libdwfl
 *	symbol_bench cache FLAMELET < PATHS		the agent's cache and its worker with as many files
 *
 * FLAMELET is the program whose `symbol-worker` reads the files. Figures are CPU times: of this
 * process and, where there is one, of the worker. Before anything is timed a file is read once. */
#include "symbol_bench.h"

#include "base/cleanup.h"

#include <fcntl.h>
#include <unistd.h>

#define READ_BYTES 16384

void symbol_bench_warm(const char *path)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	char bytes[READ_BYTES];

	while (fd >= 0 && read(fd, bytes, sizeof(bytes)) > 0)
		;
}

struct symbol_bench_memory symbol_bench_get_memory(void)
{
	_cleanup_fclose_ FILE *file = fopen("/proc/self/statm", "re");
	unsigned long nr_pages = 0, nr_shared = 0;

	if (!file || fscanf(file, "%*u %lu %lu", &nr_pages, &nr_shared) != 2)
		return (struct symbol_bench_memory){ 0 };
	double page_mb = (double)sysconf(_SC_PAGESIZE) / 1e6;
	return (struct symbol_bench_memory){
		.mb = (double)nr_pages * page_mb,
		.anonymous_mb = (double)(nr_pages - nr_shared) * page_mb,
	};
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";

	if (argc > 3 && strcmp(mode, "resolve") == 0)
		return resolve_bench(argv[2], argv + 3, argc - 3);
	if (argc == 2 && strcmp(mode, "tables") == 0)
		return table_bench_ours();
	if (argc == 2 && strcmp(mode, "libdwfl-tables") == 0)
		return table_bench_libdwfl();
	if (argc == 3 && strcmp(mode, "cache") == 0)
		return cache_bench(argv[2]);
	fprintf(stderr, "usage: symbol_bench resolve FLAMELET PATH... | tables | libdwfl-tables | "
			"cache FLAMELET\n");
	return 2;
}
