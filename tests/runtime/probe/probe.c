/* SPDX-License-Identifier: Apache-2.0 */
/* probe FILE...	prints the runtimes that are found in ELF files, and their values
 * probe --pid PID	prints the same of the files and of the memory of a process
 *
 * A process of another user needs the privileges of ptrace(2). */
#include "probe.h"

#include "base/cleanup.h"
#include "base/fileio.h"
#include "process/maps_parser.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_MAPS_BYTES ((size_t)16 << 20)
#define MAX_READ_BYTES ((uint64_t)64 << 20)
#define PAGE_BYTES 4096
#define STATUS_USAGE 2

static const struct probe_runtime runtimes[] = {
	{ &cpython_runtime, probe_cpython_print_file, probe_cpython_print_found },
	{ &hotspot_runtime, NULL, NULL },
	{ &v8_runtime, NULL, NULL },
};

static const char *const states[] = {
	[RUNTIME_READY] = "ready",
	[RUNTIME_PENDING] = "pending",
	[RUNTIME_UNSUPPORTED] = "unsupported",
};

/* Returns the runtime of a file, or NULL. */
static const struct probe_runtime *read_file(struct elf_reader *reader, struct runtime_file *file)
{
	struct elf_exports exports;

	if (elf_exports_init(&exports, reader) < 0)
		return NULL;
	for (size_t i = 0; i < array_len(runtimes); i++)
		if (runtimes[i].ops->read_file(&exports, file) > 0)
			return &runtimes[i];
	return NULL;
}

/* The runtime's sources have the meanings of the numbers. */
static void print_numbers(const char *label, const uint64_t *values, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (values[i] != 0)
			printf("  %s[%zu] %#" PRIx64 "\n", label, i, values[i]);
}

static void print_file(const char *path, const struct probe_runtime *runtime,
		       const struct runtime_file *file)
{
	printf("%s: %s %u.%u.%u\n", path, runtime->ops->label, file->version >> 24,
	       file->version >> 16 & 0xff, file->version >> 8 & 0xff);
	if (runtime->print_file)
		runtime->print_file(file);
	else
		print_numbers("file", file->values, RUNTIME_FILE_VALUES);
}

static int probe_file(const char *path)
{
	_cleanup_(elf_reader_done) struct elf_reader reader = { .fd = -EBADF };
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	const struct probe_runtime *runtime;
	struct runtime_file file;

	int r = fd < 0 ? -errno : elf_reader_init(&reader, fd);
	if (r < 0) {
		fprintf(stderr, "probe: %s: %s\n", path, strerror(-r));
		return EXIT_FAILURE;
	}
	runtime = read_file(&reader, &file);
	if (runtime)
		print_file(path, runtime, &file);
	else
		printf("%s: no runtime\n", path);
	return EXIT_SUCCESS;
}

/* Returns the difference between addresses of the process and those of the file. */
static uint64_t bias_of(const struct elf_reader *reader, const struct maps_line *line)
{
	for (size_t i = 0; i < reader->nr_segments; i++) {
		const GElf_Phdr *segment = &reader->segments[i];

		if (segment->p_type == PT_LOAD &&
		    line->file_offset >= segment->p_offset / PAGE_BYTES * PAGE_BYTES &&
		    line->file_offset < segment->p_offset + segment->p_filesz)
			return line->start - line->file_offset + segment->p_offset -
			       segment->p_vaddr;
	}
	return 0;
}

static void print_process(const struct probe_runtime *runtime, const struct runtime_file *file,
			  int memory_fd, uint64_t bias)
{
	struct process_memory memory = { .fd = memory_fd, .nr_left = MAX_READ_BYTES };
	struct runtime_found found;

	int r = runtime->ops->inspect(&memory, file, bias, &found);
	if (r < 0) {
		printf("  not readable: %s\n", strerror(-r));
		return;
	}
	printf("  %s%s%s, %s, %" PRIu64 " bytes read\n", states[found.state],
	       found.reason[0] ? ": " : "", found.reason,
	       !found.is_shared	 ? "for this process"
	       : found.is_likely ? "for most processes of the file"
				 : "for all processes of the file",
	       MAX_READ_BYTES - memory.nr_left);
	if (found.state != RUNTIME_READY)
		return;
	if (runtime->print_found)
		runtime->print_found(&found);
	else
		print_numbers("naming", found.naming, RUNTIME_NAMING_VALUES);
}

/* Files that have several executable mappings follow each other. */
static bool is_same_file(const struct maps_line *a, const struct maps_line *b)
{
	return a->inode == b->inode && a->dev_major == b->dev_major && a->dev_minor == b->dev_minor;
}

static void probe_mapping(const char *pid, const struct maps_line *line, int memory_fd)
{
	_cleanup_(elf_reader_done) struct elf_reader reader = { .fd = -EBADF };
	const struct probe_runtime *runtime;
	_cleanup_close_ int fd = -EBADF;
	struct runtime_file file;
	char path[128];

	snprintf(path, sizeof(path), "/proc/%s/map_files/%" PRIx64 "-%" PRIx64, pid, line->start,
		 line->end);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || elf_reader_init(&reader, fd) < 0)
		return;
	runtime = read_file(&reader, &file);
	if (!runtime)
		return;
	snprintf(path, sizeof(path), "%.*s", (int)line->path_len, line->path);
	print_file(path, runtime, &file);
	print_process(runtime, &file, memory_fd, bias_of(&reader, line));
}

static int probe_process(const char *pid)
{
	_cleanup_(strbuf_done) struct strbuf maps = strbuf_with_max(MAX_MAPS_BYTES);
	_cleanup_close_ int memory = -EBADF;
	struct maps_parser parser;
	struct maps_line line, last = { 0 };
	char path[64];

	snprintf(path, sizeof(path), "/proc/%s/mem", pid);
	memory = open(path, O_RDONLY | O_CLOEXEC);
	snprintf(path, sizeof(path), "/proc/%s/maps", pid);
	if (memory < 0 || file_read_at(AT_FDCWD, path, &maps) < 0) {
		fprintf(stderr, "probe: cannot read process %s\n", pid);
		return EXIT_FAILURE;
	}
	maps_parser_init(&parser, maps.data, maps.len);
	while (maps_parser_next(&parser, &line)) {
		if (!line.is_executable || line.inode == 0 || is_same_file(&line, &last))
			continue;
		probe_mapping(pid, &line, memory);
		last = line;
	}
	return EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
	int status = EXIT_SUCCESS;

	if (argc < 2) {
		fprintf(stderr, "usage: probe FILE...\n       probe --pid PID\n");
		return STATUS_USAGE;
	}
	if (strcmp(argv[1], "--pid") == 0 && argc == 3)
		return probe_process(argv[2]);
	for (int i = 1; i < argc; i++)
		if (probe_file(argv[i]) != EXIT_SUCCESS)
			status = EXIT_FAILURE;
	return status;
}
