/* SPDX-License-Identifier: Apache-2.0 */
/* The names of kernel functions, including those of modules and BPF programs that are loaded while
 * the agent runs. Belongs to one thread.
 *
 * /proc/kallsyms does not report its changes, and has no sizes: behind an old BPF program there may
 * be a new one that is not in the list yet. So the file is read again if an address is in no
 * function, or in a function of a module or BPF program; but not until KERNEL_SYMBOLS_MIN_WAIT_NS
 * after the last time. If that does not change the name of the address, the next wait is twice as
 * long, up to KERNEL_SYMBOLS_MAX_WAIT_NS; if it does, the next wait is the shortest one again.
 *
 * In the worst case, the file is read six times per minute, and each time brings a new name.
 * If none does, it is read three times in the first minute, and every ten minutes in the long
 * run. To read 122 thousand lines takes 80 ms of CPU time: at most 0.8 % of one CPU, and
 * 0.013 % in the long run. */
#ifndef SYMBOL_KERNEL_KERNEL_SYMBOLS_H
#define SYMBOL_KERNEL_KERNEL_SYMBOLS_H

#include "base/cleanup.h"
#include "base/err.h"

#include <stdint.h>

#define KERNEL_SYMBOLS_MIN_WAIT_NS (UINT64_C(10) * 1000000000)
#define KERNEL_SYMBOLS_CHANGED_WAIT_NS (UINT64_C(1) * 1000000000)
#define KERNEL_SYMBOLS_MAX_WAIT_NS (UINT64_C(600) * 1000000000)

struct kernel_symbols;

/* Reads `kallsyms` in the directory for the first time. *ret_error is 0, or the error of
 * kallsyms_load(); then kernel addresses have no names until the file can be read. Errors:
 * -ENOMEM. */
int kernel_symbols_new(int proc_fd, uint64_t now_ns, int *ret_error,
		       struct kernel_symbols **ret_symbols) must_check;
void kernel_symbols_free(struct kernel_symbols *symbols);
DEFINE_FREEP(struct kernel_symbols, kernel_symbols_free)

/* Notes that the kernel's code changed at a time (CLOCK_MONOTONIC, like all times here). The next
 * address in a module or BPF program, or in no function, then waits only
 * KERNEL_SYMBOLS_CHANGED_WAIT_NS before the file is read again. Any thread. */
void kernel_symbols_outdate(struct kernel_symbols *symbols, uint64_t time_ns);

/* As kallsyms_find(). May read the file again, which frees all strings returned before. `now_ns`
 * never decreases. */
const char *kernel_symbols_find(struct kernel_symbols *symbols, uint64_t address, uint64_t now_ns,
				const char **ret_module);

/* As kallsyms_each(), of the list that was read last; nothing if none was. */
void kernel_symbols_each(const struct kernel_symbols *symbols,
			 void (*handle)(const char *name, uint64_t start, uint64_t end, void *data),
			 void *data);

#endif
