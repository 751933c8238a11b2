/* SPDX-License-Identifier: Apache-2.0 */
/* Files that stay known for a while when no process maps them any more: programs that live for milliseconds are started again and
 * again, and are gone before anybody could open what they map. A kept file has a reference, and while its names were not read
 * it may have a descriptor.
 *
 * What stays known may have been changed or replaced by the time it is mapped again: whoever relies on it finds out
 * (mapped_file.is_doubtful). */
#ifndef PROCESS_KEPT_FILES_H
#define PROCESS_KEPT_FILES_H

#include "process/mapped_file.h"

#include <stddef.h>
#include <stdint.h>

#define KEPT_FILES_MAX 1024
#define KEPT_FILES_NS (UINT64_C(600) * 1000000000) /* since one was mapped last */
#define KEPT_FILES_MAX_OPEN 256
#define KEPT_FILES_OPEN_NS (UINT64_C(60) * 1000000000) /* what is open pins its file system */

struct kept_file {
	struct mapped_file *file; /* one reference; NULL: the place is free */
	int fd; /* owned; -EBADF: none */
	uint64_t used_ns;
	uint64_t opened_ns;
};

/* All zero: empty. */
struct kept_files {
	struct kept_file *items; /* owned; KEPT_FILES_MAX */
	size_t hand; /* where a place for a new one is looked for */
	size_t nr_files;
	size_t nr_open;
};

/* Before the files are done with. */
void kept_files_done(struct kept_files *kept, struct mapped_files *files);

/* Keeps a file; when all places are taken, one goes that was not mapped for long. Takes *fd over (-EBADF: none), also on failure.
 * Errors: -ENOMEM. */
int kept_files_add(struct kept_files *kept, struct mapped_files *files, struct mapped_file *file,
		   int *fd, uint64_t now_ns) must_check;

/* The descriptor of a file, which is the caller's from now on; -EBADF: there is none. */
int kept_files_take_fd(struct kept_files *kept, struct mapped_file *file);

/* Lets a file go, if it is kept. */
void kept_files_remove(struct kept_files *kept, struct mapped_files *files,
		       struct mapped_file *file);

/* Lets those go whose time is over. Meant to be called every few seconds. */
void kept_files_tidy(struct kept_files *kept, struct mapped_files *files, uint64_t now_ns);

#endif
