/* SPDX-License-Identifier: Apache-2.0 */
/* Finds V8 in a file that exports nothing of it, by what each V8 has: its builtins, which are
 * functions that its own compiler made, and the table of them in read-only data. By number of the
 * function, the table has its offset in the code, its length, and an offset of other data. Bytes of
 * 0xcc fill the code up to the next function, so the code is found by the table. Compressed
 * pointers are added to the address of a cage: that of the heap is in a register, that of trusted
 * space in the isolate, to which the root register points.
 * Sources: V8's src/snapshot/embedded/embedded-data.h (LayoutDescription),
 * src/codegen/x64/macro-assembler-x64.cc (DecompressTagged, DecompressProtected). */
#ifndef RUNTIME_V8_V8_EMBEDDED_H
#define RUNTIME_V8_V8_EMBEDDED_H

#include "base/err.h"
#include "elf/elf_reader.h"

#include <stdbool.h>
#include <stdint.h>

struct v8_embedded {
	uint64_t start; /* of the code: offsets in the file */
	uint64_t end;
	/* Known on x86-64 only: */
	bool is_compressed; /* the code expects pointers of four bytes */
	uint16_t trusted_cage; /* where the root register has a trusted cage's address; 0: none */
};

/* Finds the builtins. Only files with much code are searched. Errors: -ENOENT there are none;
 * -ENOMEM; those of elf_reader_read(). */
int v8_embedded_find(const struct elf_reader *reader, struct v8_embedded *ret_embedded) must_check;

#endif
