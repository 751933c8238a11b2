/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAPTURE_BPF_TRAP_COST_H
#define CAPTURE_BPF_TRAP_COST_H

#include "base/err.h"

#include <stdint.h>

struct bpf_program;

/* Measures how much longer a call takes that heap_call() (bpf/heap.bpf.c) looks at, by a function
 * of this process. Opens the window (heap_window) meanwhile. Errors: -ENOENT the function is in no
 * segment of the program's file; those of open(2) and uprobe_multi_attach(). */
int trap_cost_measure(const struct bpf_program *program, volatile uint64_t *window,
		      uint64_t *ret_ns) must_check;

#endif
