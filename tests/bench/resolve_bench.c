/* SPDX-License-Identifier: Apache-2.0 */
/* An address of a file is looked up in the middle of functions that lie evenly over it. Source
 * lines are asked for those of every other function first, by which their compile units are read,
 * and then for the rest. In three runs with a new cache each time, every address is asked for
 * once, then again; the median of the runs counts. libdwfl gets the same addresses, fewer of them
 * where it takes longer than a second. */
#include "symbol_bench.h"

#include "base/clock.h"
#include "cache_files.h"
#include "dwfl_names.h"
#include "symbol/elf/elf_symbols.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#define NR_RUNS 3
#define NR_ROUNDS 20
#define MAX_PLACES 4096
#define MAX_LINES 1024 /* addresses that libdwfl is asked for */
#define BASELINE_NS NSEC_PER_SEC
#define MIN_LINES_EACH 0.5 /* debug information of a few of its units is not worth a line */

enum figure {
	TABLE_MS,
	RAW_NAME_NS,
	NAME_NS,
	NAME_AGAIN_NS,
	OPEN_MS,
	READ_MS, /* the units of every other place, with OPEN_MS */
	LINE_US,
	LINE_AGAIN_NS,
	LINES_EACH,
	DWFL_TABLE_MS,
	DWFL_NAME_NS,
	DWFL_OPEN_MS,
	DWFL_LINE_US,
	DWFL_LINES_EACH,
	NR_FIGURES,
};

struct subject {
	const char *flamelet;
	const char *path;
	uint64_t addresses[MAX_PLACES]; /* of every other function, then of those between */
	uint64_t offsets[MAX_PLACES]; /* in the file, of the same */
	size_t nr_places;
	size_t nr_functions;
	size_t nr_bytes; /* of the table */
	bool has_debug_info;
	size_t nr_debug_bytes; /* of .debug_info */
	size_t nr_line_bytes; /* of what was read of it, in the cache */
	double figures[NR_FIGURES][NR_RUNS];
};

/* False outside of the file's segments. */
static bool find_offset(const struct elf_block *block, uint64_t address, uint64_t *ret_offset)
{
	for (uint32_t i = 0; i < block->header->nr_segments; i++) {
		const struct elf_block_segment *segment = &block->segments[i];

		if (address >= segment->address && address - segment->address < segment->size) {
			*ret_offset = address - segment->address + segment->offset;
			return true;
		}
	}
	return false;
}

static void choose_place(struct subject *subject, const struct elf_block *block, uint32_t number)
{
	const struct elf_block_function *function = &block->functions[number];
	uint64_t address = block->header->base + function->delta + function->size / 2;
	size_t place = subject->nr_places;

	subject->addresses[place] = address;
	subject->nr_places += find_offset(block, address, &subject->offsets[place]);
}

static void choose_places(struct subject *subject, const struct elf_block *block)
{
	uint32_t nr_functions = block->header->nr_functions;
	uint32_t step = nr_functions / MAX_PLACES + 1;

	for (uint32_t i = 0; i < nr_functions; i += 2 * step)
		choose_place(subject, block, i);
	for (uint32_t i = step; i < nr_functions; i += 2 * step)
		choose_place(subject, block, i);
}

static int load_subject(struct subject *subject)
{
	_cleanup_(elf_symbols_freep) struct elf_symbols *symbols = NULL;
	_cleanup_close_ int fd = open(subject->path, O_RDONLY | O_CLOEXEC);
	struct elf_block block;
	size_t len;

	if (fd < 0)
		return -errno;
	int r = elf_symbols_load(fd, CACHE_FILES_MAX_BYTES, &symbols);
	if (r < 0)
		return r;
	const void *bytes = elf_symbols_block(symbols, &len);
	elf_block_find_parts(bytes, &block);
	subject->nr_functions = block.header->nr_functions;
	subject->nr_bytes = elf_symbols_bytes(symbols);
	subject->has_debug_info = elf_symbols_info(symbols)->has_debug_info;
	choose_places(subject, &block);
	return subject->nr_places > 0 ? 0 : -ENOENT;
}

static double per_place(uint64_t ns, size_t nr)
{
	return (double)ns / (double)nr;
}

/* Counts the names from debug information. */
static size_t count_lines(const struct symbol_frames *frames)
{
	size_t nr_lines = 0;

	for (size_t i = 0; i < frames->nr_lines; i++)
		nr_lines += frames->lines[i].filename[0] != '\0';
	return nr_lines;
}

/* Names places once; returns the CPU time of this process. */
static uint64_t symbolize(struct cache_files *files, const struct subject *subject, uint32_t id,
			  size_t nr, uint64_t *ret_nr_lines)
{
	uint64_t begin = clock_read_ns(CLOCK_PROCESS_CPUTIME_ID);
	uint64_t nr_lines = 0;

	for (size_t i = 0; i < nr; i++) {
		struct symbol_frames frames;
		int r = elf_cache_symbolize(files->cache, id, subject->offsets[i], &frames);

		nr_lines += r == 0 ? count_lines(&frames) : 0;
	}
	*ret_nr_lines = nr_lines;
	return clock_read_ns(CLOCK_PROCESS_CPUTIME_ID) - begin;
}

