/* SPDX-License-Identifier: Apache-2.0 */
/* Random bytes from the kernel, without waiting for its entropy pool. */
#ifndef BASE_RANDOM_H
#define BASE_RANDOM_H

#include "base/err.h"

#include <stddef.h>

/* Fills `buf` by getrandom(2), or from /dev/urandom before Linux 3.17. `len` is at most 256.
 * Errors: -EAGAIN too early after boot, errors of opening the file. */
int random_bytes(void *buf, size_t len) must_check;

#endif
