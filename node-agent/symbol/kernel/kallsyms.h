/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of the kernel, its modules and BPF programs, from /proc/kallsyms. */
#ifndef SYMBOL_KERNEL_KALLSYMS_H
#define SYMBOL_KERNEL_KALLSYMS_H

#include "base/cleanup.h"
#include "base/err.h"

#include <stdint.h>

/* The file has no sizes, so a function reaches to the next one. It is never larger than this,
 * because the memory behind the last function of the kernel, of the modules or of the BPF programs
 * is unused. */
#define KALLSYMS_MAX_FUNCTION_BYTES (UINT64_C(1) << 20)

struct kallsyms;

/* Reads a file in the format of /proc/kallsyms: `address type name [module]`. Skips malformed lines
 * and data symbols. Errors: -EPERM if all addresses are 0 (kptr_restrict is set, or CAP_SYSLOG is
 * missing); -EBADMSG if no line is well-formed; -ENOSPC for over a million functions or 64 MB of
 * names; -ENOMEM; those of openat(2) and read(2). */
int kallsyms_load(int dir_fd, const char *path, struct kallsyms **ret_kallsyms) must_check;

void kallsyms_free(struct kallsyms *kallsyms);
DEFINE_FREEP(struct kallsyms, kallsyms_free)

/* Returns the name of the function that holds an address, or NULL if none does. If several begin at
 * one address, a global one precedes a weak one, which precedes a local one; then the shortest name
 * wins. `ret_module` may be NULL. *ret_module is the function's module without brackets, "bpf" for
 * BPF programs and "" for the kernel itself. Both strings are borrowed from the table. */
const char *kallsyms_find(const struct kallsyms *kallsyms, uint64_t address,
			  const char **ret_module);

/* Calls `handle` for each function with its first address and the one behind its last, in the order
 * of addresses. */
void kallsyms_each(const struct kallsyms *kallsyms,
		   void (*handle)(const char *name, uint64_t start, uint64_t end, void *data),
		   void *data);

#endif
