/* SPDX-License-Identifier: Apache-2.0 */
/* The agent's check of a worker's answer. The position in the file is checked by the next worker
 * that receives it. The agent stores it and uses only its offset. */
#include "symbol/jit/jit_worker.h"

#include <string.h>

static bool is_place_good(const struct jit_request *request, const struct jit_place *place)
{
	return place->offset >= request->place.offset && place->offset <= request->size &&
	       place->tail_len <= JIT_TAIL_BYTES;
}

/* A worker cannot have found more functions, lines or bad records than it has read bytes. */
static bool is_progress_good(const struct jit_request *request, const struct jit_answer *answer,
			     const struct jit_block *block)
{
	uint64_t nr_done = answer->place.offset - request->place.offset;
	bool is_first = request->place.offset == 0;

	if (answer->is_rewritten && (!request->compares_tail || is_first || nr_done > 0))
		return false;
	if (answer->has_more && nr_done == 0 && request->max_read > 0)
		return false;
	return block->nr_codes <= nr_done && block->nr_lines <= nr_done &&
	       answer->nr_bad <= nr_done + 1;
}

int jit_answer_open(const struct jit_request *request, const void *bytes, size_t len,
		    struct jit_answer *ret_answer, struct jit_block_view *ret_view)
{
	struct jit_answer answer;
	struct jit_block_view view;

	if (len < sizeof(answer))
		return -EBADMSG;
	memcpy(&answer, bytes, sizeof(answer));
	if (answer.nr_read > request->max_read + JIT_PIECE_BYTES || answer.is_rewritten > 1 ||
	    answer.is_damaged > 1 || answer.has_more > 1 || !is_place_good(request, &answer.place))
		return -EBADMSG;
	int r = jit_block_open((const char *)bytes + sizeof(answer), len - sizeof(answer), &view);
	if (r == 0 && !is_progress_good(request, &answer, view.block))
		r = -EBADMSG;
	if (r < 0)
		return r;
	*ret_answer = answer;
	*ret_view = view;
	return 0;
}
