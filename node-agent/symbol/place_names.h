/* SPDX-License-Identifier: Apache-2.0 */
/* The names of places in files, as far as they are known now. A place is an offset in the files of
 * a table. Its name comes from the symbol tables first, and from source lines once these are
 * known. It is the mangled name until a worker has demangled it.
 *
 * Each name is demangled once, however many places and files have it; the table in which it was
 * met first asks for it. Hostile names may keep the worker busy or kill it. Then
 *
 *	a name that takes too long	stays as it is, and its owner's requests take the slow lane
 *					for a while
 *	a few of those in a table	the table's other names stay as they are for a while,
 *					unless other tables have them, too
 *	a worker that dies or lies	the same, at once
 *
 * and the names of other files are not affected. Only the loader uses it, except
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

/* Offsets of places are below it, as sizes of files are (ELF_MAX_FILE_BYTES). */
#define PLACE_NAMES_MAX_OFFSET (UINT64_C(1) << 36)

struct place_names;

struct place_names_stats {
	uint64_t nr_given_up; /* names that took too long to demangle: they stay as they are */
	uint64_t nr_left; /* stayed as they are for a while because of others of their file */
};

/* Errors: -ENOMEM. */
int place_names_new(enum demangle_style style, struct place_names **ret_names) must_check;
void place_names_free(struct place_names *names);

/* Whether place_names_get() has the final answer for an offset, or the best one for a while. If
 * not, adds what is missing to the lines or names that the table wants. */
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

/* The style that names are demangled in. */
enum demangle_style place_names_style(const struct place_names *names);

/* The mangled name behind a number in table->names; borrowed. */
const char *place_names_raw(const struct place_names *names, uint32_t name);

/* Sets the demangled name; "" keeps the mangled one. */
void place_names_set(struct place_names *names, uint32_t name, const char *pretty);

/* Counts a name of the table that took too long; after a few of them the others are left. */
void place_names_give_up(struct place_names *names, struct name_table *table);

/* Leaves all names that a table wants mangled for a while. */
void place_names_leave_all(struct place_names *names, struct name_table *table);

/* Cancels the names that a table wants, so that another table may ask for them. */
void place_names_drop(struct place_names *names, struct name_table *table);

/* Forgets all places and names. The caller must empty the tables' lists of wanted names. */
void place_names_forget_all(struct place_names *names);

/* How often everything was forgotten. Answers to requests of an earlier age are useless. */
uint64_t place_names_age(const struct place_names *names);

/* Memory held, in bytes. */
size_t place_names_bytes(const struct place_names *names);

/* Any thread. */
struct place_names_stats place_names_get_stats(struct place_names *names);

#endif
