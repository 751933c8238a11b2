/* SPDX-License-Identifier: Apache-2.0 */
/* Interface of both versions of the library. */
#ifndef SOAK_SWAP_LIB_H
#define SOAK_SWAP_LIB_H

#include <stdint.h>

int swap_version(void);

/* Burns CPU time until then (CLOCK_MONOTONIC), three functions deep. */
uint64_t swap_work(uint64_t until_ns);

#endif
