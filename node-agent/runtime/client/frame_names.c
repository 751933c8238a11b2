/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/client/frame_names.h"

#include "base/array.h"
#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

void frame_names_done(struct frame_names *frames)
{
	for (size_t i = 0; i < frames->nr_rows; i++)
		free(frames->rows[i].names);
	free(frames->rows);
	free(frames->waiting);
	htable_done(&frames->index);
	*frames = (struct frame_names){ 0 };
}

enum runtime_kind frame_names_kind(uint64_t tag)
{
	static const enum runtime_kind kinds[RUNTIME_NR_FRAMES] = {
		[RUNTIME_FRAME_CPYTHON] = RUNTIME_CPYTHON,
		[RUNTIME_FRAME_JVM_INTERPRETED] = RUNTIME_HOTSPOT,
		[RUNTIME_FRAME_JVM_COMPILED] = RUNTIME_HOTSPOT,
		[RUNTIME_FRAME_V8_BYTECODE] = RUNTIME_V8,
		[RUNTIME_FRAME_V8_ARRAY] = RUNTIME_V8,
		[RUNTIME_FRAME_V8_CODE] = RUNTIME_V8,
	};
	uint32_t frame = RUNTIME_TAG_FRAME(tag);

	return frame < RUNTIME_NR_FRAMES ? kinds[frame] : RUNTIME_NONE;
}

/* The bits that say how a frame was entered do not change its name. */
static void clean_words(const uint64_t *words, uint64_t clean[static RUNTIME_MAX_WORDS])
{
	uint32_t nr = runtime_nr_words(words[0]);

	memset(clean, 0, RUNTIME_MAX_WORDS * sizeof(*clean));
	memcpy(clean, words, nr * sizeof(*clean));
	clean[0] = words[0] & ~(UINT64_C(3) << 62);
}

static void count_bytes(struct frame_names *frames, size_t names_before, size_t names_now)
{
	frames->nr_bytes = frames->nr_bytes - names_before + names_now;
}

/* Puts a frame behind those that wait. */
static int add_waiting(struct frame_names *frames, uint32_t number)
{
	int r = array_grow(frames->waiting, frames->cap_waiting, frames->nr_waiting + 1,
			   FRAME_NAMES_MAX);

	if (r < 0)
		return r;
	frames->waiting[frames->nr_waiting++] = number;
	frames->rows[number].is_waiting = true;
	return 0;
}

static bool is_worth_a_try(const struct named_frame *frame, uint64_t now_ns)
{
	return !frame->names && !frame->is_waiting && frame->nr_tries < FRAME_NAMES_MAX_TRIES &&
	       (frame->nr_tries == 0 || now_ns >= frame->tried_ns + FRAME_NAMES_RETRY_NS);
}

static int add_frame(struct frame_names *frames, const uint64_t *words, uint32_t hash)
{
	uint32_t number = (uint32_t)frames->nr_rows;
	int r = array_grow(frames->rows, frames->cap_rows, frames->nr_rows + 1, FRAME_NAMES_MAX);

	if (r == 0)
		r = htable_add(&frames->index, hash, number);
	if (r < 0)
		return r;
	frames->rows[number] = (struct named_frame){ 0 };
	memcpy(frames->rows[number].words, words, sizeof(frames->rows[number].words));
	frames->nr_rows++;
	count_bytes(frames, 0,
		    sizeof(struct named_frame) + sizeof(uint32_t) + 2 * sizeof(struct htable_slot));
	return 0;
}

int frame_names_get(struct frame_names *frames, const uint64_t *words, uint64_t now_ns,
		    uint32_t *ret_number, bool *ret_is_added)
{
	uint64_t clean[RUNTIME_MAX_WORDS];

	clean_words(words, clean);
	uint32_t hash = hash_bytes(clean, sizeof(clean));
	struct htable_iter it = htable_lookup(&frames->index, hash);
	uint32_t number = (uint32_t)frames->nr_rows;

	for (uint32_t row; number == frames->nr_rows && htable_next(&it, &row);)
		if (memcmp(frames->rows[row].words, clean, sizeof(clean)) == 0)
			number = row;
	if (number == frames->nr_rows) {
		int r = add_frame(frames, clean, hash);

		if (r < 0)
			return r;
	}
	*ret_number = number;
	*ret_is_added = is_worth_a_try(&frames->rows[number], now_ns) &&
			add_waiting(frames, number) == 0;
	return 0;
}

const struct named_frame *frame_names_find(const struct frame_names *frames, uint32_t number)
{
	return number < frames->nr_rows ? &frames->rows[number] : NULL;
}

void frame_names_set_copied(struct frame_names *frames, uint32_t number, bool is_copied)
{
	frames->rows[number].is_copied = is_copied;
}

static bool is_chosen(const struct named_frame *frame, const struct frame_choice *choice)
{
	return frame_names_kind(frame->words[0]) == choice->kind &&
	       frame->is_copied == choice->is_copied;
}

bool frame_names_wait(const struct frame_names *frames, const struct frame_choice *choice)
{
	for (size_t i = 0; i < frames->nr_waiting; i++)
		if (is_chosen(&frames->rows[frames->waiting[i]], choice))
			return true;
	return false;
}

size_t frame_names_take(struct frame_names *frames, const struct frame_choice *choice,
			uint32_t *ret_numbers, size_t max)
{
	size_t nr_taken = 0, nr_left = 0;

	for (size_t i = 0; i < frames->nr_waiting; i++) {
		uint32_t number = frames->waiting[i];

		if (nr_taken < max && is_chosen(&frames->rows[number], choice))
			ret_numbers[nr_taken++] = number;
		else
			frames->waiting[nr_left++] = number;
	}
	frames->nr_waiting = nr_left;
	return nr_taken;
}

void frame_names_put_back(struct frame_names *frames, const uint32_t *numbers, size_t nr)
{
	int r = array_grow(frames->waiting, frames->cap_waiting, frames->nr_waiting + nr,
			   FRAME_NAMES_MAX);

	if (r < 0) {
		for (size_t i = 0; i < nr; i++)
			frames->rows[numbers[i]].is_waiting = false;
		return;
	}
	memmove(frames->waiting + nr, frames->waiting,
		frames->nr_waiting * sizeof(*frames->waiting));
	memcpy(frames->waiting, numbers, nr * sizeof(*numbers));
	frames->nr_waiting += nr;
}

void frame_names_set(struct frame_names *frames, uint32_t number, const char *names, size_t len,
		     uint64_t now_ns)
{
	struct named_frame *frame = &frames->rows[number];
	char *copy = len > 0 ? malloc(len) : NULL;

	frame->is_waiting = false;
	frame->tried_ns = now_ns;
	frame->nr_tries++;
	if (!copy)
		return;
	memcpy(copy, names, len);
	count_bytes(frames, frame->nr_bytes, len);
	free(frame->names);
	frame->names = copy;
	frame->nr_bytes = (uint32_t)len;
}
