/* SPDX-License-Identifier: Apache-2.0 */
/* Opening debug information can take longer than the answer itself, so a few files stay open:
 * units of a new file are read one after the other. The worker has one thread and serves one
 * request at a time, so the open files are in a global variable. */
#include "symbol/dwarf/dwarf_lines.h"
#include "symbol/worker/symbol_worker.h"

#include <malloc.h>

#define MAX_OPEN 16

/* Limit of the worker's heap while more than one file is open. A worker that holds half of its
 * memory after an answer is ended. */
#define MAX_HEAP_BYTES ((size_t)40 << 20)

/* The most recently used file comes first. Free places have key 0. */
static struct open_file {
	uint64_t key;
	struct dwarf_lines *lines; /* owned */
} open_files[MAX_OPEN];

static void close_file(size_t place)
{
	dwarf_lines_close(open_files[place].lines);
	open_files[place] = (struct open_file){ 0 };
}

static size_t heap_bytes(void)
{
	struct mallinfo2 info = mallinfo2();

	return info.uordblks + info.hblkhd;
}

static void close_least_used(void)
{
	for (size_t place = MAX_OPEN - 1; place > 0 && heap_bytes() > MAX_HEAP_BYTES; place--)
		close_file(place);
}

static void move_to_front(size_t place)
{
	struct open_file file = open_files[place];

	for (; place > 0; place--)
		open_files[place] = open_files[place - 1];
	open_files[0] = file;
}

static int open_file(uint64_t key, const int *fds, size_t nr_fds)
{
	struct dwarf_lines *lines = NULL;
	size_t place = 0;

	while (place < MAX_OPEN && open_files[place].key != key)
		place++;
	if (place < MAX_OPEN) {
		move_to_front(place);
		return 0;
	}

	int r = dwarf_lines_open(fds[0], nr_fds > 1 ? fds[1] : -1, &lines);
	if (r < 0)
		return r;
	close_file(MAX_OPEN - 1);
	open_files[MAX_OPEN - 1] = (struct open_file){ .key = key, .lines = lines };
	move_to_front(MAX_OPEN - 1);
	return 0;
}

int symbol_worker_lines(const struct worker_call *call, struct strbuf *reply)
{
	size_t nr_addresses = call->request.nr_bytes / sizeof(uint64_t);

	int r = open_file(call->request.key, call->fds, call->nr_fds);
	if (r < 0)
		return r;
	close_least_used();

	r = dwarf_lines_write(open_files[0].lines, (const uint64_t *)(const void *)call->bytes,
			      nr_addresses, reply);
	if (r == -ENOMEM)
		close_file(0);
	close_least_used();
	return r;
}
