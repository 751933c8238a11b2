/* SPDX-License-Identifier: Apache-2.0 */
/* The directory that a recorder writes. It has one writer at a time. */
#ifndef STORE_RECORDER_DIR_H
#define STORE_RECORDER_DIR_H

#include "base/err.h"
#include "base/strbuf.h"
#include "store/budget.h"
#include "store/store_dir.h"

#include <stdint.h>

#define RECORDER_DIR_BYTES 4096
#define RECORDER_PATH_BYTES (RECORDER_DIR_BYTES + STORE_NAME_BYTES)

struct recorder_dir {
	char path[RECORDER_DIR_BYTES];
	int dir_fd, lock_fd; /* owned */
};

/* Opens and locks a directory; makes it if it is missing. recorder_dir_close() is needed after a
 * failure, too. On failure `reterr_msg` says what is wrong. Errors: -EBUSY another process writes
 * there, -ENAMETOOLONG, those of own_dir_open(). */
int recorder_dir_open(struct recorder_dir *dir, const char *path, struct strbuf *reterr_msg)
	must_check;
void recorder_dir_close(struct recorder_dir *dir);

/* Completes the files that a killed agent left behind, and spends what was written today from the
 * budget. *nr_damaged is increased by the files that cannot be completed. Errors: those of
 * store_dir_list(). */
int recorder_dir_adopt(const struct recorder_dir *dir, uint64_t now_s, struct budget *budget,
		       uint64_t *nr_damaged) must_check;

#endif
