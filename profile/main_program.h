/* SPDX-License-Identifier: Apache-2.0 */
/* The one program that a profile is of. Readers of pprof take a file's first mapping for the main
 * binary, and print its name and build id above everything else. */
#ifndef PROFILE_MAIN_PROGRAM_H
#define PROFILE_MAIN_PROGRAM_H

#include "profile/profile.h"

#include <stdint.h>

/* The mapping of the program that all samples are of, as its file has the name that all their
 * processes have. 0: processes have several names, or no mapping has it, as with an interpreter's
 * scripts. */
uint32_t main_program_find(const struct profile *profile);

#endif
