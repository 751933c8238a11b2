/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the program that a profile covers. Readers of pprof take a file's first mapping for the
 * main binary, and print its name and build id above everything else. */
#ifndef PROFILE_MAIN_PROGRAM_H
#define PROFILE_MAIN_PROGRAM_H

#include "profile/profile.h"

#include <stdint.h>

/* Returns the mapping of the program of all samples: its file has the same name as all processes.
 * Returns 0 if processes have several names, or no mapping has the name, as with scripts. */
uint32_t main_program_find(const struct profile *profile);

#endif
