/* SPDX-License-Identifier: Apache-2.0 */
/* The names in one ELF file, or in several files that are copies of each other. Only the symbolizer
 * thread uses it, except for parts of `content` (file_registry.h). */
#ifndef SYMBOL_NAME_TABLE_H
#define SYMBOL_NAME_TABLE_H

#include "base/cleanup.h"
#include "symbol/dwarf/lines_table.h"
#include "symbol/elf/elf_fingerprint.h"
#include "symbol/elf/elf_symbols.h"
#include "symbol/file_registry.h"
#include "symbol/frame/symbol_frames.h"
#include "unwind/file/elf_rows.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NAME_TABLE_MAX_WANTED 16384 /* addresses whose source lines are requested */
#define NAME_TABLE_MAX_NAMES 65536 /* names that are to be demangled */

/* An address whose source lines were requested. */
struct wanted_address {
	uint64_t offset; /* in the file */
	uint64_t address; /* virtual */
};

/* The state of the source lines of a table. */
enum lines_state {
	LINES_NEW, /* their key, which identifies their file, is not known */
	LINES_KEYED, /* the key is known, and they may be on disk */
	LINES_READY, /* they were read from disk, if they were there */
};

struct name_table {
	struct name_table *next; /* in name_store's list */
	struct elf_content content; /* shared by its files */
	uint64_t key; /* unique; at most NAME_STORE_MAX_KEY */
	bool is_slow; /* its requests take the slow lane, whoever the owners are */
	struct elf_fingerprint print;
	bool has_print; /* if not, no file is recognized as a copy */
	struct elf_symbols *symbols; /* owned; from the file itself */
	struct elf_symbols *debug_symbols; /* owned; from the separate debug file, or NULL */
	int lines_fd; /* owned; the file with the debug information, or -EBADF */
	int alt_fd; /* owned; its supplementary file, or -EBADF */
	struct lines_table lines; /* the source lines that were read so far */
	enum lines_state lines_state;
	bool has_lines_key;
	struct elf_rows_key lines_key; /* content of the files that the lines come from */
	uint64_t unsaved_since_ns; /* time since which the disk lacks lines; 0: it lacks none */
	bool has_large_lines; /* lines are requested in the slow lane, which has more memory */
	bool has_names; /* false: they were dropped */
	bool is_completing; /* its debug file is being searched for or read */
	bool wants_download; /* of its debug file */
	bool is_kept; /* its names are never dropped */
	unsigned int nr_asks_left; /* attempts left for that download */
	uint64_t await_ns; /* the download may arrive until then */
	uint64_t asked_ns; /* time of the last request for lines (CLOCK_MONOTONIC) */
	uint64_t last_served; /* number of the last job that served it */
	/* Number of jobs that use it. Meanwhile it is not freed, and keeps names and files. */
	unsigned int nr_jobs;
	struct wanted_address *wanted; /* owned */
	size_t nr_wanted, cap_wanted;
	uint32_t *names; /* owned; names to be demangled, by number in the frame cache */
	size_t nr_names, cap_names;
	unsigned int nr_given_up; /* names that took too long, since raw_until_ns was set */
	uint64_t raw_until_ns; /* until then, its names stay mangled (CLOCK_MONOTONIC) */
};

/* Makes a table, whose key is 0. Takes the symbols over, also on failure. `print` may
 * be NULL. Errors: -ENOMEM. */
int name_table_new(struct elf_symbols *symbols, const struct elf_fingerprint *print,
		   struct name_table **ret_table) must_check;
void name_table_free(struct name_table *table);
DEFINE_FREEP(struct name_table, name_table_free)

/* Drops all names. Virtual addresses can still be computed. */
void name_table_drop_names(struct name_table *table);

/* Closes the files that source lines come from. */
void name_table_close_files(struct name_table *table);

/* Drops the lines, but keeps the files that they come from. */
void name_table_drop_lines(struct name_table *table);

/* Returns the memory that the table holds, in bytes. */
size_t name_table_bytes(const struct name_table *table);

/* Finds the function at an offset by the symbol tables alone. *ret_frames has at most one line,
 * *ret_line, whose `name` is not set. Errors: -ENOENT no name; *ret_frames is set even then. */
int name_table_find(const struct name_table *table, uint64_t file_offset,
		    struct symbol_line *ret_line, struct symbol_frames *ret_frames) must_check;

/* Requests the source lines of an offset. Errors: -ENOENT outside of the file's code, -ENOSPC
 * too many requests, -ENOMEM. */
int name_table_want_lines(struct name_table *table, uint64_t file_offset) must_check;

#endif
