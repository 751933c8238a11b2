/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the USDT probes by which a program or library tells of its allocations
 * (bpf/shared/heap.h). Each is described by a note in the section .note.stapsdt, as
 * https://sourceware.org/systemtap/wiki/UserSpaceProbeImplementation says. Files that prelink(8)
 * has moved are not read rightly. */
#ifndef ELF_ELF_PROBES_H
#define ELF_ELF_PROBES_H

#include "base/err.h"
#include "bpf/shared/heap.h"
#include "elf/elf_reader.h"

#define ELF_PROBES_MAX_NOTE_BYTES ((uint64_t)4 << 20) /* of a section */

/* Finds the first HEAP_MAX_PROBES probes of a 64-bit file; none is no error. Probes whose arguments
 * are elsewhere than in registers or near the address in one are left out. Errors: -EBADMSG a
 * probe that is not in the file's segments; those of elf_reader_data(). */
int elf_probes_find(struct elf_reader *reader, struct heap_probes *ret_probes) must_check;

#endif
