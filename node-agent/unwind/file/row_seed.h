/* SPDX-License-Identifier: Apache-2.0 */
/* The seed of the hashes that unwind tables are kept by. Who knew it could make a file that has
 * the hash of another one, and so give it its own table. It is a random number, made with the
 * directory and kept in it, so that the tables are found again after a restart. */
#ifndef UNWIND_FILE_ROW_SEED_H
#define UNWIND_FILE_ROW_SEED_H

#include "base/err.h"

#include <stdint.h>

/* Makes it anew when it is missing or not ours alone; one that cannot be written down is good
 * for this run. Errors: those of random_bytes(). */
int row_seed_load(int dir_fd, uint64_t *ret_seed) must_check;

#endif
