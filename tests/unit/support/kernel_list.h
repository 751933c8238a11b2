/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of a kernel that is not this one. */
#ifndef KERNEL_LIST_H
#define KERNEL_LIST_H

#include "symbol/kernel/kernel_symbols.h"

/* Returns the functions of a text like /proc/kallsyms. Owned by the caller. */
struct kernel_symbols *kernel_list_read(const char *list);

#endif
