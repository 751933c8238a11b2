/* SPDX-License-Identifier: Apache-2.0 */
/* The oracle: unwinds a copy of a stack by libdw of elfutils, which reads .eh_frame and
 * .debug_frame itself, with code that has nothing in common with ours.
 *
 * Where libdw finds no CFI it takes one step by frame pointer without looking where that leads.
 * What it finds is therefore cut before the first frame that is not in executable memory. */
#ifndef TESTS_UNWIND_LIBDW_STACK_H
#define TESTS_UNWIND_LIBDW_STACK_H

#include "base/cleanup.h"
#include "base/err.h"
#include "process/mapping_list.h"
#include "tests/oracle/unwind/recording.h"

#include <stddef.h>
#include <stdint.h>

#define LIBDW_MAX_FRAMES 2048

enum libdw_end {
	LIBDW_COMPLETE, /* the root */
	/* needs memory that was not copied, or the stack's bottom is reached, which is no root: the
	 * stack may go on elsewhere */
	LIBDW_END_OF_STACK,
	LIBDW_FAILED, /* see `why` */
	LIBDW_UNTOLD, /* the CFI of the last frame is wrong, so that no unwinder could go on */
};

struct libdw_stack {
	uint64_t frames[LIBDW_MAX_FRAMES]; /* leaf first */
	size_t nr_frames;
	enum libdw_end end;
	char why[160]; /* libdw failed: how, and in which module */
};

struct libdw;

/* For a process that maps the files in `maps`, the text of /proc/PID/maps, of which `list` has the
 * executable ones. The process need not live any more, but its files must be there. */
int libdw_new(const char *maps, size_t len, const struct mapping_list *list,
	      struct libdw **ret_libdw) must_check;
void libdw_free(struct libdw *libdw);
DEFINE_FREEP(struct libdw, libdw_free)

/* `list` has the process's executable mappings. */
void libdw_unwind(struct libdw *libdw, const struct mapping_list *list,
		  const struct perf_copy *copy, struct libdw_stack *ret_stack);

/* "libfoo.so+0x123 function" (a virtual address of the file); "?" where there is no module. */
void libdw_describe(struct libdw *libdw, uint64_t address, char *ret_text, size_t text_bytes);

#endif
