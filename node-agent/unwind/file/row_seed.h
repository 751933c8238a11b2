/* SPDX-License-Identifier: Apache-2.0 */
/* The seed of the hashes that unwind tables are kept by. An attacker who knew it could make a file
 * with the hash of another one, which would then get the attacker's table. The seed is a random
 * number. It is made with the directory and kept in it, so that the tables are found again after a
 * restart. */
#ifndef UNWIND_FILE_ROW_SEED_H
#define UNWIND_FILE_ROW_SEED_H

#include "base/err.h"

#include <stdint.h>

/* Makes a new seed when it is missing or not ours alone. A seed that cannot be stored is used for
 * this run only. Errors: those of random_bytes(). */
int row_seed_load(int dir_fd, uint64_t *ret_seed) must_check;

#endif
