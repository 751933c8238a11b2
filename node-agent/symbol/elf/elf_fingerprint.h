/* SPDX-License-Identifier: Apache-2.0 */
/* Recognizes files with the same symbols, without building their tables, which costs several times
 * as much. Copies are common, because each container has its own copy of the files of its image.
 *
 * The build id alone is not sufficient: the author of a file chooses it, and could so control the
 * names in another container's profile. Therefore everything that a table is made of is hashed as
 * well: headers, names of sections and every byte of the symbol sources. Only the agent and its
 * workers know the seed. The hash has 128 bits, so no two files have the same one by chance, even
 * if somebody makes a large number of files.
 *
 * The symbol worker takes fingerprints, the agent compares them. */
#ifndef SYMBOL_ELF_ELF_FINGERPRINT_H
#define SYMBOL_ELF_ELF_FINGERPRINT_H

#include "elf/elf_reader.h"

#include <stdbool.h>

#define ELF_FINGERPRINT_MAX_DEBUG_BYTES ((size_t)32 << 20)

/* The form in which the worker sends it to the agent. There is no padding. */
struct elf_fingerprint {
	char build_id[2 * ELF_BUILD_ID_MAX + 8]; /* zeros behind the text */
	uint64_t size; /* of the file */
	uint64_t hash[2];
};

/* The bytes of a SYMBOL_REQUEST_FINGERPRINT (symbol_worker.h). */
struct elf_fingerprint_opts {
	uint64_t seed; /* fingerprints with different seeds cannot be compared */
	/* As for elf_symbols_load() of the same file. A file with a larger source has no
	 * fingerprint. */
	uint64_t max_bytes;
	uint64_t wants_lines; /* 1: all debug information is hashed, too */
	uint64_t max_debug_bytes; /* of debug information; 0: ELF_FINGERPRINT_MAX_DEBUG_BYTES */
};

/* Takes the fingerprint of a file. Errors: as elf_symbols_load(). A file without a fingerprint can
 * still be read, but it is never recognized as a copy. */
int elf_fingerprint_take(int fd, const struct elf_fingerprint_opts *opts,
			 struct elf_fingerprint *ret_print) must_check;

/* Parses the worker's reply and checks its length, the build id and the file size. Errors:
 * -EBADMSG. */
int elf_fingerprint_parse(const void *bytes, size_t len, struct elf_fingerprint *ret_print)
	must_check;

bool elf_fingerprint_is_equal(const struct elf_fingerprint *a, const struct elf_fingerprint *b);

#endif
