/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the row table of an ELF file from all sources that it has: .gopclntab, which takes
 * precedence in its functions; .eh_frame, with or without section headers; and if there is neither,
 * or nearly nothing, .debug_frame, its own or that of a separate debug file, which the caller finds
 * by build id or .gnu_debuglink.
 *
 * The file may be hostile, see elf/elf_reader.h. */
#ifndef UNWIND_FILE_ELF_ROWS_H
#define UNWIND_FILE_ELF_ROWS_H

#include "base/err.h"
#include "elf/elf_reader.h"
#include "unwind/rows/row_table.h"
#include "unwind/rows/unwind_source.h"

#include <stddef.h>
#include <stdint.h>

#define ELF_ROWS_MAX_SECTION_BYTES ((size_t)256 << 20)
#define ELF_ROWS_MAX_HELD_BYTES ((size_t)256 << 20) /* see elf_budget.h */
#define ELF_ROWS_MAX_FUNCTIONS ((size_t)4 << 20)

/* State of the search for a separate debug file. The process that reads a file may not open
 * others. */
enum elf_rows_debug {
	ELF_ROWS_DEBUG_NONE, /* there is none */
	ELF_ROWS_DEBUG_ASK, /* tell whether one is wanted */
	ELF_ROWS_DEBUG_BY_ID, /* it was found by the build id, and counts if it has the same one */
	/* … by the name in .gnu_debuglink, and counts if it has that checksum */
	ELF_ROWS_DEBUG_BY_LINK,
	ELF_ROWS_NR_DEBUG,
};

#define ELF_ROWS_LINK_BYTES 256 /* of a name, with the NUL */

/* Identifies the debug file (debug_file.h). */
struct elf_rows_wanted {
	char build_id[2 * ELF_BUILD_ID_MAX + 1]; /* as in struct elf_rows_key */
	char link[ELF_ROWS_LINK_BYTES]; /* the name, without a "/"; "" when there is none */
};

struct elf_rows_opts {
	size_t max_bytes; /* of the table */
	size_t max_held_bytes; /* of all that is in memory at a time; 0: ELF_ROWS_MAX_HELD_BYTES */
	uint64_t hash_seed; /* of the key: equal files have equal keys under one seed */
	enum elf_rows_debug debug;
	int debug_fd; /* for ELF_ROWS_DEBUG_BY_…; borrowed for the call */
	struct elf_rows_wanted *ret_wanted; /* for ELF_ROWS_DEBUG_ASK */
};

/* Identifies all that a table depends on: files with the same key have the same table. The build
 * id alone does not suffice, because the author of a file chooses it, and many files have none. */
struct elf_rows_key {
	char build_id[2 * ELF_BUILD_ID_MAX + 1]; /* lower-case hex, "" when there is none */
	uint64_t hash[2]; /* of program headers and unwind sections (XXH3, 128 bit) */
};

struct elf_rows_stats {
	uint64_t nr_functions;
	uint64_t nr_rows_added; /* before merging */
	uint64_t nr_section_bytes; /* of unwind sections read */
	struct unwind_losses losses;
};

struct elf_rows;

/* Reads headers and unwind sections. The fd stays the caller's and is not needed any more
 * afterwards.
 * Errors: -EBADMSG not an ELF file of this machine or damaged; -ENODATA it has code but nothing
 * to unwind it with; -ENOSPC over a limit; -ENOLINK a debug file is wanted, *opts->ret_wanted is
 * set: call again with it, or without; -ENOMEM; what pread() says. */
int elf_rows_open(int fd, const struct elf_rows_opts *opts, struct elf_rows **ret_rows) must_check;
void elf_rows_close(struct elf_rows *rows);
DEFINE_FREEP(struct elf_rows, elf_rows_close)

/* Returns the key, borrowed. */
const struct elf_rows_key *elf_rows_get_key(const struct elf_rows *rows);

/* Makes the table. Errors: -ENODATA it has no rows, -ENOSPC over a limit, -ENOMEM. */
int elf_rows_build(struct elf_rows *rows, struct row_table_bytes *ret_table,
		   struct elf_rows_stats *ret_stats) must_check;

/* Opens the vDSO of this process, which is that of all 64-bit processes, as a file in memory for
 * elf_rows_open(). Errors: -ENOENT there is none, what memfd_create(2) and shm_open(3) say. */
int elf_rows_open_vdso(int *ret_fd) must_check;

#endif
