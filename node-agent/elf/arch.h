/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers in ELF, DWARF and Go's function table that depend on the architecture. bpf/shared/cfi.h
 * decides which architecture it is. */
#ifndef ELF_ARCH_H
#define ELF_ARCH_H

#include "bpf/shared/cfi.h"

#include <gelf.h>

#if CFI_IS_ARM64

#define ARCH_ELF_MACHINE EM_AARCH64
#define ARCH_ELF_RELATIVE R_AARCH64_RELATIVE
#define ARCH_ELF_EH_FRAME SHT_NULL /* .eh_frame has no type of its own */

/* The column of the return address is that of lr, which holds it until it is saved. */
#define DWARF_REG_RA CFI_LR
#define DWARF_REG_PC 32

#define ARCH_GO_NAME "arm64"
#define ARCH_GO_PC_QUANTUM 4

#else

#define ARCH_ELF_MACHINE EM_X86_64
#define ARCH_ELF_RELATIVE R_X86_64_RELATIVE
#define ARCH_ELF_EH_FRAME 0x70000001 /* SHT_X86_64_UNWIND */

/* The column of the return address does not belong to a register. */
#define DWARF_REG_RA 16
#define DWARF_REG_PC 16

#define ARCH_GO_NAME "amd64"
#define ARCH_GO_PC_QUANTUM 1

#endif

#endif
