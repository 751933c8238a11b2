/* SPDX-License-Identifier: Apache-2.0 */
/* What is known of the names in one ELF file, or in several that are copies of each other. Belongs
 * to the loader thread, except what file_registry.h says of `content`. */
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

#define NAME_TABLE_MAX_WANTED 16384
#define NAME_TABLE_MAX_NAMES 65536

/* An address whose source lines were asked for. */
struct wanted_address {
	uint64_t offset; /* in the file */
	uint64_t address; /* virtual */
};

/* How far the source lines of a table have come. */
enum lines_state {
	LINES_NEW, /* their key, which tells what file they come from, is not known */
	LINES_KEYED, /* … and perhaps they are on disk */
	LINES_READY,
};

struct name_table {
	struct name_table *next; /* in name_store's list */
	struct elf_content content; /* what its files share */
	uint64_t key; /* no other table has it; below 1 << 28 */
	bool is_slow; /* what is asked of it takes the slow lane, whoever the owners are */
	struct elf_fingerprint print;
	bool has_print; /* else it is like no other */
	struct elf_symbols *symbols; /* owned; the file's own */
	struct elf_symbols *debug_symbols; /* owned; of the separate debug file, or NULL */
	int lines_fd; /* owned; the file with the debug information, or -EBADF */
	int alt_fd; /* owned; its supplementary file, or -EBADF */
	struct lines_table lines; /* what is known of them so far */
	enum lines_state lines_state;
	bool has_lines_key;
	struct elf_rows_key lines_key; /* of the files they come from, by content */
	uint64_t unsaved_since_ns; /* since `lines` has more than the disk; 0: it has not */
	bool has_large_lines; /* lines are asked for in the slow lane, which has more memory */
	bool has_names; /* not dropped */
	bool is_completing; /* its debug file is being looked for or read */
	bool wants_download; /* of its debug file */
	bool is_kept; /* its names are never dropped */
	unsigned int nr_asks_left; /* for that download */
	uint64_t await_ns; /* it may come by then */
	uint64_t asked_ns; /* when lines were last asked for, by CLOCK_MONOTONIC */
	uint64_t last_served; /* when lines of it were asked for */
	unsigned int
		nr_jobs; /* that have it; meanwhile it is not freed, and keeps names and files */
	struct wanted_address *wanted; /* owned */
	size_t nr_wanted, cap_wanted;
	uint32_t *names; /* owned; to be demangled, by their numbers in the cache of frames */
	size_t nr_names, cap_names;
	unsigned int nr_given_up; /* names that took too long, since the last of these times: */
	uint64_t raw_until_ns; /* up to then its names stay as they are, by CLOCK_MONOTONIC */
};

/* Takes the symbols over, also on failure; `print` may be NULL. Errors: -ENOMEM. */
int name_table_new(struct elf_symbols *symbols, const struct elf_fingerprint *print, uint64_t key,
		   struct name_table **ret_table) must_check;
void name_table_free(struct name_table *table);
DEFINE_FREEP(struct name_table, name_table_free)

/* Forgets all names, keeps what gives virtual addresses. */
void name_table_drop_names(struct name_table *table);

/* Closes what source lines come from. */
void name_table_close_files(struct name_table *table);

/* Forgets the lines, but not where they come from. */
void name_table_drop_lines(struct name_table *table);

/* Memory it holds. */
size_t name_table_bytes(const struct name_table *table);

/* The function at an offset, by the symbol tables alone; `ret_frames` has one line at most, in
 * *ret_line, whose name is not set. Errors: -ENOENT no name; `ret_frames` says all the same what
 * is known. */
int name_table_find(const struct name_table *table, uint64_t file_offset,
		    struct symbol_line *ret_line, struct symbol_frames *ret_frames) must_check;

/* Notes an offset whose source lines are wanted. Errors: -ENOENT outside of the file's code,
 * -ENOSPC at NAME_TABLE_MAX_WANTED, -ENOMEM. */
int name_table_want_lines(struct name_table *table, uint64_t file_offset) must_check;

#endif
