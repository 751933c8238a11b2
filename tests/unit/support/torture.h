/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the N-th allocation fail, for every N, so that each error path for want of memory is
 * walked once:
 *
 *	for (unsigned int n = 1; torture_begin(n), body(), torture_end(); n++)
 *		;
 *
 * The test program is linked with torture.c and TORTURE_LINK_OPTIONS
 * (tests/unit/CMakeLists.txt), which redirect malloc and its kin in our code, not in that of
 * shared libraries. */
#ifndef TESTS_UNIT_TORTURE_H
#define TESTS_UNIT_TORTURE_H

#include <stdbool.h>

/* The n-th allocation of this thread from now on fails, once. */
void torture_begin(unsigned int n);

/* Back to normal; whether an allocation failed since torture_begin(). */
bool torture_end(void);

#endif
