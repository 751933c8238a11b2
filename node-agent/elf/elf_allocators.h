/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the functions that a library or program exports for allocating memory: those of the C
 * library, also of another allocator in its place (jemalloc, tcmalloc), and operator new of files
 * that have both. Elsewhere, operator new calls malloc. */
#ifndef ELF_ELF_ALLOCATORS_H
#define ELF_ELF_ALLOCATORS_H

#include "base/err.h"
#include "bpf/shared/heap.h"
#include "elf/elf_reader.h"

/* Appends a probe HEAP_PROBE_CALL for each function, while there is room; none is no error. Each is
 * at the first instruction that does anything: behind endbr64, which uprobes run more slowly.
 * Errors: -EBADMSG a function that is not in the file's segments; those of elf_exports_init() and
 * elf_exports_find() but -ENOENT. */
int elf_allocators_find(struct elf_reader *reader, struct heap_probes *probes) must_check;

#endif
