/* SPDX-License-Identifier: Apache-2.0 */
/* Debug files from debuginfod, for the tables that want them. They are requested by build id: a
 * table may be freed before its file arrives, and another table of the same program then gets the
 * file. A table that gets no file requests it again a few times, because servers may have been
 * unreachable, or another table was first. Only the symbolizer uses it. */
#ifndef SYMBOL_DEBUG_DOWNLOADS_H
#define SYMBOL_DEBUG_DOWNLOADS_H

#include "base/cleanup.h"
#include "base/err.h"
#include "symbol/debuginfod/debuginfod.h"
#include "symbol/name_store.h"

#include <stdbool.h>

struct debug_downloads;

/* Both are borrowed; `debuginfod` may be NULL: nothing is downloaded. Errors: -ENOMEM. */
int debug_downloads_new(struct debuginfod *debuginfod, struct name_store *store,
			struct debug_downloads **ret_downloads) must_check;
void debug_downloads_free(struct debug_downloads *downloads);
DEFINE_FREEP(struct debug_downloads, debug_downloads_free)

/* Asks debuginfod for the debug file of a table, if there is a debuginfod. */
void debug_downloads_ask(struct debug_downloads *downloads, struct name_table *table);

/* Return whether a file may arrive at any moment, for any table or for this one. */
bool debug_downloads_are_awaited(struct debug_downloads *downloads);
bool debug_downloads_are_awaited_by(const struct debug_downloads *downloads,
				    const struct name_table *table);

/* Returns the next file that has arrived, which the caller closes, and the table that wants
 * it. False if there is none. */
bool debug_downloads_next(struct debug_downloads *downloads, struct name_table **ret_table,
			  int *ret_fd);

/* Returns the statistics of debuginfod; zeros without it. */
struct debuginfod_stats debug_downloads_get_stats(const struct debug_downloads *downloads);

#endif
