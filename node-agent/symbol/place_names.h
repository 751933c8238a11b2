/* SPDX-License-Identifier: Apache-2.0 */
/* The known names of places in files. A place is an offset in the files of a table. At first, its
 * name comes from the symbol tables, and later from source lines. It is the mangled name until a
 * worker has demangled it.
 *
 * Each name is demangled once, however many places and files have it. The first table that has it
 * requests it. Hostile names may keep the worker busy or kill it:
 *
 *	a name takes too long		it stays mangled, and its owner's requests take the slow lane
 *					for a while
 *	a few of a table's names do	all names of the table stay mangled for a while, unless other
 *					tables have them, too
 *	the worker dies, or its reply	the same, at once
 *	is malformed
 *
 * The names of other files are not affected. Only the symbolizer uses it, except
 * place_names_get_stats(). */
#ifndef SYMBOL_PLACE_NAMES_H
#define SYMBOL_PLACE_NAMES_H

#include "base/err.h"
#include "symbol/demangle/demangle.h"
#include "symbol/frame/symbol_frames.h"
#include "symbol/name_table.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Offsets of places are below this limit, because sizes of files are (ELF_MAX_FILE_BYTES). */
#define PLACE_NAMES_MAX_OFFSET (UINT64_C(1) << 36)

struct place_names;

struct place_names_stats {
	uint64_t nr_given_up; /* names that took too long to demangle, and stay mangled */
	uint64_t nr_left; /* names that stay mangled for a while because of others of their file */
};

/* Errors: -ENOMEM. */
int place_names_new(enum demangle_style style, struct place_names **ret_names) must_check;
void place_names_free(struct place_names *names);

/* Returns whether place_names_get() has the final names of an offset, or the best ones for a while.
 * If not, requests the lines or names that are missing. */
bool place_names_ask(struct place_names *names, struct name_table *table, uint64_t file_offset);

/* Returns the frames of an offset as they are known now. Strings are borrowed until the next call.
 * Errors: -ENOENT no symbol there, -ENOMEM, -ENOSPC. */
int place_names_get(struct place_names *names, struct name_table *table, uint64_t file_offset,
		    struct symbol_frames *ret_frames) must_check;

/* Resolves an address by the source lines that the table has, or by its symbols where the debug
 * information knows nothing. Returns false when the unit of the address was not read yet. */
bool place_names_resolve_lines(struct place_names *names, struct name_table *table,
			       uint64_t file_offset, uint64_t address);

/* Resolves an offset by symbols for good, as its source lines will not be known. */
void place_names_settle(struct place_names *names, struct name_table *table, uint64_t file_offset);

/* Returns the style in which names are demangled. */
enum demangle_style place_names_style(const struct place_names *names);

/* Returns the mangled name for a number in table->names; borrowed. */
const char *place_names_raw(const struct place_names *names, uint32_t name);

/* Sets the demangled name; "" keeps the mangled one. */
void place_names_set(struct place_names *names, uint32_t name, const char *pretty);

/* Counts a name of the table that took too long. After a few of them, leaves the others mangled. */
void place_names_give_up(struct place_names *names, struct name_table *table);

/* Leaves all names that a table wants mangled for a while. */
void place_names_leave_all(struct place_names *names, struct name_table *table);

/* Cancels the names that a table wants, so that another table may ask for them. */
void place_names_drop(struct place_names *names, struct name_table *table);

/* Forgets all places and names. The caller must empty the lists of names in the tables. */
void place_names_forget_all(struct place_names *names);

/* Returns how often everything was forgotten. Replies to requests of an earlier age are useless. */
uint64_t place_names_age(const struct place_names *names);

/* Returns the memory that is held, in bytes. */
size_t place_names_bytes(const struct place_names *names);

/* Any thread. */
struct place_names_stats place_names_get_stats(struct place_names *names);

#endif
