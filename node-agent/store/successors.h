/* SPDX-License-Identifier: Apache-2.0 */
/* Which frames were called by which: for each frame, those that a new stack had below it last. A
 * frame of a new stack is mostly one of them, and its place among them is a small number, where the
 * number of the frame would be a large one. */
#ifndef STORE_SUCCESSORS_H
#define STORE_SUCCESSORS_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define SUCCESSORS_KEPT 8

struct successors {
	uint32_t (*lists)[SUCCESSORS_KEPT]; /* owned; by frame: the last one first, 0: none */
	size_t nr, cap;
	size_t nr_nodes; /* of the tree, that were noted */
};

void successors_done(struct successors *successors);

/* Forgets everything. */
void successors_clear(struct successors *successors);

/* Makes room for frames below a number. Errors: -ENOMEM. */
int successors_reserve(struct successors *successors, size_t nr_frames) must_check;

/* Notes a call, and returns at which place the called frame was: SUCCESSORS_KEPT if at none. There
 * must be room for the caller. */
unsigned int successors_note(struct successors *successors, uint32_t caller, uint32_t called);

/* Puts a frame first in a list, in the place of the one at `place`, or of the last one if there is
 * no such place. Nothing predicts the places, so this has no branch: both halves of the list are
 * read as they are and shifted by one, and of each number one of the two is taken. */
static inline void successors_move(uint32_t *list, unsigned int place, uint32_t frame)
{
	enum { HALF = SUCCESSORS_KEPT / 2 };
	uint32_t low[HALF], high[HALF], shifted_low[HALF], shifted_high[HALF];

	memcpy(low, list + 1, sizeof(low));
	memcpy(high, list + HALF, sizeof(high));
	memcpy(shifted_low, list, sizeof(low));
	memcpy(shifted_high, list + HALF - 1, sizeof(high));
	for (unsigned int i = 0; i < HALF; i++)
		low[i] = i < place ? shifted_low[i] : low[i];
	for (unsigned int i = 0; i < HALF; i++)
		high[i] = i + HALF - 1 < place ? shifted_high[i] : high[i];
	memcpy(list + 1, low, sizeof(low));
	memcpy(list + HALF, high, sizeof(high));
	list[0] = frame;
}

/* Notes a call of the frame at a place, and returns it. */
static inline uint32_t successors_take(struct successors *successors, uint32_t caller,
				       unsigned int place)
{
	uint32_t *list = successors->lists[caller];
	uint32_t called = list[place];

	successors_move(list, place, called);
	return called;
}

/* Notes a call of a frame that is at no place. */
static inline void successors_push(struct successors *successors, uint32_t caller, uint32_t called)
{
	successors_move(successors->lists[caller], SUCCESSORS_KEPT, called);
}

#endif
