/* SPDX-License-Identifier: Apache-2.0 */
/* From the addresses of a sample to locations of its window, while the process still lives: the
 * reader's half of symbolization. Names come later (symbolizer.h). */
#ifndef PIPELINE_LOCATE_H
#define PIPELINE_LOCATE_H

#include "base/err.h"
#include "bpf/shared/events.h"
#include "pipeline/runtime_binder.h"
#include "pipeline/window.h"
#include "process/process_table.h"
#include "symbol/elf_cache.h"
#include "symbol/jit/jit_cache.h"

#include <stdint.h>

/* Frames of a sample and the one that says why its stack ends. */
#define LOCATE_MAX_FRAMES (MAX_FRAMES + 1)

struct locator {
	struct process_table *processes; /* borrowed */
	struct elf_cache *elfs; /* borrowed */
	struct jit_cache *jits; /* borrowed */
	struct runtime_binder *runtimes; /* borrowed; NULL: frames of runtimes have no names */
	struct window *window; /* borrowed; the one that is filled now */
	uint64_t owner; /* of the files of the present sample: its cgroup */
	struct process *process; /* out: of the present sample, if it was asked for; borrowed */
	uint32_t runtime_process; /* its id for runtimes_frame(); 0: not asked for */
};

/* Returns the address of the code of the user frame in a sample's i-th word, which is an address
 * and not a frame of a runtime. This is one byte before a return
 * address, which may be one past the end of its code. It is the return address itself if the kernel
 * gave it to a signal handler: there begins the code that returns from the handler. */
uint64_t locate_code_address(const struct sample_event *event, uint32_t i);

/* Adds the stack of a sample to the window. Errors: those of the builder. */
int locate_stack(struct locator *locator, const struct sample_event *event, uint32_t *ret_stack)
	must_check;

/* What stands above the stack of a thread that waited, or below that of an interrupt. All of it is
 * borrowed for the call. */
struct locate_tip {
	/* For what it waited, as a frame: a lock, a CPU; or the memory that grew. NULL: none */
	const char *cause;
	const struct sample_event *waker; /* who woke it; NULL: not known */
	const char *waker_name; /* stands in front of the stack of `waker` */
	const char *root; /* the interrupt, as a frame, or what stands for a stack; NULL: none */
};

/* Adds the stack of a thread that waited, then a frame for the cause, then one with the name of the
 * waker, then the stack of the waker. Or adds the stack of an interrupt, and below it the frame for
 * the interrupt. Errors: those of the builder. */
int locate_waiting_stack(struct locator *locator, const struct sample_event *event,
			 const struct locate_tip *tip, uint32_t *ret_stack) must_check;

#endif
