/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of the kernel that are known by name, by their addresses. */
#ifndef PIPELINE_KERNEL_RANGES_H
#define PIPELINE_KERNEL_RANGES_H

#include "symbol/kernel/kernel_symbols.h"

#include <stddef.h>
#include <stdint.h>

#define KERNEL_RANGES_MAX 256

/* A name matches a function with a suffix of the compiler, too ("do_poll.constprop.0"). "*" at its
 * end stands for any end. */
struct kernel_name {
	const char *name;
	unsigned int meaning; /* not 0 */
};

struct kernel_ranges {
	struct kernel_range {
		uint64_t start, end;
		unsigned int meaning;
	} ranges[KERNEL_RANGES_MAX]; /* in the order of addresses */
	size_t nr;
};

/* Finds the functions. What is over KERNEL_RANGES_MAX is left out. */
void kernel_ranges_init(struct kernel_ranges *ranges, const struct kernel_symbols *symbols,
			const struct kernel_name *names, size_t nr_names);

/* Returns what the function at an address means; 0: nothing. */
unsigned int kernel_ranges_find(const struct kernel_ranges *ranges, uint64_t address);

#endif
