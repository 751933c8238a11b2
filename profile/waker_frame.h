/* SPDX-License-Identifier: Apache-2.0 */
/* The frame that divides the stack of a wait from that of whoever ended it: "[woken by NAME]". The
 * stack of the waker is nearer to the leaf. */
#ifndef PROFILE_WAKER_FRAME_H
#define PROFILE_WAKER_FRAME_H

#include "profile/profile.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WAKER_FRAME_PREFIX "[woken by "

/* Returns whether a location is such a frame. */
bool waker_frame_is(const struct profile *profile, uint32_t location);

/* Returns how many locations of a stack, from the leaf on, are the waker's and that frame; 0: the
 * stack has no waker. */
size_t waker_frame_depth(const struct profile *profile, uint32_t stack);

#endif
