/* SPDX-License-Identifier: Apache-2.0 */
/* A load for benchmarks: `map_files SECONDS FILES_A_SECOND` maps a page of each executable segment
 * of every ELF file whose path is a line of its input, as fast as asked, prints how many files that
 * were, and burns CPU time until SECONDS have passed since then, so that a profiler that looks at
 * the processes it samples has to know all of them. */
#include "base/cleanup.h"
#include "base/clock.h"

#include <elf.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MAX_SEGMENTS 64
#define PAGE_BYTES UINT64_C(4096)

static volatile uint64_t sink;

static void spin_until(uint64_t until_ns)
{
	while (clock_mono_ns() < until_ns) {
		for (int i = 0; i < 10000; i++)
			sink++;
	}
}

static bool read_headers(int fd, Elf64_Ehdr *header, Elf64_Phdr segments[static MAX_SEGMENTS])
{
	if (pread(fd, header, sizeof(*header), 0) != sizeof(*header) ||
	    memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
	    header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_phnum > MAX_SEGMENTS)
		return false;

	ssize_t len = header->e_phnum * (ssize_t)sizeof(*segments);
	return pread(fd, segments, (size_t)len, (off_t)header->e_phoff) == len;
}

/* Maps a file. Returns whether at least one segment was mapped. */
static bool map_file(const char *path)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	Elf64_Phdr segments[MAX_SEGMENTS];
	Elf64_Ehdr header;
	bool is_mapped = false;

	if (fd < 0 || !read_headers(fd, &header, segments))
		return false;
	for (int i = 0; i < header.e_phnum; i++) {
		if (segments[i].p_type != PT_LOAD || !(segments[i].p_flags & PF_X))
			continue;
		off_t offset = (off_t)(segments[i].p_offset & ~(PAGE_BYTES - 1));
		is_mapped |= mmap(NULL, PAGE_BYTES, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd,
				  offset) != MAP_FAILED;
	}
	return is_mapped;
}

int main(int argc, char **argv)
{
	char path[4096];
	unsigned int nr_mapped = 0;

	if (argc != 3) {
		fprintf(stderr, "usage: map_files SECONDS FILES_A_SECOND < PATHS\n");
		return 2;
	}
	uint64_t seconds = strtoull(argv[1], NULL, 10);
	uint64_t rate = strtoull(argv[2], NULL, 10);
	uint64_t pause_ns = rate > 0 ? NSEC_PER_SEC / rate : 0;
	uint64_t next_ns = clock_mono_ns();

	while (fgets(path, sizeof(path), stdin)) {
		path[strcspn(path, "\n")] = '\0';
		nr_mapped += map_file(path);
		next_ns += pause_ns;
		spin_until(next_ns);
	}
	printf("%u\n", nr_mapped);
	fflush(stdout);
	spin_until(clock_mono_ns() + seconds * NSEC_PER_SEC);
	return 0;
}
