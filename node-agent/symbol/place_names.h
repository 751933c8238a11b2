/* SPDX-License-Identifier: Apache-2.0 */
/* What places in files are called, as far as that is known now, and what more is asked for. A
 * place is an offset in the files of a table. Its name comes from the symbol tables first, from
 * source lines once they are there, and is as the file has it until it was demangled.
 *
 * A name is asked for once, however many places and files have it: on the account of the table in
 * which it was met first. Its worker is a process that foreign names may keep busy or break, so
 *
 *	a name that takes too long	stays as it is, and its owner's requests take the slow lane
 *					for a while
 *	a few of those in a table	the table's other names stay as they are for a while,
 *					unless other tables have them, too
 *	a worker that dies or lies	the same, at once
 *
 * and the other files' names are not concerned. For the loader, except place_names_get_stats(). */
#ifndef SYMBOL_PLACE_NAMES_H
#define SYMBOL_PLACE_NAMES_H

#include "base/err.h"
#include "symbol/demangle/demangle.h"
#include "symbol/frame/symbol_frames.h"
#include "symbol/name_table.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Offsets are below it: ELF_MAX_FILE_BYTES. Above them a place has its table's key. */
#define PLACE_NAMES_MAX_OFFSET (UINT64_C(1) << 36)

struct place_names;

struct place_names_stats {
	uint64_t nr_given_up; /* names that took too long to demangle: they stay as they are */
	uint64_t nr_left; /* stayed as they are for a while because of others of their file */
};

/* Errors: -ENOMEM. */
int place_names_new(enum demangle_style style, struct place_names **ret_names) must_check;
void place_names_free(struct place_names *names);

/* Whether all is known of an offset of a table that will be known for now; what is not is wanted
 * of the table then: lines, names to be demangled. */
bool place_names_ask(struct place_names *names, struct name_table *table, uint64_t file_offset);

/* What is known now. The strings are borrowed until the next call. Errors: -ENOENT no symbol
 * there, -ENOMEM, -ENOSPC. */
int place_names_get(struct place_names *names, struct name_table *table, uint64_t file_offset,
		    struct symbol_frames *ret_frames) must_check;

/* Remembers what an address is called, if that is known: by its lines, or that it has none. False
 * when somebody has to look. */
bool place_names_resolve_lines(struct place_names *names, struct name_table *table,
			       uint64_t file_offset, uint64_t address);

/* Its lines will not be known: the symbol tables have the last word. */
void place_names_settle(struct place_names *names, struct name_table *table, uint64_t file_offset);

/* The style in which names are wanted. */
enum demangle_style place_names_style(const struct place_names *names);

/* The name behind a number in table->names, as the file has it; borrowed. */
const char *place_names_raw(const struct place_names *names, uint32_t name);

/* It is called so from now on; "": as in the file. */
void place_names_set(struct place_names *names, uint32_t name, const char *pretty);

/* A name that a table wanted has taken too long. */
void place_names_give_up(struct place_names *names, struct name_table *table);

/* From now on the names that a table wants stay as they are for a while. */
void place_names_leave_all(struct place_names *names, struct name_table *table);

/* Nobody asks for the names any more that a table wants. */
void place_names_drop(struct place_names *names, struct name_table *table);

/* Forgets all places and names. What tables want of them is the caller's to forget. */
void place_names_forget_all(struct place_names *names);

/* How often all was forgotten. Answers to requests of a lower age are about forgotten names. */
uint64_t place_names_age(const struct place_names *names);

/* Memory they hold. */
size_t place_names_bytes(const struct place_names *names);

/* Any thread. */
struct place_names_stats place_names_get_stats(struct place_names *names);

#endif
