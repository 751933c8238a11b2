/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/v8/v8_translation.h"

#include "base/cleanup.h"
#include "runtime/v8/v8_numbers.h"

/* The numbers of operands, by operation. */
static const uint8_t nr_operands[] = {
	6, 4, 3, 3, /* frames of functions: with and without a result to set, two of builtins */
	2, 1, 3, 4, 3, 3, 3, /* other frames */
	1, 0, 0, /* arguments */
	3, 3, /* beginnings of translations */
	1, 1, 1, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, /* values */
	1, 1, 1, 1, 1, 1, 0, 1, 1, 1, 1, 1, /* values */
	2, /* feedback */
};

enum {
	FRAME_WITH_RESULT,
	FRAME_WITHOUT_RESULT,
	NR_FUNCTION_FRAMES = 4,
	BEGIN = 14,
	BEGIN_WITH_FEEDBACK,
	REPEAT = array_len(nr_operands), /* how often: an operand, or the distance of the byte */
};

#define FRAME_OPERANDS 3 /* of a frame that are read */

struct translation {
	struct v8_numbers own;
	struct v8_numbers earlier; /* the operations that may be repeated; none if it is empty */
	uint64_t nr_repeated; /* operations that still come from there */
	uint32_t nr_behind; /* own operations in place of those at `earlier` */
};

static bool skip(struct v8_numbers *numbers, uint8_t nr)
{
	uint64_t operand;

	for (uint8_t i = 0; i < nr; i++)
		if (!v8_numbers_next(numbers, &operand))
			return false;
	return true;
}

static bool begins(struct v8_numbers *numbers)
{
	uint8_t operation;

	return v8_numbers_next_byte(numbers, &operation) &&
	       (operation == BEGIN || operation == BEGIN_WITH_FEEDBACK);
}

/* Sets both places behind the beginnings of the translations, and the number of functions. */
static bool begin(struct translation *translation, const uint8_t *bytes, size_t len, size_t index,
		  int32_t *ret_nr_functions)
{
	uint64_t distance;
	int32_t nr_frames;

	if (index >= len)
		return false;
	*translation = (struct translation){ .own = { bytes + index, len - index } };
	if (!begins(&translation->own) || !v8_numbers_next(&translation->own, &distance) ||
	    !v8_numbers_next_signed(&translation->own, &nr_frames) ||
	    !v8_numbers_next_signed(&translation->own, ret_nr_functions) || distance > index)
		return false;
	if (distance == 0)
		return true;
	translation->earlier = (struct v8_numbers){ bytes + index - distance, distance };
	return begins(&translation->earlier) && skip(&translation->earlier, nr_operands[BEGIN]);
}

static bool read_operation(struct v8_numbers *numbers, uint8_t *ret_operation)
{
	return v8_numbers_next_byte(numbers, ret_operation) && *ret_operation < REPEAT &&
	       *ret_operation != BEGIN && *ret_operation != BEGIN_WITH_FEEDBACK;
}

/* Begins to repeat operations. */
static bool repeat(struct translation *translation, uint64_t nr)
{
	uint8_t operation;

	for (; translation->nr_behind > 0; translation->nr_behind--)
		if (!read_operation(&translation->earlier, &operation) ||
		    !skip(&translation->earlier, nr_operands[operation]))
			return false;
	translation->nr_repeated = nr;
	return nr > 0;
}

/* Reads the next operation, and returns where its operands are; NULL at damage. */
static struct v8_numbers *next(struct translation *translation, uint8_t *ret_operation)
{
	struct v8_numbers own = translation->own;
	uint64_t nr;

	if (translation->nr_repeated == 0) {
		if (!v8_numbers_next_byte(&own, ret_operation))
			return NULL;
		if (*ret_operation < REPEAT) {
			translation->nr_behind++;
			return read_operation(&translation->own, ret_operation) ? &translation->own
										: NULL;
		}
		nr = *ret_operation - REPEAT - 1U;
		if (*ret_operation == REPEAT && !v8_numbers_next(&own, &nr))
			return NULL;
		translation->own = own;
		if (!repeat(translation, nr))
			return NULL;
	}
	translation->nr_repeated--;
	return read_operation(&translation->earlier, ret_operation) ? &translation->earlier : NULL;
}

static bool read_frame(struct v8_numbers *operands, uint8_t operation, struct v8_translated *frame)
{
	return v8_numbers_next_signed(operands, &frame->bytecode_offset) &&
	       v8_numbers_next_signed(operands, &frame->shared) &&
	       v8_numbers_next_signed(operands, &frame->bytecode) &&
	       skip(operands, nr_operands[operation] - FRAME_OPERANDS);
}

int v8_translation_read(const uint8_t *bytes, size_t len, size_t index,
			struct v8_translated *frames, size_t max)
{
	struct translation translation;
	int32_t nr_functions;
	uint8_t operation;
	int nr = 0;

	if (!begin(&translation, bytes, len, index, &nr_functions) || nr_functions < 0 ||
	    (size_t)nr_functions > max)
		return -ENOENT;
	while (nr_functions > 0) {
		struct v8_numbers *operands = next(&translation, &operation);

		if (!operands)
			return -ENOENT;
		if (operation < NR_FUNCTION_FRAMES)
			nr_functions--;
		bool is_frame = operation <= FRAME_WITHOUT_RESULT;
		if (is_frame ? !read_frame(operands, operation, &frames[nr])
			     : !skip(operands, nr_operands[operation]))
			return -ENOENT;
		nr += is_frame;
	}
	return nr > 0 ? nr : -ENOENT;
}
