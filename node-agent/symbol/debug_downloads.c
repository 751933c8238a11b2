/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/debug_downloads.h"

#include "base/clock.h"
#include "base/intern.h"

#include <stdlib.h>
#include <string.h>

#define MAX_BUILD_IDS ((size_t)4 * 65536) /* build ids that are requested from debuginfod */
#define MAX_BUILD_ID_BYTES ((size_t)32 << 20)

#define MAX_ASKS 3
#define ASK_AGAIN_NS (60 * NSEC_PER_SEC)

/* Time that names wait for a file from debuginfod, which may have been downloaded before. */
#define AWAIT_NS (500 * NSEC_PER_MSEC)

struct debug_downloads {
	struct debuginfod *debuginfod; /* borrowed; or NULL */
	struct name_store *store; /* borrowed */
	struct intern build_ids;
	uint64_t await_ns; /* a requested file may arrive until then */
	uint64_t ask_again_ns; /* time at which missing files are requested again */
};

int debug_downloads_new(struct debuginfod *debuginfod, struct name_store *store,
			struct debug_downloads **ret_downloads)
{
	_cleanup_(debug_downloads_freep) struct debug_downloads *downloads = calloc(
		1, sizeof(*downloads));

	if (!downloads)
		return -ENOMEM;
	downloads->debuginfod = debuginfod;
	downloads->store = store;
	int r = intern_init(&downloads->build_ids, MAX_BUILD_IDS, MAX_BUILD_ID_BYTES);
	if (r < 0)
		return r;
	*ret_downloads = take_ptr(downloads);
	return 0;
}

void debug_downloads_free(struct debug_downloads *downloads)
{
	if (!downloads)
		return;
	intern_done(&downloads->build_ids);
	free(downloads);
}

static const char *build_id_of(const struct name_table *table)
{
	return elf_symbols_info(table->symbols)->build_id;
}

/* Requests the file of a table. Returns whether the request was accepted. */
static bool ask(struct debug_downloads *downloads, struct name_table *table)
{
	uint32_t number;

	int r = intern_add(&downloads->build_ids, build_id_of(table), &number);
	if (r == 0)
		r = debuginfod_ask(downloads->debuginfod, build_id_of(table), number);
	if (r == 0)
		table->nr_asks_left--;
	return r == 0;
}

void debug_downloads_ask(struct debug_downloads *downloads, struct name_table *table)
{
	if (!downloads->debuginfod || !build_id_of(table)[0])
		return;
	table->wants_download = true;
	table->nr_asks_left = MAX_ASKS;
	if (!ask(downloads, table))
		return;
	table->await_ns = clock_mono_ns() + AWAIT_NS;
	downloads->await_ns = table->await_ns;
}

bool debug_downloads_are_awaited(struct debug_downloads *downloads)
{
	if (clock_mono_ns() >= downloads->await_ns)
		return false;
	if (debuginfod_get_stats(downloads->debuginfod).nr_waiting > 0)
		return true;
	downloads->await_ns = 0;
	return false;
}

bool debug_downloads_are_awaited_by(const struct debug_downloads *downloads,
				    const struct name_table *table)
{
	uint64_t now_ns = clock_mono_ns();

	return now_ns < table->await_ns && now_ns < downloads->await_ns;
}

static void ask_again(struct debug_downloads *downloads)
{
	uint64_t now_ns = clock_mono_ns();

	if (now_ns < downloads->ask_again_ns)
		return;
	downloads->ask_again_ns = now_ns + ASK_AGAIN_NS;
	for (struct name_table *table = name_store_first(downloads->store); table;
	     table = table->next)
		if (table->wants_download && table->has_names && table->nr_asks_left > 0)
			(void)ask(downloads, table);
}

static struct name_table *find_wanting(const struct debug_downloads *downloads,
				       const char *build_id)
{
	for (struct name_table *table = name_store_first(downloads->store); table;
	     table = table->next)
		if (table->wants_download && table->has_names &&
		    strcmp(build_id_of(table), build_id) == 0)
			return table;
	return NULL;
}

bool debug_downloads_next(struct debug_downloads *downloads, struct name_table **ret_table,
			  int *ret_fd)
{
	uint64_t number;
	int fd;

	if (!downloads->debuginfod)
		return false;
	ask_again(downloads);
	while (debuginfod_next(downloads->debuginfod, &number, &fd) > 0) {
		const char *build_id = intern_get(&downloads->build_ids, (uint32_t)number);
		struct name_table *table = find_wanting(downloads, build_id);

		if (table) {
			table->wants_download = false;
			table->await_ns = 0;
			*ret_table = table;
			*ret_fd = fd;
			return true;
		}
		close(fd);
	}
	return false;
}

struct debuginfod_stats debug_downloads_get_stats(const struct debug_downloads *downloads)
{
	if (!downloads->debuginfod)
		return (struct debuginfod_stats){ 0 };
	return debuginfod_get_stats(downloads->debuginfod);
}
