/* SPDX-License-Identifier: Apache-2.0 */
/* Reads folded text, as folded.h writes it and stackcollapse-*.pl of FlameGraph do: a line per
 * stack, frames separated by ";", root first, then a blank and a count. The first frame is the name
 * of the process. The end of a frame says what its code is (folded.h); a frame in brackets says why
 * a stack is not whole. Empty lines and those that begin with "#" are skipped. */
#ifndef PROFILE_FOLDED_READER_H
#define PROFILE_FOLDED_READER_H

#include "base/err.h"
#include "base/strbuf.h"
#include "profile/profile.h"

#include <stddef.h>

#define FOLDED_MAX_FRAMES 4096 /* of a stack */

/* Reads a text as a CPU profile, whose time and period are not known; equal stacks are joined. On
 * failure, `message` gets the reason in one line. Errors: -EBADMSG; -EFBIG when the profile takes
 * more than `max_bytes`; -ENOMEM. */
int folded_read(const char *text, size_t len, size_t max_bytes, struct profile **ret_profile,
		struct strbuf *message) must_check;

#endif
