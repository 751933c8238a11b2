/* SPDX-License-Identifier: Apache-2.0 */
/* The names of kernel functions, also of modules and BPF programs that are loaded while the agent
 * runs. Belongs to one thread.
 *
 * /proc/kallsyms does not tell when it changes, and has no sizes: behind an old BPF program may lie
 * a new one that is not in the list yet. So the file is read again when an address is in no
 * function, or in one of a module or BPF program; but not before KERNEL_SYMBOLS_MIN_WAIT_NS after
 * the last time. When that did not change the address's name the next wait is twice as long, up to
 * KERNEL_SYMBOLS_MAX_WAIT_NS; when it did, it begins with the shortest one again.
 *
 * Worst case: six readings a minute, if each one brings a new name; if none does, three in the
 * first minute and one in ten minutes in the long run. A reading of 122 thousand lines takes 80 ms
 * of CPU time: at most 0.8 % of one CPU, and 0.013 % in the long run. */
#ifndef SYMBOL_KERNEL_KERNEL_SYMBOLS_H
#define SYMBOL_KERNEL_KERNEL_SYMBOLS_H

#include "base/cleanup.h"
#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

#define KERNEL_SYMBOLS_MIN_WAIT_NS (UINT64_C(10) * 1000000000)
#define KERNEL_SYMBOLS_CHANGED_WAIT_NS (UINT64_C(1) * 1000000000)
#define KERNEL_SYMBOLS_MAX_WAIT_NS (UINT64_C(600) * 1000000000)

struct kernel_symbols;

struct kernel_symbols_stats {
	uint64_t nr_readings; /* that succeeded */
	uint64_t nr_failures; /* readings that did not; the old list stays */
	uint64_t nr_bad_lines; /* in the present list */
	uint64_t bytes; /* the present list; two and a half times more during a reading */
};

/* Reads `kallsyms` in the directory for the first time. Where it cannot be read all kernel
 * addresses stay without name until that succeeds, and *ret_error says why (see kallsyms_load();
 * else 0). Errors: -ENOMEM. */
int kernel_symbols_new(int proc_fd, uint64_t now_ns, int *ret_error,
		       struct kernel_symbols **ret_symbols) must_check;
void kernel_symbols_free(struct kernel_symbols *symbols);
DEFINE_FREEP(struct kernel_symbols, kernel_symbols_free)

/* The kernel's code changed at that time (CLOCK_MONOTONIC, as all times here): the next address in
 * a module or BPF program, or in none, makes the file be read again after
 * KERNEL_SYMBOLS_CHANGED_WAIT_NS. Any thread. */
void kernel_symbols_outdate(struct kernel_symbols *symbols, uint64_t time_ns);

/* The function an address is in, or NULL; see kallsyms_find(). `now_ns` never goes back. May read
 * the file again, which ends the life of all texts returned before. */
const char *kernel_symbols_find(struct kernel_symbols *symbols, uint64_t address, uint64_t now_ns,
				const char **ret_module);

struct kernel_symbols_stats kernel_symbols_get_stats(const struct kernel_symbols *symbols);

#endif
