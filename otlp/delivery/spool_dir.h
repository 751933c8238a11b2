/* SPDX-License-Identifier: Apache-2.0 */
/* The directory of a spool: one process at a time has it, and finds in it what earlier ones
 * left. */
#ifndef OTLP_DELIVERY_SPOOL_DIR_H
#define OTLP_DELIVERY_SPOOL_DIR_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

/* Files beyond are left for another start; spools have fewer. */
#define SPOOL_DIR_MAX_FILES ((size_t)1 << 20)

struct spool_dir_list {
	uint64_t *seqs; /* owned; of files named as requests, ascending */
	size_t nr_seqs, cap_seqs;
	uint64_t next_seq; /* larger than that of anything in the directory */
};

/* Opens a directory that is ours alone, made (0700) when missing, and locks it as long as the
 * descriptor is open. Errors: as spool_open(). */
int spool_dir_open(const char *path, int *ret_fd) must_check;

/* Lists the requests and removes what dead writers left unfinished. Errors: -ENOMEM, what openat(2)
 * says. */
int spool_dir_list(int dir_fd, struct spool_dir_list *ret_list) must_check;
void spool_dir_list_done(struct spool_dir_list *list);

#endif
