/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses allocations by their bytes, as a Poisson process does: the distances between chosen bytes
 * are exponentially distributed, and an allocation is sampled if one of its bytes is chosen. So an
 * allocation of S bytes is sampled with the probability p = 1 - exp(-S / mean), whatever came
 * before, and stands for S / p bytes. Sums are unbiased. */
#ifndef HEAP_POISSON_H
#define HEAP_POISSON_H

#include <stddef.h>
#include <stdint.h>

#define POISSON_MEAN_BYTES (UINT64_C(512) << 10)

struct poisson {
	uint64_t left; /* bytes that are not chosen, until one is; 0: not begun */
	uint64_t mean; /* by which `left` was drawn */
	uint64_t random; /* state of the generator */
};

/* Moves on by an allocation that has the next chosen byte, or is the first one of all. Returns the
 * bytes for which it stands, or 0 if it is not sampled. `mean` is for what comes after it. */
uint64_t poisson_pass(struct poisson *poisson, size_t size, uint64_t mean);

/* Begins anew: the process is the copy of another one. */
static inline void poisson_restart(struct poisson *poisson)
{
	poisson->left = 0;
}

#endif
