/* SPDX-License-Identifier: Apache-2.0 */
/* MiniDebugInfo (gdb manual, "MiniDebugInfo"): an ELF file that has only the symbols that
 * are not in .dynsym. It is compressed with xz, in the section .gnu_debugdata. Programs of
 * Fedora and RHEL have it. */
#ifndef SYMBOL_ELF_MINIDEBUG_H
#define SYMBOL_ELF_MINIDEBUG_H

#include "base/err.h"
#include "base/strbuf.h"
#include "elf/elf_reader.h"

/* Maximum size after decompression, whatever the caller allows. The buffer has 128 MB, with one
 * byte behind the content. */
#define MINIDEBUG_MAX_BYTES (((size_t)128 << 20) - 1)
#define MINIDEBUG_MAX_DECODER_BYTES ((uint64_t)66 << 20) /* enough for xz -9 */

struct minidebug {
	struct strbuf bytes;
	struct elf_reader reader; /* of `bytes` */
	bool is_open;
};

/* Decompresses a section of the file, and reads the headers of the result. `max_bytes` bounds the
 * result. Errors: -EBADMSG damaged or no ELF file, -ENOSPC, -ENOMEM, those of pread(2). */
int minidebug_open(struct minidebug *minidebug, const struct elf_reader *file,
		   const GElf_Shdr *section, size_t max_bytes) must_check;
void minidebug_close(struct minidebug *minidebug);

#endif
