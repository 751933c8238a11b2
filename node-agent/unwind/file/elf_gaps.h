/* SPDX-License-Identifier: Apache-2.0 */
/* Rows for the code of an ELF file that none of its sources describes: a scan of that code
 * (code_scan.h). */
#ifndef UNWIND_FILE_ELF_GAPS_H
#define UNWIND_FILE_ELF_GAPS_H

#include "base/err.h"
#include "elf/elf_reader.h"
#include "unwind/rows/functions.h"
#include "unwind/rows/unwind_source.h"

#include <stddef.h>
#include <stdint.h>

/* All pointers are borrowed; the reader must outlive the source. */
struct elf_gaps {
	struct elf_reader *reader;
	struct elf_budget *budget; /* what the source holds stays charged to it */
	struct code_segments segments; /* executable ones, without overlaps */
	struct unwind_source *const *sources; /* the better one first; a NULL is no source */
	size_t nr_sources;
	size_t max_functions; /* of all sources */
	uint64_t entry; /* address of the first instruction of a program; 0: none */
	uint64_t hash_seed;
};

/* Makes a source of the code between the functions of the sources; NULL, and no hash, if there is
 * none or more than is scanned. The hash covers all that its rows depend on. Errors: -ENOSPC over
 * the budget; -EBADMSG; -ENOMEM; what pread(2) says. */
int elf_gaps_source_new(const struct elf_gaps *gaps, struct unwind_source **ret_source,
			uint64_t ret_hash[static 2]) must_check;

#endif
