/* SPDX-License-Identifier: Apache-2.0 */
/* Runs loops that stand in files, which need not be programs that anybody could start:
 *
 *	mapper PATH:OFFSET:COUNT:STRIDE ...
 *
 * At OFFSET, and COUNT - 1 times STRIDE bytes behind that, stands code that counts down its first
 * argument and returns. Each file's pages with it are mapped to be executed; all loops run in turn
 * until somebody kills the process. Files that cannot be mapped are left out. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MAX_FILES 256
#define TURNS_OF_ALL 40000000UL /* some tens of milliseconds */

struct loops {
	char *first;
	unsigned long count, stride;
};

static int map_loops(const char *what, struct loops *loops)
{
	char path[4096];
	unsigned long offset;

	if (sscanf(what, "%4095[^:]:%lu:%lu:%lu", path, &offset, &loops->count, &loops->stride) !=
	    4)
		return -1;

	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;

	unsigned long start = offset & ~4095UL;
	size_t len = offset - start + loops->count * loops->stride + 4096;
	char *code = mmap(NULL, len, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, (off_t)start);
	close(fd);
	if (code == MAP_FAILED)
		return -1;
	loops->first = code + (offset - start);
	return 0;
}

static void run(const struct loops *loops, unsigned long turns)
{
	for (unsigned long i = 0; i < loops->count; i++) {
		char *code = loops->first + i * loops->stride;
		void (*loop)(unsigned long);

		memcpy(&loop, &code, sizeof(loop));
		loop(turns / loops->count + 1);
	}
}

int main(int argc, char **argv)
{
	static struct loops loops[MAX_FILES];
	size_t nr = 0;

	for (int i = 1; i < argc && nr < MAX_FILES; i++) {
		if (map_loops(argv[i], &loops[nr]) == 0)
			nr++;
		else
			fprintf(stderr, "%s: cannot be mapped\n", argv[i]);
	}
	while (nr > 0)
		for (size_t i = 0; i < nr; i++)
			run(&loops[i], TURNS_OF_ALL / nr + 1);
	return 1;
}
