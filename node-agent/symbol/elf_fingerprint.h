/* SPDX-License-Identifier: Apache-2.0 */
/* Tells whether two files have the same symbols without building their tables, which costs several
 * times as much. A container's image is a file of its own for every container, so copies are the rule.
 *
 * The build id alone would not do: whoever writes a file chooses it, and could give the names in another
 * container's profile. Therefore everything that a table is made from is hashed as well, headers, names of
 * sections and every byte of the symbol sources, with a seed nobody outside knows. */
#ifndef SYMBOL_ELF_FINGERPRINT_H
#define SYMBOL_ELF_FINGERPRINT_H

#include "symbol/elf_symbols.h"
#include "unwind/elf_reader.h"

#include <stdbool.h>

#define ELF_FINGERPRINT_MAX_DEBUG_BYTES ((size_t)32 << 20)

struct elf_fingerprint {
	char build_id[2 * ELF_BUILD_ID_MAX + 1];
	uint64_t size; /* of the file */
	uint64_t
		symbol_bytes; /* of symbols and their names in the file: about what its table costs */
	uint32_t hash;
};

/* `max_bytes` as for elf_symbols_load() of the same file: a source that is larger has no fingerprint. With `wants_lines`
 * debug information is a source, of at most ELF_FINGERPRINT_MAX_DEBUG_BYTES: all of it is read. Errors: as there.
 * A file without a fingerprint is not known to be a copy, nothing else is wrong with it. */
int elf_fingerprint_take(int fd, size_t max_bytes, bool wants_lines,
			 struct elf_fingerprint *ret_print) must_check;

bool elf_fingerprint_is_equal(const struct elf_fingerprint *a, const struct elf_fingerprint *b);

#endif
