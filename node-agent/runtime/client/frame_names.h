/* SPDX-License-Identifier: Apache-2.0 */
/* The frames of runtimes that occurred in one process, each with a number, and their names as soon
 * as a worker has read them. Has no lock of its own. */
#ifndef RUNTIME_CLIENT_FRAME_NAMES_H
#define RUNTIME_CLIENT_FRAME_NAMES_H

#include "base/err.h"
#include "base/htable.h"
#include "bpf/shared/runtime.h"
#include "runtime/frame_writer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A large program has some ten thousand places that are sampled. */
#define FRAME_NAMES_MAX 32768

/* A frame without a name is read again when it occurs this much later, a limited number of times.
 * A function that is compiled whenever it is called lives for a moment only, and may come back at
 * the same address. */
#define FRAME_NAMES_RETRY_NS (UINT64_C(100) * 1000000)
#define FRAME_NAMES_MAX_TRIES 30

struct named_frame {
	uint64_t words[RUNTIME_MAX_WORDS]; /* unused ones are 0 */
	char *names; /* owned; as a worker wrote them; NULL: none */
	uint32_t nr_bytes; /* of the names */
	uint8_t nr_tries;
	bool is_waiting; /* to be read, or being read */
	bool is_copied; /* to be read from the copy of its code object */
	uint64_t tried_ns; /* when it was read last */
};

struct frame_names {
	struct named_frame *rows; /* owned */
	size_t nr_rows, cap_rows;
	struct htable index; /* rows by their words */
	uint32_t *waiting; /* owned; numbers of frames that are to be read, the oldest first */
	size_t nr_waiting, cap_waiting;
	size_t nr_bytes; /* of all of it */
};

void frame_names_done(struct frame_names *frames);

/* Returns the runtime whose frames begin with such a tag; RUNTIME_NONE for addresses, marks and
 * unknown tags. */
enum runtime_kind frame_names_kind(uint64_t tag);

/* Returns the number of a frame, and adds it if it is new: then it waits to be read. Sets whether a
 * frame begins to wait. Errors: -ENOSPC more than FRAME_NAMES_MAX, -ENOMEM. */
int frame_names_get(struct frame_names *frames, const uint64_t *words, uint64_t now_ns,
		    uint32_t *ret_number, bool *ret_is_added) must_check;

/* Returns a frame by its number, or NULL if there is none. */
const struct named_frame *frame_names_find(const struct frame_names *frames, uint32_t number);

/* Sets where a frame is read. At first it is in the memory of its process. */
void frame_names_set_copied(struct frame_names *frames, uint32_t number, bool is_copied);

/* Frames that are read in one place. */
struct frame_choice {
	enum runtime_kind kind;
	bool is_copied;
};

/* Returns whether such frames wait to be read. */
bool frame_names_wait(const struct frame_names *frames, const struct frame_choice *choice);

/* Takes up to `max` of such frames that wait, the oldest first; they go on being waited for.
 * Returns their number. */
size_t frame_names_take(struct frame_names *frames, const struct frame_choice *choice,
			uint32_t *ret_numbers, size_t max);

/* Puts frames that were taken back, before all others. Without memory they have no names. */
void frame_names_put_back(struct frame_names *frames, const uint32_t *numbers, size_t nr);

/* Sets the names of a frame that was taken; none if `len` is 0, or without memory. */
void frame_names_set(struct frame_names *frames, uint32_t number, const char *names, size_t len,
		     uint64_t now_ns);

#endif
