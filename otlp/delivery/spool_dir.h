/* SPDX-License-Identifier: Apache-2.0 */
/* The directory of a spool, which one process uses at a time. A new process finds the requests of
 * earlier ones. */
#ifndef OTLP_DELIVERY_SPOOL_DIR_H
#define OTLP_DELIVERY_SPOOL_DIR_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

/* Further files are left for the next start; a spool has fewer. */
#define SPOOL_DIR_MAX_FILES ((size_t)1 << 20)

struct spool_dir_list {
	uint64_t *seqs; /* owned; of files named as requests, ascending */
	size_t nr_seqs, cap_seqs;
	uint64_t next_seq; /* larger than any number in the directory */
};

/* Opens a private directory, which is created (0700) if missing, and locks it while the descriptor
 * is open. Errors: as spool_open(). */
int spool_dir_open(const char *path, int *ret_fd) must_check;

/* Lists the requests, and removes incomplete files of dead processes. Errors: -ENOMEM, errors of
 * openat(2). */
int spool_dir_list(int dir_fd, struct spool_dir_list *ret_list) must_check;
void spool_dir_list_done(struct spool_dir_list *list);

#endif