static double symbolize_again_ns(struct cache_files *files, const struct subject *subject,
				 uint32_t id, size_t nr)
{
	uint64_t ns = 0, nr_lines;

	for (int i = 0; i < NR_ROUNDS; i++)
		ns += symbolize(files, subject, id, nr, &nr_lines);
	return per_place(ns, NR_ROUNDS * nr);
}

/* Opens the file in a new cache and waits for its table; *ret_ns is the CPU time that took. */
static int open_in_cache(const struct subject *subject, const struct cache_files_opts *opts,
			 struct cache_files *files, uint32_t *ret_id, uint64_t *ret_ns)
{
	int r = cache_files_init(files, opts);
	if (r < 0)
		return r;
	uint64_t begin = cache_files_cpu_ns(files);
	r = cache_files_open(files, subject->path, ret_id);
	if (r == 0)
		r = cache_files_wait(files);
	*ret_ns = cache_files_cpu_ns(files) - begin;
	return r;
}

/* Asks for the places from `first` on, all at once, until all is known of them; returns the CPU
 * time of all processes. */
static uint64_t ask_for(struct cache_files *files, const struct subject *subject, uint32_t id,
			size_t first, size_t end)
{
	uint64_t begin = cache_files_cpu_ns(files);
	bool is_known = false;

	while (!is_known) {
		is_known = true;
		for (size_t i = first; i < end; i++)
			is_known &= elf_cache_ask(files->cache, id, subject->offsets[i]);
		if (!is_known && cache_files_wait(files) < 0)
			break;
	}
	return cache_files_cpu_ns(files) - begin;
}

static int measure_names(struct subject *subject, enum demangle_style style, int run)
{
	const struct cache_files_opts opts = { subject->flamelet, style, .wants_lines = false };
	_cleanup_(cache_files_done) struct cache_files files = { .proc_fd = -EBADF };
	uint64_t ns, nr_lines;
	uint32_t id;

	int r = open_in_cache(subject, &opts, &files, &id, &ns);
	if (r < 0)
		return r;
	subject->figures[TABLE_MS][run] = (double)ns / 1e6;
	ns = ask_for(&files, subject, id, 0, subject->nr_places);
	ns += symbolize(&files, subject, id, subject->nr_places, &nr_lines);
	subject->figures[style == DEMANGLE_NONE ? RAW_NAME_NS : NAME_NS][run] = per_place(
		ns, subject->nr_places);
	subject->figures[NAME_AGAIN_NS][run] = symbolize_again_ns(&files, subject, id,
								  subject->nr_places);
	return 0;
}

static size_t count_line_places(const struct subject *subject)
{
	return subject->nr_places < MAX_LINES ? subject->nr_places : MAX_LINES;
}

static int measure_lines(struct subject *subject, int run)
{
	const struct cache_files_opts opts = { subject->flamelet, DEMANGLE_SHORT,
					       .wants_lines = true };
	_cleanup_(cache_files_done) struct cache_files files = { .proc_fd = -EBADF };
	size_t nr = subject->nr_places, half = (nr + 1) / 2;
	uint64_t ns, nr_lines;
	uint32_t id;

	int r = open_in_cache(subject, &opts, &files, &id, &ns);
	if (r < 0)
		return r;
	ns = ask_for(&files, subject, id, 0, 1);
	subject->figures[OPEN_MS][run] = (double)ns / 1e6;
	ns += ask_for(&files, subject, id, 1, half);
	subject->figures[READ_MS][run] = (double)ns / 1e6;
	ns = ask_for(&files, subject, id, half, nr);
	subject->figures[LINE_US][run] = per_place(ns, nr > half ? nr - half : 1) / 1e3;
	symbolize(&files, subject, id, nr, &nr_lines);
	subject->nr_line_bytes = elf_cache_get_stats(files.cache).tables.nr_line_bytes;
	subject->figures[LINES_EACH][run] = per_place(nr_lines, nr);
	subject->figures[LINE_AGAIN_NS][run] = symbolize_again_ns(&files, subject, id, nr);
	return 0;
}

static void measure_libdwfl_names(struct subject *subject, const struct dwfl_names *names, int run)
{
	uint64_t begin = clock_read_ns(CLOCK_PROCESS_CPUTIME_ID), now = begin;
	size_t nr_found = 0, i = 0;

	for (; i < subject->nr_places && now - begin < BASELINE_NS; i++) {
		nr_found += dwfl_names_find(names, subject->addresses[i]) != NULL;
		now = clock_read_ns(CLOCK_PROCESS_CPUTIME_ID);
	}
	subject->figures[DWFL_NAME_NS][run] = per_place(now - begin, nr_found > 0 ? i : 1);
}

