/* SPDX-License-Identifier: Apache-2.0 */
#include "store/successors.h"

#include "base/array.h"

#include <stdlib.h>
#include <string.h>

void successors_done(struct successors *successors)
{
	free(successors->lists);
	*successors = (struct successors){ 0 };
}

void successors_clear(struct successors *successors)
{
	successors->nr = successors->nr_nodes = 0;
}

int successors_reserve(struct successors *successors, size_t nr_frames)
{
	if (nr_frames <= successors->nr)
		return 0;
	int r = array_grow(successors->lists, successors->cap, nr_frames, SIZE_MAX);
	if (r < 0)
		return r;
	memset(successors->lists + successors->nr, 0,
	       (nr_frames - successors->nr) * sizeof(*successors->lists));
	successors->nr = nr_frames;
	return 0;
}

unsigned int successors_note(struct successors *successors, uint32_t caller, uint32_t called)
{
	uint32_t *list = successors->lists[caller];
	unsigned int place = 0;

	while (place < SUCCESSORS_KEPT && list[place] != called)
		place++;
	successors_move(list, place, called);
	return place;
}
