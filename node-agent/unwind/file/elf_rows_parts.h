/* SPDX-License-Identifier: Apache-2.0 */
/* What elf_rows.c reads and elf_rows_build.c makes a table of. */
#ifndef UNWIND_FILE_ELF_ROWS_PARTS_H
#define UNWIND_FILE_ELF_ROWS_PARTS_H

#include "unwind/file/elf_rows.h"
#include "unwind/file/elf_sections.h"
#include "unwind/rows/functions.h"

#define ELF_ROWS_MAX_SEGMENTS 64 /* executable ones */

struct elf_rows {
	size_t max_bytes;
	uint64_t hash_seed;
	struct elf_budget budget;
	struct elf_reader reader;
	struct elf_reader debug_reader; /* all zero without a debug file */
	struct elf_sections sections;
	struct unwind_source
		*sources[ELF_MAX_UNWIND_SECTIONS]; /* owned; of each section, or NULL */
	struct code_segment segments[ELF_ROWS_MAX_SEGMENTS]; /* by offset, without overlaps */
	size_t nr_segments;
	uint64_t entry; /* address of the first instruction of a program */
	uint64_t go_text;
	uint64_t text_address;
	uint64_t got_address;
	struct unwind_source *rest; /* owned; of code that nothing else describes, or NULL */
	uint64_t rest_hash[2]; /* of what it works on */
	struct elf_rows_key key;
	struct unwind_losses losses; /* when it was read */
};

/* Sets `rest` if there is code that the sources do not have, and it is little enough (elf_gaps.c). Errors:
 * -ENOMEM. */
int elf_rows_find_rest(struct elf_rows *rows) must_check;
void elf_rows_free_rest(struct elf_rows *rows);

#endif
