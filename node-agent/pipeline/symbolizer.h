/* SPDX-License-Identifier: Apache-2.0 */
/* Names the locations of a finished window: the symbolizer's half of symbolization. Every location
 * leaves with a name. A location without a symbol is called `libfoo.so+0x123`, and addr2line takes
 * the number: it is the address of the function's first instruction, or the address itself if
 * nothing tells where functions begin. */
#ifndef PIPELINE_SYMBOLIZER_H
#define PIPELINE_SYMBOLIZER_H

#include "base/err.h"
#include "pipeline/window.h"
#include "symbol/elf_cache.h"
#include "symbol/jit/jit_cache.h"
#include "symbol/kernel/kernel_symbols.h"

#include <stddef.h>
#include <stdint.h>

/* The name of code for whose name there was no room. */
#define SYMBOLIZER_NO_ROOM "[name left out]"

struct symbolizer {
	struct elf_cache *elfs; /* borrowed */
	struct jit_cache *jits; /* borrowed */
	struct kernel_symbols *kernel; /* borrowed; NULL when they could not be read */
	/* Borrowed, atomic: no waiting beyond it; NULL: see symbolizer_name_window() */
	const uint64_t *give_up_ns;
	/* The time after a window's end for which files are waited for that take the slow worker
	 * long, so that they do not delay the names of others; 0: as long as for all files. */
	uint64_t slow_wait_ns;
	struct symbol_line kernel_line; /* the last answer about the kernel */
	uint64_t nr_named; /* locations that got a symbol's name */
	uint64_t nr_unnamed; /* that got file+0xoffset, or nothing but SYMBOLIZER_NO_ROOM */
};

/* Reads kallsyms. Without kernel symbols kernel frames are named by address: worth a line in the
 * log, not an error. Errors: -ENOMEM. */
int symbolizer_load_kernel(int proc_fd, struct kernel_symbols **ret_kernel) must_check;

/* Names all locations, completes the mappings, and places the locations in them (placing.h). Waits
 * for files that must be read up to `until_ns` (CLOCK_MONOTONIC) or up to *give_up_ns, whichever is
 * earlier; later windows have what was read after that. Names of functions may take
 * WINDOW_MAX_NAME_BYTES. Beyond that, code is named by file and offset, and beyond
 * WINDOW_MAX_FALLBACK_BYTES of such names it gets none: the names of one container can cost others
 * their names, but never their samples. Errors: -ENOMEM; what is done stays. */
int symbolizer_name_window(struct symbolizer *symbolizer, struct window *window, uint64_t until_ns)
	must_check;

/* As symbolizer_name_window(), but locations in files of which more may be known later stay without
 * a name; `*ret_nr_left` says how many. Code of JIT compilers and of the kernel is named now in any
 * case, by its memory or address if there is no room for more, because its address may belong to
 * other code later. Waits for files only while *give_up_ns is UINT64_MAX. */
int symbolizer_name_window_partly(struct symbolizer *symbolizer, struct window *window,
				  uint64_t until_ns, size_t *ret_nr_left) must_check;

/* Completes symbolizer_name_window_partly() at any later time, with what is known then. It waits
 * for nothing and has no lists of JIT compilers read. It has the room of symbolizer_name_window(),
 * besides what was named before. Errors as there. */
int symbolizer_name_window_rest(struct symbolizer *symbolizer, struct window *window) must_check;

/* Asks for what is missing to name a window, without waiting for it. Returns how many locations
 * lack something; 0 means that there is nothing to wait for. */
size_t symbolizer_ask(struct symbolizer *symbolizer, const struct window *window);

#endif
