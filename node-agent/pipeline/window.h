/* SPDX-License-Identifier: Apache-2.0 */
/* A second of Unix time, or a part of it: its samples on their way from the reader to the
 * symbolizer. It is a profile under construction, and beside it what is needed to finish it: which
 * code each mapping is, and which cgroups occur. */
#ifndef PIPELINE_WINDOW_H
#define PIPELINE_WINDOW_H

#include "base/cleanup.h"
#include "base/err.h"
#include "base/htable.h"
#include "profile/builder.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WINDOW_NS UINT64_C(1000000000)
#define WINDOW_MAX_BYTES ((size_t)32 << 20) /* of stacks and samples */
#define WINDOW_MAX_RESOURCE_BYTES ((size_t)16 << 20)
#define WINDOW_MAX_NAME_BYTES ((size_t)8 << 20) /* 10 thousand functions of 200 bytes take 4 MB */
#define WINDOW_MAX_FALLBACK_BYTES ((size_t)4 << 20) /* of names for those without room */
#define WINDOW_MAX_SEGMENT_BYTES ((size_t)4 << 20) /* of mappings of files' segments */
#define WINDOW_MAX_MAPPINGS 65536
#define WINDOW_MAX_CGROUPS 65536

/* The source of the names of code. */
enum code_kind {
	CODE_NAMELESS, /* none; files that could not be opened are distinguished by name */
	CODE_ELF, /* the ELF cache (symbol/elf_cache.h), by its id of the file */
	CODE_JIT, /* the JIT cache (symbol/jit/jit_cache.h), by its id of the process */
	CODE_RUNTIME, /* frames of a language runtime (runtime/client/runtimes.h), by its kind */
	CODE_KERNEL,
};

struct window_code {
	enum code_kind kind;
	uint32_t id; /* 0 where the kind has none */
};

/* A mapping of the window, and the code in it. */
struct window_mapping {
	struct window_code code;
	uint32_t filename; /* string; 0 in the lookup of code with an id */
	uint32_t mapping; /* number in the builder */
};

/* An address of a process. */
struct window_place {
	uint64_t address;
	uint64_t version; /* of its mapping list */
	uint32_t pid;
};

/* The location of an address, kept because most frames occur many times in a second. */
struct window_located {
	struct window_place place;
	uint32_t location; /* 0: nothing is kept here */
};

#define WINDOW_NR_LOCATED 1024 /* a power of 2 */

struct window {
	struct window *next; /* in held_windows */
	struct builder *builder; /* owned until sealed */
	uint64_t start_ns; /* CLOCK_MONOTONIC */
	uint64_t end_ns;
	uint64_t start_unix_ns;
	uint64_t period_ns; /* of CPU time, for which a sample stands; 0: of other types */
	uint64_t suspended_ns; /* time that the machine was suspended between boot and the start */
	struct window_mapping *mappings; /* owned */
	size_t nr_mappings, cap_mappings;
	struct htable mapping_index;
	uint64_t *cgroups; /* owned; distinct ids */
	size_t nr_cgroups, cap_cgroups;
	struct htable cgroup_index;
	uint64_t open_ns; /* time that the reader spent opening files for it */
	uint64_t nr_samples;
	struct window_located located[WINDOW_NR_LOCATED]; /* by a hash of the place */
};

/* A window ends with the second of Unix time in which it begins. Errors: -ENOMEM. */
int window_new(uint64_t start_ns, uint64_t start_unix_ns, enum profile_type type,
	       struct window **ret_window) must_check;
void window_free(struct window *window);
DEFINE_FREEP(struct window, window_free)

/* Returns the builder's mapping of code, or of the file name if the code has no id, and adds it if
 * it is new. `size` is the file's. Errors: those of the builder; -ENOSPC over
 * WINDOW_MAX_MAPPINGS. */
int window_add_mapping(struct window *window, struct window_code code, const char *filename,
		       uint64_t size, uint32_t *ret_mapping) must_check;

/* Finds the builder's mapping of code with an id; false if this window has none yet. */
bool window_find_code(const struct window *window, struct window_code code, uint32_t *ret_mapping);

/* Returns the code of a builder's mapping; nameless for mapping 0, which is none. */
struct window_code window_code_of(const struct window *window, uint32_t mapping);

/* Finds the location that was last kept for a place; false if there is none, or if another one has
 * taken its room. */
bool window_find_location(const struct window *window, const struct window_place *place,
			  uint32_t *ret_location);
void window_keep_location(struct window *window, const struct window_place *place,
			  uint32_t location);

/* Counts a sample by its time. One that is a little late counts as one of the window's start. */
void window_count_time(struct window *window, uint64_t time_ns);

/* Forgets all kept locations, so that each is searched for again. */
void window_forget_locations(struct window *window);

/* Notes that samples of a cgroup are in the window; returns 1 when it is new, 0 when not.
 * Errors: -ENOSPC, -ENOMEM. */
int window_add_cgroup(struct window *window, uint64_t cgroup_id) must_check;

#endif
