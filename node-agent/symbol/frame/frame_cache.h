/* SPDX-License-Identifier: Apache-2.0 */
/* A cache of the frames of places in code. A place is a number of the caller, made of a file's
 * number and an offset in it. Each string is stored once for all files.
 *
 * Names are added raw, as they are in the file. A name that may be mangled is open until the caller
 * sets its demangled form. Until then, the raw name is returned; after that, all places with this
 * name have the new one. */
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

/* States of the frames of a place. The cache only stores them for the caller. */
enum frames_state {
	FRAMES_PROVISIONAL,
	FRAMES_ASKED, /* source lines were requested */
	FRAMES_FINAL,
};

/* The state of an open name, stored for the caller as well. */
enum name_state {
	NAME_NEW,
	NAME_ASKED, /* it was requested */
	NAME_LEFT, /* it stays raw for a while */
};

struct frame_cache {
	struct htable index; /* by place */
	struct cached_frames *frames; /* owned */
	size_t nr_frames, cap_frames;
	struct cached_line *lines; /* owned */
	size_t nr_lines, cap_lines;
	struct intern strings; /* empty until the first frame */
	/* Owned. For each number of a raw name, the number of the demangled one, or a state. */
	uint32_t *pretty;
	size_t cap_pretty;
	struct symbol_line out[SYMBOL_MAX_LINES]; /* result of the last frame_cache_find() */
};

/* Frees everything. The cache is then empty and can be used again. A cache of zeros is empty. */
void frame_cache_done(struct frame_cache *cache);

/* Returns the memory that the cache holds, in bytes. */
size_t frame_cache_bytes(const struct frame_cache *cache);

/* Finds the frames of a place. Returns false if they are not known. The lines are borrowed until
 * the next call. `function` is only set if there are no lines. */
bool frame_cache_find(struct frame_cache *cache, uint64_t place, enum frames_state *ret_state,
		      struct symbol_frames *ret_frames);

/* Adds frames, or replaces those of the same place. The raw names are in `system_name`. With
 * DEMANGLE_NONE, no name is open. Errors: -ENOMEM, -ENOSPC for over a billion places, lines or
 * names. */
int frame_cache_add(struct frame_cache *cache, uint64_t place, enum frames_state state,
		    const struct symbol_frames *frames, enum demangle_style style) must_check;

/* Makes the known frames of a place final, if there are any. */
void frame_cache_settle(struct frame_cache *cache, uint64_t place);

/* Finds the open names of a place. Returns their number. Errors: -ENOENT the place is not known. */
int frame_cache_open_names(struct frame_cache *cache, uint64_t place,
			   uint32_t ret_names[static SYMBOL_MAX_LINES]) must_check;

/* Get or set the state of an open name. */
enum name_state frame_cache_name_state(const struct frame_cache *cache, uint32_t name);
void frame_cache_set_name_state(struct frame_cache *cache, uint32_t name, enum name_state state);

/* Returns the raw name with a number; borrowed. */
const char *frame_cache_raw_name(const struct frame_cache *cache, uint32_t name);

/* Sets the demangled form of an open name; "" keeps the raw one. Errors: -ENOMEM, -ENOSPC; the name
 * is still open then. */
int frame_cache_name(struct frame_cache *cache, uint32_t name, const char *pretty) must_check;

#endif
