/* SPDX-License-Identifier: Apache-2.0 */
/* The hottest stack of a row: the path from the root that most samples share, as deep as more than
 * half of them still share it.
 *
 *	all 100 %
 *	  main 100 %
 *	    serve 96 %
 *	      lookup 70 %
 *	        hash 40 %, compare 30 %
 *
 * Here it is "lookup ← serve ← main": 70 % of the CPU time was spent in lookup and what it called.
 * Threads often begin in different functions. The heaviest of these counts as the whole. So does
 * the heaviest one behind start-up functions, such as main, that no majority goes on from. */
#ifndef TOP_HOT_STACK_H
#define TOP_HOT_STACK_H

#include "base/err.h"
#include "profile/cpu_split.h"
#include "top/tally.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HOT_FRAMES_MAX 64

struct hot_frame {
	const char *name; /* borrowed from the profile; not printable */
	enum frame_kind kind;
};

struct hot_stack {
	/* The deepest first; a recursion is one frame. Of a longer path, the outermost are
	 * omitted. */
	struct hot_frame frames[HOT_FRAMES_MAX];
	size_t nr_frames; /* 0: the row has no stacks */
	uint64_t
		count; /* samples in the first frame and in what it called; of waits: nanoseconds */
	/* Where most of these samples were taken; or what most of these waits are for. */
	enum cpu_side side;
	enum wait_reason reason;
	uint64_t whole; /* of waits: nanoseconds of those that were looked at */
};

/* Finds the hottest stack of a row. With `hides_kernel`, stacks end at the application's last
 * function, and samples without any do not count. Errors: -ENOMEM. */
int hot_stack_find(const struct tally *tally, const struct tally_row *row, bool hides_kernel,
		   struct hot_stack *ret_stack) must_check;

/* Finds that of a row's waits: those in which threads with work to do were blocked; if there are
 * none, those for a CPU; else those for sockets and pipes. It ends at the application's last
 * function, as the reason tells the kernel's part, unless all functions are the kernel's. Errors:
 * -ENOMEM. */
int hot_stack_find_wait(const struct tally *tally, const struct tally_row *row,
			struct hot_stack *ret_stack) must_check;

#endif
