/* SPDX-License-Identifier: Apache-2.0 */
/* A profile whose flame graph has the same names in boxes of different widths, so that they are cut
 * in different ways. As wide as the picture is without the script, 1180 px, a sample is a pixel. */
#ifndef TESTS_ORACLE_LABEL_PROFILE_H
#define TESTS_ORACLE_LABEL_PROFILE_H

#include "profile/profile.h"

/* One reference, or NULL for want of memory. */
struct profile *label_profile(void);

#endif
