/* SPDX-License-Identifier: Apache-2.0 */
/* Random bytes from the kernel, without waiting for it to have gathered them. */
#ifndef BASE_RANDOM_H
#define BASE_RANDOM_H

#include "base/err.h"

#include <stddef.h>

/* From getrandom(2), or /dev/urandom where the kernel is older than 3.17. `len` is 256 at most.
 * Errors: -EAGAIN too early after boot, what opening the file says. */
int random_bytes(void *buf, size_t len) must_check;

#endif
