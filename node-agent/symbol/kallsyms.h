/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel's own symbols, modules and BPF programs included, from /proc/kallsyms. */
#ifndef SYMBOL_KALLSYMS_H
#define SYMBOL_KALLSYMS_H

#include "base/cleanup.h"
#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

struct kallsyms;

/* Reads a file in the format of /proc/kallsyms: `address type name [module]`. Malformed lines are skipped
 * and counted. Errors: -ENOENT and what reading says; -EPERM when all addresses are 0 (kptr_restrict, or
 * CAP_SYSLOG missing); -EBADMSG when no line is well-formed; -ENOMEM. */
int kallsyms_load(int dir_fd, const char *path, struct kallsyms **ret_kallsyms) must_check;
void kallsyms_free(struct kallsyms *kallsyms);
DEFINE_FREEP(struct kallsyms, kallsyms_free)

/* The function an address is in, or NULL below the first; *ret_module (may be NULL) is "" for the kernel
 * itself. Borrowed from the table. */
const char *kallsyms_find(const struct kallsyms *kallsyms, uint64_t address,
			  const char **ret_module);

size_t kallsyms_bytes(const struct kallsyms *kallsyms);
uint64_t kallsyms_nr_bad_lines(const struct kallsyms *kallsyms);

#endif