static void measure_libdwfl_lines(struct subject *subject, const struct dwfl_names *names, int run)
{
	uint64_t begin = clock_read_ns(CLOCK_PROCESS_CPUTIME_ID);
	size_t nr_lines = dwfl_names_count_lines(names, subject->addresses[0]);
	uint64_t opened = clock_read_ns(CLOCK_PROCESS_CPUTIME_ID), now = opened;
	size_t i = 1;

	for (; i < count_line_places(subject) && now - opened < BASELINE_NS; i++) {
		nr_lines += dwfl_names_count_lines(names, subject->addresses[i]);
		now = clock_read_ns(CLOCK_PROCESS_CPUTIME_ID);
	}
	subject->figures[DWFL_OPEN_MS][run] = (double)(opened - begin) / 1e6;
	subject->figures[DWFL_LINE_US][run] = per_place(now - opened, i) / 1e3;
	subject->figures[DWFL_LINES_EACH][run] = per_place(nr_lines, i);
}

static int measure_libdwfl(struct subject *subject, int run)
{
	uint64_t begin = clock_read_ns(CLOCK_PROCESS_CPUTIME_ID);
	struct dwfl_names names;

	int r = dwfl_names_open(subject->path, &names);
	if (r < 0)
		return r;
	dwfl_names_load(&names);
	uint64_t ns = clock_read_ns(CLOCK_PROCESS_CPUTIME_ID) - begin;
	subject->figures[DWFL_TABLE_MS][run] = (double)ns / 1e6;
	measure_libdwfl_names(subject, &names, run);
	if (subject->has_debug_info)
		measure_libdwfl_lines(subject, &names, run);
	subject->nr_debug_bytes = dwfl_names_debug_info_bytes(&names);
	dwfl_names_close(&names);
	return 0;
}

static int measure(struct subject *subject)
{
	int r = 0;

	for (int run = 0; run < NR_RUNS && r == 0; run++) {
		r = measure_names(subject, DEMANGLE_NONE, run);
		if (r == 0)
			r = measure_names(subject, DEMANGLE_SHORT, run);
		if (r == 0 && subject->has_debug_info)
			r = measure_lines(subject, run);
		if (r == 0)
			r = measure_libdwfl(subject, run);
	}
	return r;
}

static int compare(const void *a, const void *b)
{
	double difference = *(const double *)a - *(const double *)b;

	return (difference > 0) - (difference < 0);
}

static double median(struct subject *subject, enum figure figure)
{
	double *runs = subject->figures[figure];

	qsort(runs, NR_RUNS, sizeof(*runs), compare);
	return runs[NR_RUNS / 2];
}

static void print(struct subject *subject)
{
	const char *slash = strrchr(subject->path, '/');
	const char *name = slash ? slash + 1 : subject->path;

	printf("  %-20s names: %zu functions, %.2f MB in %.1f ms; an address %.0f ns (%.0f without "
	       "demangling), again %.0f ns; baseline libdwfl: %.1f ms; %.0f ns, undemangled, "
	       "always\n",
	       name, subject->nr_functions, (double)subject->nr_bytes / 1e6,
	       median(subject, TABLE_MS), median(subject, NAME_NS), median(subject, RAW_NAME_NS),
	       median(subject, NAME_AGAIN_NS), median(subject, DWFL_TABLE_MS),
	       median(subject, DWFL_NAME_NS));
	if (median(subject, LINES_EACH) < MIN_LINES_EACH)
		return;
	double debug_mb = (double)subject->nr_debug_bytes / 1e6;
	printf("  %-20s lines: %.1f ms for the first; %.1f ms, %.2f ms a MB of .debug_info, and "
	       "%.2f "
	       "MB to read %.1f MB once; then an address %.1f us, again %.0f ns, %.2f functions; "
	       "baseline libdwfl: %.1f ms; %.1f us, %.2f functions\n",
	       name, median(subject, OPEN_MS), median(subject, READ_MS),
	       median(subject, READ_MS) / debug_mb, (double)subject->nr_line_bytes / 1e6, debug_mb,
	       median(subject, LINE_US), median(subject, LINE_AGAIN_NS),
	       median(subject, LINES_EACH), median(subject, DWFL_OPEN_MS),
	       median(subject, DWFL_LINE_US), median(subject, DWFL_LINES_EACH));
}

static int bench_file(const char *flamelet, const char *path)
{
	_cleanup_free_ struct subject *subject = calloc(1, sizeof(*subject));

	if (!subject)
		return -ENOMEM;
	subject->flamelet = flamelet;
	subject->path = path;
	symbol_bench_warm(path);
	int r = load_subject(subject);
	if (r == 0)
		r = measure(subject);
	if (r == 0)
		print(subject);
	return r;
}

int resolve_bench(const char *flamelet, char *const *paths, int nr_paths)
{
	for (int i = 0; i < nr_paths; i++) {
		int r = bench_file(flamelet, paths[i]);
		if (r < 0)
			fprintf(stderr, "symbol_bench: %s: %s\n", paths[i], strerror(-r));
		fflush(stdout);
	}
	return 0;
}
