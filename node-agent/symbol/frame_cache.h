/* SPDX-License-Identifier: Apache-2.0 */
/* What places in code are called, as far as they were looked up: each once. Names are demangled once, strings stand
 * once, for all files together. What a place is, is the caller's: a number for a file and an offset in it. */
#ifndef SYMBOL_FRAME_CACHE_H
#define SYMBOL_FRAME_CACHE_H

#include "base/err.h"
#include "base/htable.h"
#include "base/intern.h"
#include "symbol/demangle.h"
#include "symbol/symbol_frames.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cached_frames;
struct cached_line;

/* Whether more may become known of a place. That is the caller's to know; here it is only kept. */
enum frames_state {
	FRAMES_PROVISIONAL,
	FRAMES_ASKED, /* more was asked for */
	FRAMES_FINAL,
};

struct frame_cache {
	struct htable index; /* by place */
	struct cached_frames *frames; /* owned */
	size_t nr_frames, cap_frames;
	struct cached_line *lines; /* owned */
	size_t nr_lines, cap_lines;
	struct intern strings; /* empty until the first frame */
	uint32_t *
		pretty; /* owned; by number of a raw name: the demangled one, 0 where there is none yet */
	size_t cap_pretty;
	struct symbol_line out[SYMBOL_MAX_LINES]; /* of the last answer */
};

/* Frees everything; the cache is empty then and may be used again. A cache of zeros is empty. */
void frame_cache_done(struct frame_cache *cache);

/* Memory it holds. */
size_t frame_cache_bytes(const struct frame_cache *cache);

/* The frames of a place; false when they are not known. The lines are borrowed until the next call. */
bool frame_cache_find(struct frame_cache *cache, uint64_t place, enum frames_state *ret_state,
		      struct symbol_frames *ret_frames);

/* Adds frames, or replaces those of the same place; their names are given as raw ones, in `system_name`, and
 * demangled here. Errors: -ENOMEM, -ENOSPC over a billion of something. */
int frame_cache_add(struct frame_cache *cache, uint64_t place, enum frames_state state,
		    const struct symbol_frames *frames, enum demangle_style style) must_check;

/* Makes what is known of a place, if anything is, the last word. */
void frame_cache_settle(struct frame_cache *cache, uint64_t place);

#endif
