/* SPDX-License-Identifier: Apache-2.0 */
/* MiniDebugInfo (gdb manual, "MiniDebugInfo"): an ELF file with nothing but symbols, those that
 * are not in .dynsym, compressed with xz and kept in the section .gnu_debugdata. Fedora's and
 * RHEL's programs have it. */
#ifndef SYMBOL_ELF_MINIDEBUG_H
#define SYMBOL_ELF_MINIDEBUG_H

#include "base/err.h"
#include "base/strbuf.h"
#include "elf/elf_reader.h"

/* Decompressed, whatever else is allowed: a buffer of 128 MB, with the byte behind the content. */
#define MINIDEBUG_MAX_BYTES (((size_t)128 << 20) - 1)
#define MINIDEBUG_MAX_DECODER_BYTES ((uint64_t)66 << 20) /* enough for xz -9 */

struct minidebug {
	struct strbuf bytes;
	struct elf_reader reader; /* of `bytes` */
	bool is_open;
};

/* Decompresses a section of the file and reads the headers of what comes out. `max_bytes` bounds
 * that. Errors: -EBADMSG damaged or no ELF file, -ENOSPC, -ENOMEM, what pread() says. */
int minidebug_open(struct minidebug *minidebug, const struct elf_reader *file,
		   const GElf_Shdr *section, size_t max_bytes) must_check;
void minidebug_close(struct minidebug *minidebug);

#endif
