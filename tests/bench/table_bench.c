/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of functions, all in memory at the end. libdwfl maps files and keeps them so; it has
 * no table but the file's. */
#include "symbol_bench.h"

#include "base/array.h"
#include "base/clock.h"
#include "dwfl_names.h"
#include "symbol/elf/elf_symbols.h"
#include "symbol/elf/symbol_source.h"

#include <fcntl.h>
#include <inttypes.h>
#include <sys/resource.h>
#include <unistd.h>

#define MAX_FILES ((size_t)65536)
#define MAX_TABLE_BYTES ((size_t)256 << 20)

struct source {
	const char *name;
	int (*add)(struct symbol_file *file);
	uint64_t nr_files;
	uint64_t nr_functions; /* several sources may have the same one */
};

struct tables {
	struct elf_symbols **items; /* owned */
	size_t nr_items, cap_items;
	uint64_t nr_without; /* functions */
	uint64_t nr_failures;
	uint64_t nr_functions;
	uint64_t nr_bytes;
	uint64_t max_bytes;
	uint64_t ns;
};

static struct source sources[] = {
	{ .name = ".symtab", .add = symbol_source_symtab },
	{ .name = ".dynsym", .add = symbol_source_dynsym },
	{ .name = "MiniDebugInfo", .add = symbol_source_minidebug },
	{ .name = ".gopclntab", .add = symbol_source_go },
	{ .name = "plt", .add = symbol_source_plt },
};

static uint64_t cpu_ns(void)
{
	return clock_read_ns(CLOCK_THREAD_CPUTIME_ID);
}

static void symbol_file_done(struct symbol_file *file)
{
	elf_symbol_list_done(&file->list);
	minidebug_close(&file->minidebug);
	strbuf_done(&file->plt_names);
	elf_section_names_done(&file->section_names);
	elf_reader_done(&file->reader);
}

/* Counts what each source has, without making a table of it. */
static void count_sources(int fd)
{
	_cleanup_(symbol_file_done) struct symbol_file file = { .reader.fd = -EBADF,
								.max_bytes = MAX_TABLE_BYTES };

	if (elf_reader_init(&file.reader, fd) < 0 ||
	    elf_section_names_load(&file.section_names, &file.reader) < 0 ||
	    elf_symbol_list_init(&file.list, &file.reader, MAX_TABLE_BYTES) < 0)
		return;
	for (size_t i = 0; i < array_len(sources); i++) {
		size_t before = file.list.nr_symbols;

		if (sources[i].add(&file) < 0 || file.list.nr_symbols == before)
			continue;
		sources[i].nr_files++;
		sources[i].nr_functions += file.list.nr_symbols - before;
	}
}

static int add_table(struct tables *tables, struct elf_symbols *symbols)
{
	size_t bytes = elf_symbols_bytes(symbols);
	struct elf_block block;
	size_t len;

	/* NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers */
	int r = array_grow(tables->items, tables->cap_items, tables->nr_items + 1, MAX_FILES);
	if (r < 0)
		return r;
	tables->items[tables->nr_items++] = symbols;
	elf_block_find_parts(elf_symbols_block(symbols, &len), &block);
	tables->nr_functions += block.header->nr_functions;
	tables->nr_without += block.header->nr_functions == 0;
	tables->nr_bytes += bytes;
	tables->max_bytes = bytes > tables->max_bytes ? bytes : tables->max_bytes;
	return 0;
}

static void load_table(struct tables *tables, const char *path)
{
	_cleanup_(elf_symbols_freep) struct elf_symbols *symbols = NULL;
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	count_sources(fd); /* reads the parts that are needed once */
	uint64_t begin = cpu_ns();
	int r = elf_symbols_load(fd, MAX_TABLE_BYTES, &symbols);
	tables->ns += cpu_ns() - begin;
	if (r == 0)
		r = add_table(tables, symbols);
	if (r == 0)
		take_ptr(symbols);
	tables->nr_failures += r < 0;
}

static void print_tables(const struct tables *tables)
{
	printf("  flamelet: %zu tables in %.2f s CPU, %.1f MB, largest %.1f MB; %" PRIu64
	       " functions, %" PRIu64 " files without, %" PRIu64 " failures\n",
	       tables->nr_items, (double)tables->ns / 1e9, (double)tables->nr_bytes / 1e6,
	       (double)tables->max_bytes / 1e6, tables->nr_functions, tables->nr_without,
	       tables->nr_failures);
	printf("  of sources, before one is left for each address:");
	for (size_t i = 0; i < array_len(sources); i++)
		printf(" %s %" PRIu64 " in %" PRIu64 " files%s", sources[i].name,
		       sources[i].nr_functions, sources[i].nr_files,
		       i + 1 < array_len(sources) ? "," : "\n");
}

static void free_tables(struct tables *tables)
{
	for (size_t i = 0; i < tables->nr_items; i++)
		elf_symbols_free(tables->items[i]);
	free(tables->items);
}

int table_bench_ours(void)
{
	_cleanup_(free_tables) struct tables tables = { 0 };
	char path[SYMBOL_BENCH_MAX_PATH];

	while (symbol_bench_next_path(path))
		load_table(&tables, path);
	print_tables(&tables);
	return 0;
}

/* libdwfl may hold a descriptor for each file. */
static void allow_open_files(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return;
	limit.rlim_cur = limit.rlim_max;
	if (setrlimit(RLIMIT_NOFILE, &limit) < 0)
		fprintf(stderr, "symbol_bench: descriptors are limited\n");
}

int table_bench_libdwfl(void)
{
	_cleanup_free_ struct dwfl_names *names = calloc(MAX_FILES, sizeof(*names));
	struct symbol_bench_memory before = symbol_bench_get_memory();
	uint64_t ns = 0, nr_entries = 0;
	char path[SYMBOL_BENCH_MAX_PATH];
	size_t nr = 0;

	allow_open_files();
	while (names && nr < MAX_FILES && symbol_bench_next_path(path)) {
		symbol_bench_warm(path);
		uint64_t begin = cpu_ns();
		if (dwfl_names_open(path, &names[nr]) == 0)
			nr_entries += dwfl_names_load(&names[nr++]);
		ns += cpu_ns() - begin;
	}
	struct symbol_bench_memory after = symbol_bench_get_memory();
	printf("  baseline libdwfl: %zu tables in %.2f s CPU, %.1f MB resident, of it %.1f MB not "
	       "mapped from files; %" PRIu64 " entries of all kinds\n",
	       nr, (double)ns / 1e9, after.mb - before.mb, after.anonymous_mb - before.anonymous_mb,
	       nr_entries);
	while (nr > 0)
		dwfl_names_close(&names[--nr]);
	return 0;
}
