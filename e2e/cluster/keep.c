/* SPDX-License-Identifier: Apache-2.0 */
/* A program that keeps an amount of memory in use:
 *
 *	keep MEGABYTES
 *
 * It has blocks of 64 KiB. Once a second, on a busy machine as well, each of them is freed and
 * allocated anew. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define BLOCK_BYTES (64UL << 10)
#define BLOCKS_IN_MB ((1UL << 20) / BLOCK_BYTES)
#define MAX_BLOCKS 65536UL
#define PAUSE_US 10000
#define MS_IN_SECOND 1000UL
#define NS_IN_MS 1000000UL

static void *blocks[MAX_BLOCKS];

__attribute__((noinline)) void keep_block(size_t index)
{
	free(blocks[index]);
	blocks[index] = malloc(BLOCK_BYTES);
	if (!blocks[index])
		abort();
}

static size_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (size_t)now.tv_sec * MS_IN_SECOND + (size_t)now.tv_nsec / NS_IN_MS;
}

int main(int argc, char **argv)
{
	size_t nr_blocks = argc > 1 ? strtoul(argv[1], NULL, 10) * BLOCKS_IN_MB : 0;
	size_t begin_ms = now_ms(), nr_kept = 0;

	if (nr_blocks == 0 || nr_blocks > MAX_BLOCKS) {
		fputs("keep: say how many megabytes\n", stderr);
		return EXIT_FAILURE;
	}
	for (;;) {
		size_t nr_due = (now_ms() - begin_ms) * nr_blocks / MS_IN_SECOND;

		for (; nr_kept < nr_due; nr_kept++)
			keep_block(nr_kept % nr_blocks);
		usleep(PAUSE_US);
	}
}
