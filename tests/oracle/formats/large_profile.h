/* SPDX-License-Identifier: Apache-2.0 */
/* A profile whose flame graph has some 20,000 boxes: 400 Go stacks of 49 frames, of 60 to 79
 * samples, all of functions of their own. In the first frame of the first stack there is one more
 * sample, "needle", which is too narrow to draw: 0.05 px of 1200. */
#ifndef TESTS_ORACLE_LARGE_PROFILE_H
#define TESTS_ORACLE_LARGE_PROFILE_H

#include "profile/profile.h"

/* One reference, or NULL for want of memory. */
struct profile *large_profile(void);

#endif
