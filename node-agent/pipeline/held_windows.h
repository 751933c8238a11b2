/* SPDX-License-Identifier: Apache-2.0 */
/* Windows that lack some names, in the order in which they are looked at. Only a recording holds
 * windows, because it can complete them at its end. Belongs to one thread. */
#ifndef PIPELINE_HELD_WINDOWS_H
#define PIPELINE_HELD_WINDOWS_H

#include "base/err.h"
#include "pipeline/window.h"

#include <stddef.h>

#define HELD_WINDOWS_MAX_BYTES ((size_t)64 << 20)

struct held_windows {
	struct window *first; /* owned list, by window->next */
	struct window *last; /* borrowed */
	size_t nr;
	size_t nr_bytes; /* of all of them */
};

/* Takes *window over, as the last one, and sets it to NULL. Errors: -ENOSPC at
 * HELD_WINDOWS_MAX_BYTES; then it stays the caller's. */
int held_windows_add(struct held_windows *held, struct window **window) must_check;

/* Returns the first window, which stays in the list; NULL if there is none. */
struct window *held_windows_find(const struct held_windows *held);

/* Removes the first window, which the caller then owns; NULL if there is none. */
struct window *held_windows_take(struct held_windows *held);

/* Moves the first window to the end. */
void held_windows_rotate(struct held_windows *held);

void held_windows_done(struct held_windows *held);

#endif
