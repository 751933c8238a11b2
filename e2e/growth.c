/* SPDX-License-Identifier: Apache-2.0 */
/* A program that makes its resident memory grow in several ways, and knows by how much:
 *
 *	growth MB FILE WAYS…
 *
 * For each way it prints its name, its process, the kind of memory and the bytes by which that kind
 * has grown, as /proc/self/status says. FILE has at least MB megabytes. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE 4096
#define MB (1UL << 20)
#define REST_US 7000

static size_t bytes;
static const char *path;
static volatile char sink;

static long read_status(const char *field)
{
	char line[256];
	long kilobytes = -1;
	FILE *file = fopen("/proc/self/status", "re");

	while (file && fgets(line, sizeof(line), file))
		if (strncmp(line, field, strlen(field)) == 0)
			kilobytes = (long)strtoul(line + strlen(field) + 1, NULL, 10);
	if (file)
		fclose(file);
	return kilobytes * 1024;
}

static char *map(int flags, int fd)
{
	char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, fd, 0);

	if (memory == MAP_FAILED) {
		perror("mmap");
		exit(EXIT_FAILURE);
	}
	return memory;
}

/* Rests after each megabyte: of memory that grows faster than 100 MB a second and CPU, the profiler
 * takes fewer stacks. */
static void rest(size_t done)
{
	if (done % MB == 0)
		usleep(REST_US);
}

__attribute__((noinline)) void grow_small(char *memory)
{
	for (size_t i = 0; i < bytes; i += PAGE) {
		memory[i] = 1;
		rest(i);
	}
}

__attribute__((noinline)) void grow_huge(char *memory)
{
	for (size_t i = 0; i < bytes; i += PAGE) {
		memory[i] = 1;
		rest(i);
	}
}

__attribute__((noinline)) void grow_copied(char *memory)
{
	for (size_t i = 0; i < bytes; i += PAGE) {
		memory[i] = 2;
		rest(i);
	}
}

__attribute__((noinline)) void grow_file(const char *memory)
{
	for (size_t i = 0; i < bytes; i += PAGE) {
		sink += memory[i];
		rest(i);
	}
}

__attribute__((noinline)) void grow_shared(char *memory)
{
	for (size_t i = 0; i < bytes; i += PAGE) {
		memory[i] = 1;
		rest(i);
	}
}

/* Reads from a file into new memory: the kernel touches it. */
__attribute__((noinline)) void grow_by_read(char *memory)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t done = 0;
	ssize_t got = 1;

	while (fd >= 0 && done < bytes && got > 0) {
		got = read(fd, memory + done, bytes - done < 65536 ? bytes - done : 65536);
		done += got > 0 ? (size_t)got : 0;
		rest(done);
	}
	close(fd);
}

static void tell(const char *way, const char *field, long before)
{
	printf("%s %d %s %ld\n", way, getpid(), field, read_status(field) - before);
	fflush(stdout);
}

static void run_anonymous(const char *way, int advice, void (*grow)(char *memory))
{
	char *memory = map(MAP_PRIVATE | MAP_ANONYMOUS, -1);
	long before = read_status("RssAnon");

	madvise(memory, bytes, advice);
	grow(memory);
	tell(way, "RssAnon", before);
	munmap(memory, bytes);
}

/* The child writes to a private mapping of a file: each page becomes a copy of its own. */
static void run_fork(const char *way)
{
	char *memory = map(MAP_PRIVATE, open(path, O_RDONLY | O_CLOEXEC));
	long before;
	pid_t child;

	sink = memory[0];
	child = fork();
	if (child != 0) {
		waitpid(child, NULL, 0);
		munmap(memory, bytes);
		return;
	}
	before = read_status("RssAnon");
	grow_copied(memory);
	tell(way, "RssAnon", before);
	_exit(EXIT_SUCCESS);
}

static void run_file(const char *way)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);
	char *memory = map(MAP_SHARED, fd);
	long before = read_status("RssFile");

	grow_file(memory);
	tell(way, "RssFile", before);
	munmap(memory, bytes);
	close(fd);
}

static void run_shared(const char *way)
{
	char *memory = map(MAP_SHARED | MAP_ANONYMOUS, -1);
	long before = read_status("RssShmem");

	grow_shared(memory);
	tell(way, "RssShmem", before);
	munmap(memory, bytes);
}

static void run(const char *way)
{
	if (strcmp(way, "grow_small") == 0)
		run_anonymous(way, MADV_NOHUGEPAGE, grow_small);
	else if (strcmp(way, "grow_huge") == 0)
		run_anonymous(way, MADV_HUGEPAGE, grow_huge);
	else if (strcmp(way, "grow_by_read") == 0)
		run_anonymous(way, MADV_NOHUGEPAGE, grow_by_read);
	else if (strcmp(way, "grow_copied") == 0)
		run_fork(way);
	else if (strcmp(way, "grow_file") == 0)
		run_file(way);
	else if (strcmp(way, "grow_shared") == 0)
		run_shared(way);
}

int main(int argc, char **argv)
{
	if (argc < 4)
		return EXIT_FAILURE;
	bytes = strtoul(argv[1], NULL, 10) * MB;
	path = argv[2];
	sleep(1); /* the profiler gets to know the program */
	for (int i = 3; i < argc; i++)
		run(argv[i]);
	return EXIT_SUCCESS;
}
