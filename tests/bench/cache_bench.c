/* SPDX-License-Identifier: Apache-2.0 */
/* Does with all files what the agent does: opens them as fast as the cache takes them, and asks
 * for the lines of a few addresses of each. What the process and its worker take at most, bench.py
 * watches. */
#include "symbol_bench.h"

#include "base/array.h"
#include "base/clock.h"
#include "cache_files.h"
#include "symbol/file_index.h"

#include <elf.h>
#include <fcntl.h>
#include <inttypes.h>
#include <unistd.h>

#define MAX_FILES ((size_t)FILE_INDEX_MAX)
#define MAX_SEGMENTS 64
#define PLACES_A_FILE 32
#define FILES_A_WINDOW 128

struct cached_file {
	uint32_t id;
	uint64_t offset; /* of its code */
	uint64_t size;
};

struct cached_files {
	struct cached_file items[FILES_A_WINDOW];
	size_t nr_items;
	uint64_t nr_files;
	uint64_t nr_failures;
	uint64_t nr_places;
	uint64_t nr_named;
};

/* Finds the largest executable segment; 0 bytes where there is none. */
static void find_code(const char *path, struct cached_file *file)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	Elf64_Phdr segments[MAX_SEGMENTS];
	Elf64_Ehdr header;

	if (fd < 0 || pread(fd, &header, sizeof(header), 0) != sizeof(header))
		return;
	ssize_t len = pread(fd, segments, sizeof(segments), (off_t)header.e_phoff);
	for (size_t i = 0;
	     i < header.e_phnum && (ssize_t)(i + 1) * (ssize_t)sizeof(*segments) <= len; i++) {
		if (segments[i].p_type != PT_LOAD || !(segments[i].p_flags & PF_X) ||
		    segments[i].p_filesz <= file->size)
			continue;
		file->offset = segments[i].p_offset;
		file->size = segments[i].p_filesz;
	}
}

static void open_file(struct cache_files *cache, const char *path, struct cached_files *files)
{
	struct cached_file *file = &files->items[files->nr_items];

	*file = (struct cached_file){ 0 };
	find_code(path, file);
	if (file->size == 0 || cache_files_open(cache, path, &file->id) < 0) {
		files->nr_failures++;
		return;
	}
	files->nr_files++;
	files->nr_items++;
}

static uint64_t offset_of(const struct cached_file *file, size_t nth)
{
	return file->offset + file->size / PLACES_A_FILE * nth;
}

/* Asks for all names. Returns whether all of them are known. */
static bool ask(struct cache_files *cache, const struct cached_files *files)
{
	bool is_known = true;

	for (size_t i = 0; i < files->nr_items; i++)
		for (size_t nth = 0; nth < PLACES_A_FILE; nth++)
			is_known &= elf_cache_ask(cache->cache, files->items[i].id,
						  offset_of(&files->items[i], nth));
	return is_known;
}

static void name(struct cache_files *cache, struct cached_files *files)
{
	for (size_t i = 0; i < files->nr_items * PLACES_A_FILE; i++) {
		const struct cached_file *file = &files->items[i / PLACES_A_FILE];
		struct symbol_frames frames;

		files->nr_places++;
		files->nr_named += elf_cache_symbolize(cache->cache, file->id,
						       offset_of(file, i % PLACES_A_FILE),
						       &frames) == 0;
	}
	files->nr_items = 0;
}

static int finish_window(struct cache_files *cache, struct cached_files *files)
{
	int r = 0;

	while (r == 0 && !ask(cache, files))
		r = cache_files_wait(cache);
	name(cache, files);
	return r;
}

static void print(struct cache_files *cache, const struct cached_files *files, uint64_t wall_ns)
{
	uint64_t cpu_ns = cache_files_cpu_ns(cache);
	struct elf_cache_stats stats = elf_cache_get_stats(cache->cache);

	printf("  %" PRIu64 " files, %" PRIu64 " not opened; %" PRIu64 " addresses, %.1f %% named; "
	       "%.1f s CPU (worker %.1f), %.1f s; tables %" PRIu64 ", dropped %" PRIu64
	       ", %.1f MB; workers %" PRIu64 ", timeouts %" PRIu64 ", deaths %" PRIu64
	       ", bad files %" PRIu64 "\n",
	       files->nr_files, files->nr_failures, files->nr_places,
	       100 * (double)files->nr_named / (double)(files->nr_places + !files->nr_places),
	       (double)cpu_ns / 1e9, (double)stats.worker.cpu_ns / 1e9, (double)wall_ns / 1e9,
	       stats.tables.nr_tables, stats.tables.nr_evicted, (double)stats.tables.nr_bytes / 1e6,
	       stats.worker.nr_started, stats.worker.nr_timeouts, stats.worker.nr_deaths,
	       stats.files.nr_bad_files);
}

int cache_bench(const char *flamelet)
{
	const struct cache_files_opts opts = { flamelet, DEMANGLE_SHORT, .wants_lines = true };
	_cleanup_(cache_files_done) struct cache_files cache = { .proc_fd = -EBADF };
	struct cached_files files = { 0 };
	uint64_t begin_ns = clock_mono_ns();
	char path[SYMBOL_BENCH_MAX_PATH];

	int r = cache_files_init(&cache, &opts);
	while (r == 0 && symbol_bench_next_path(path)) {
		open_file(&cache, path, &files);
		if (files.nr_items == FILES_A_WINDOW)
			r = finish_window(&cache, &files);
	}
	if (r == 0)
		r = finish_window(&cache, &files);
	if (r < 0) {
		fprintf(stderr, "symbol_bench: %s\n", strerror(-r));
		return 1;
	}
	print(&cache, &files, clock_mono_ns() - begin_ns);
	return 0;
}
