/* SPDX-License-Identifier: Apache-2.0 */
/* Names the locations of a window: the symbolizer thread's half of symbolization (locate.h is the
 * reader's). Every location gets a name. Without a symbol it is `libfoo.so+0x123`, a number that
 * addr2line takes: the address of the function's first instruction, or the address itself if it is
 * unknown where functions begin. */
#ifndef PIPELINE_SYMBOLIZER_H
#define PIPELINE_SYMBOLIZER_H

#include "base/err.h"
#include "pipeline/window.h"
#include "runtime/client/runtimes.h"
#include "symbol/elf_cache.h"
#include "symbol/jit/jit_cache.h"
#include "symbol/kernel/kernel_symbols.h"

#include <stddef.h>
#include <stdint.h>

/* The name of code whose name found no room. */
#define SYMBOLIZER_NO_ROOM "[name left out]"

struct symbolizer {
	struct elf_cache *elfs; /* borrowed */
	struct jit_cache *jits; /* borrowed */
	struct runtimes *runtimes; /* borrowed; NULL: their frames have no names */
	struct kernel_symbols *kernel; /* borrowed; NULL when they could not be read */
	/* Borrowed, atomic: no waiting beyond it; NULL: see symbolizer_name_window() */
	const uint64_t *give_up_ns;
	/* The time after a window's end for which files are waited for that take the slow worker
	 * long, so that they do not delay the names of others; 0: as long as for all files. */
	uint64_t slow_wait_ns;
	struct symbol_line kernel_line; /* the last name of kernel code */
	uint64_t nr_named; /* locations that got a symbol's name */
	uint64_t nr_unnamed; /* locations that got file+0xoffset or SYMBOLIZER_NO_ROOM */
};

/* Reads kallsyms. If that fails, kernel frames are named by address, and the log says so. Errors:
 * -ENOMEM. */
int symbolizer_load_kernel(int proc_fd, struct kernel_symbols **ret_kernel) must_check;

/* Names all locations, completes the mappings, and places the locations in them (placing.h).
 * Waits for files that must be read up to `until_ns` (CLOCK_MONOTONIC) or up to *give_up_ns,
 * whichever is earlier; files that are read after that serve later windows. Names of
 * functions may take WINDOW_MAX_NAME_BYTES. Beyond that, code is named by file and offset,
 * and beyond WINDOW_MAX_FALLBACK_BYTES of such names it is SYMBOLIZER_NO_ROOM. So one
 * container's names can cost others their names, but never their samples. Errors: -ENOMEM;
 * locations that were named stay so. */
int symbolizer_name_window(struct symbolizer *symbolizer, struct window *window, uint64_t until_ns)
	must_check;

/* As symbolizer_name_window(), but leaves `*ret_nr_left` locations without a name, in files whose
 * names may be known later. It names code of JIT compilers and of the kernel in any case, by its
 * memory or address if there is no room for more, because its address may belong to other code
 * later. Waits for files only while *give_up_ns is UINT64_MAX. */
int symbolizer_name_window_partly(struct symbolizer *symbolizer, struct window *window,
				  uint64_t until_ns, size_t *ret_nr_left) must_check;

/* Completes symbolizer_name_window_partly() at any later time, with the names known then. It waits
 * for nothing and does not have lists of JIT compilers read. Its names have the room of
 * symbolizer_name_window(), in addition to earlier ones. Errors as there. */
int symbolizer_name_window_rest(struct symbolizer *symbolizer, struct window *window) must_check;

/* Asks for the files and lines that a window's names lack, without waiting for them. Returns the
 * number of locations that lack something; 0 means that there is nothing to wait for. */
size_t symbolizer_ask(struct symbolizer *symbolizer, const struct window *window);

#endif
