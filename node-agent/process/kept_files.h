/* SPDX-License-Identifier: Apache-2.0 */
/* Files that stay known for a while after the last process that maps them has ended. Programs that
 * live for milliseconds are often started again, and end before their files can be opened. A kept
 * file has a reference, and a descriptor until its symbols are read.
 *
 * A kept file may have changed by the time it is mapped again, so its users must check
 * (mapped_file.is_doubtful). */
#ifndef PROCESS_KEPT_FILES_H
#define PROCESS_KEPT_FILES_H

#include "process/mapped_file.h"

#include <stddef.h>
#include <stdint.h>

#define KEPT_FILES_MAX 1024
#define KEPT_FILES_NS (UINT64_C(600) * 1000000000) /* since the file was last mapped */
#define KEPT_FILES_MAX_OPEN 256
#define KEPT_FILES_OPEN_NS (UINT64_C(60) * 1000000000) /* an open file pins its file system */

struct kept_file {
	struct mapped_file *file; /* one reference; NULL: the place is free */
	int fd; /* owned; -EBADF: none */
	uint64_t used_ns;
	uint64_t opened_ns;
};

/* All zero: empty. */
struct kept_files {
	struct kept_file *items; /* owned; KEPT_FILES_MAX */
	size_t hand; /* index at which the search for a free place begins */
	size_t nr_files;
	size_t nr_open;
};

/* Call it before mapped_files_done(). */
void kept_files_done(struct kept_files *kept, struct mapped_files *files);

/* Keeps a file. If all places are taken, evicts a file that was not mapped for long. Takes
 * ownership of *fd (-EBADF: none), also on failure. Errors: -ENOMEM. */
int kept_files_add(struct kept_files *kept, struct mapped_files *files, struct mapped_file *file,
		   int *fd, uint64_t now_ns) must_check;

/* Returns the descriptor of a file, which the caller then owns; -EBADF if there is none. */
int kept_files_take_fd(struct kept_files *kept, struct mapped_file *file);

/* Removes a file, if it is kept. */
void kept_files_remove(struct kept_files *kept, struct mapped_files *files,
		       struct mapped_file *file);

/* Removes files whose time is over. Call it every few seconds. */
void kept_files_tidy(struct kept_files *kept, struct mapped_files *files, uint64_t now_ns);

#endif
