/* SPDX-License-Identifier: Apache-2.0 */
/* A profile as a busy node gives one in 15 s: 60 containers of 12 programs, 8000 samples with
 * stacks of 12 to 56 frames out of call trees that they share, a fifth of them with kernel frames,
 * 8 threads a container, 64 CPUs. Half of the programs have source lines; one in eight has no
 * symbols, so that its frames keep file and address. The same each time. */
#ifndef TESTS_ORACLE_OTLP_LOAD_H
#define TESTS_ORACLE_OTLP_LOAD_H

#include "profile/profile.h"

/* One reference, or NULL for want of memory. */
struct profile *otlp_load_profile(void);

#endif
