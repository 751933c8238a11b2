/* SPDX-License-Identifier: Apache-2.0 */
/* What places in code are called, as far as they were looked up: each once. Strings stand once, for
 * all files together. What a place is, is the caller's: a number for a file and an offset in it.
 *
 * Names come as they are in the file. One that may be mangled is open until the caller, who has it
 * demangled elsewhere, says what it is called; until then its raw form stands in for it, and then
 * all places that have it have the new name. */
#ifndef SYMBOL_FRAME_FRAME_CACHE_H
#define SYMBOL_FRAME_FRAME_CACHE_H

#include "base/err.h"
#include "base/htable.h"
#include "base/intern.h"
#include "symbol/demangle/demangle.h"
#include "symbol/frame/symbol_frames.h"

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

/* How far an open name has come; this too is the caller's to know. */
enum name_state {
	NAME_NEW,
	NAME_ASKED, /* it is being demangled, or will be */
	NAME_LEFT, /* it stays raw for a while */
};

struct frame_cache {
	struct htable index; /* by place */
	struct cached_frames *frames; /* owned */
	size_t nr_frames, cap_frames;
	struct cached_line *lines; /* owned */
	size_t nr_lines, cap_lines;
	struct intern strings; /* empty until the first frame */
	/* owned; by number of a raw name: the demangled one, or a name_state (see there) */
	uint32_t *pretty;
	size_t cap_pretty;
	struct symbol_line out[SYMBOL_MAX_LINES]; /* of the last answer */
};

/* Frees everything; the cache is empty then and may be used again. A cache of zeros is empty. */
void frame_cache_done(struct frame_cache *cache);

/* Memory it holds. */
size_t frame_cache_bytes(const struct frame_cache *cache);

/* The frames of a place; false when they are not known. The lines are borrowed until the next call.
 * Where there are lines, `function` is not kept. */
bool frame_cache_find(struct frame_cache *cache, uint64_t place, enum frames_state *ret_state,
		      struct symbol_frames *ret_frames);

/* Adds frames, or replaces those of the same place; their names are given as raw
 * ones, in `system_name`. With DEMANGLE_NONE no name is open. Errors: -ENOMEM,
 * -ENOSPC over a billion of something. */
int frame_cache_add(struct frame_cache *cache, uint64_t place, enum frames_state state,
		    const struct symbol_frames *frames, enum demangle_style style) must_check;

/* Makes what is known of a place, if anything is, the last word. */
void frame_cache_settle(struct frame_cache *cache, uint64_t place);

/* The numbers of a place's open names. Returns how many. Errors: -ENOENT the place is not known. */
int frame_cache_open_names(struct frame_cache *cache, uint64_t place,
			   uint32_t ret_names[static SYMBOL_MAX_LINES]) must_check;

/* Of an open name. */
enum name_state frame_cache_name_state(const struct frame_cache *cache, uint32_t name);
void frame_cache_set_name_state(struct frame_cache *cache, uint32_t name, enum name_state state);

/* A name as it is in the file; borrowed. */
const char *frame_cache_raw_name(const struct frame_cache *cache, uint32_t name);

/* Closes an open name: it is called so, or, by "", as it is in the file. Errors: -ENOMEM,
 * -ENOSPC; it is open then. */
int frame_cache_name(struct frame_cache *cache, uint32_t name, const char *pretty) must_check;

#endif
