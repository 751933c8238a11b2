/* SPDX-License-Identifier: Apache-2.0 */
/* Tells whether two files have the same symbols without building their tables, which
 * costs several times as much. A container's image is a file of its own for every
 * container, so copies are the rule.
 *
 * The build id alone would not do: whoever writes a file chooses it, and could give the names in
 * another container's profile. Therefore everything that a table is made from is hashed as well,
 * headers, names of sections and every byte of the symbol sources, with a seed that only the agent
 * and its workers know. The hash has 128 bits, so that no two files have the same one by chance,
 * however many of them somebody makes.
 *
 * The symbol worker takes fingerprints, the agent compares them. */
#ifndef SYMBOL_ELF_ELF_FINGERPRINT_H
#define SYMBOL_ELF_ELF_FINGERPRINT_H

#include "elf/elf_reader.h"
#include "symbol/elf/elf_symbols.h"

#include <stdbool.h>

#define ELF_FINGERPRINT_MAX_DEBUG_BYTES ((size_t)32 << 20)

/* As it travels from the worker to the agent: without padding. */
struct elf_fingerprint {
	char build_id[2 * ELF_BUILD_ID_MAX + 8]; /* zeros behind the text */
	uint64_t size; /* of the file */
	uint64_t hash[2];
};

/* The request of that name (symbol_worker.h) has one behind it. */
struct elf_fingerprint_opts {
	uint64_t seed; /* fingerprints of different seeds cannot be compared */
	/* As for elf_symbols_load() of the same file: a source that is larger has no
	 * fingerprint. */
	uint64_t max_bytes;
	/* 1: debug information is a source: all of it is read. */
	uint64_t wants_lines;
	uint64_t max_debug_bytes; /* of it; 0: ELF_FINGERPRINT_MAX_DEBUG_BYTES */
};

/* Errors: as elf_symbols_load(). A file without a fingerprint is not known to be a copy,
 * nothing else is wrong with it. */
int elf_fingerprint_take(int fd, const struct elf_fingerprint_opts *opts,
			 struct elf_fingerprint *ret_print) must_check;

/* What the worker answered, checked: its length, its text and the file's size. Errors: -EBADMSG. */
int elf_fingerprint_parse(const void *bytes, size_t len, struct elf_fingerprint *ret_print)
	must_check;

bool elf_fingerprint_is_equal(const struct elf_fingerprint *a, const struct elf_fingerprint *b);

#endif
