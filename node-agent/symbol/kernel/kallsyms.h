/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel's own functions, modules and BPF programs included, from /proc/kallsyms. */
#ifndef SYMBOL_KERNEL_KALLSYMS_H
#define SYMBOL_KERNEL_KALLSYMS_H

#include "base/cleanup.h"
#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

/* The file has no sizes. A function reaches to the next one, but never over this: behind the last
 * function of the kernel, of the modules and of the BPF programs lies memory that is nobody's. */
#define KALLSYMS_MAX_FUNCTION_BYTES (UINT64_C(1) << 20)

struct kallsyms;

/* Reads a file in the format of /proc/kallsyms: `address type name [module]`. Malformed lines are
 * skipped and counted; data symbols are skipped. Errors: -ENOENT and what reading says; -EPERM when
 * all addresses are 0 (kptr_restrict, or CAP_SYSLOG missing); -EBADMSG when no line is well-formed;
 * -ENOSPC over a million functions or 64 MB of names; -ENOMEM. */
int kallsyms_load(int dir_fd, const char *path, struct kallsyms **ret_kallsyms) must_check;

/* The same from text. */
int kallsyms_parse(const char *text, size_t len, struct kallsyms **ret_kallsyms) must_check;

void kallsyms_free(struct kallsyms *kallsyms);
DEFINE_FREEP(struct kallsyms, kallsyms_free)

/* The function an address is in, or NULL where there is none; of several with one address, global
 * before weak before local, then the shortest name. *ret_module (may be NULL) is its module without
 * brackets, "bpf" for BPF programs and "" for the kernel itself. Borrowed from the table. */
const char *kallsyms_find(const struct kallsyms *kallsyms, uint64_t address,
			  const char **ret_module);

/* Memory the table holds, and the lines that were not understood. */
size_t kallsyms_bytes(const struct kallsyms *kallsyms);
uint64_t kallsyms_nr_bad_lines(const struct kallsyms *kallsyms);

#endif
