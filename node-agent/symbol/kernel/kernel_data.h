/* SPDX-License-Identifier: Apache-2.0 */
/* The variables of the kernel and its modules, from /proc/kallsyms: names for addresses of data,
 * such as static locks. Only kernels with CONFIG_KALLSYMS_ALL list them; then there are tens of
 * thousands. Each takes 16 bytes and its name. */
#ifndef SYMBOL_KERNEL_KERNEL_DATA_H
#define SYMBOL_KERNEL_KERNEL_DATA_H

#include "base/cleanup.h"
#include "base/err.h"

#include <stdint.h>

/* The file has no sizes: a variable reaches to the next one, but no further than this. */
#define KERNEL_DATA_MAX_BYTES (UINT64_C(1) << 14)

struct kernel_data;

/* Reads a file in the format of /proc/kallsyms, once. Skips malformed lines, functions and
 * constants. Errors: -ENOSPC over a million variables or 64 MB of text, -ENOMEM, those of openat(2)
 * and read(2). Without the right to see addresses there are no variables. */
int kernel_data_new(int dir_fd, const char *path, struct kernel_data **ret_data) must_check;

void kernel_data_free(struct kernel_data *data);
DEFINE_FREEP(struct kernel_data, kernel_data_free)

/* Returns the name of the variable that holds an address, borrowed, and how far in it the address
 * is; or NULL. */
const char *kernel_data_find(const struct kernel_data *data, uint64_t address,
			     uint64_t *ret_offset);

#endif
