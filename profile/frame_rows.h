/* SPDX-License-Identifier: Apache-2.0 */
/* The distinct functions of a profile, for formats that have a table of them. A function is
 * identified by its name, its kind and the file that its code is in, wherever it was sampled. A
 * name that stands for a process or a label is a row as well. */
#ifndef PROFILE_FRAME_ROWS_H
#define PROFILE_FRAME_ROWS_H

#include "base/err.h"
#include "base/htable.h"
#include "profile/profile.h"

#include <stddef.h>
#include <stdint.h>

/* All strings are numbers in the profile's table. */
struct frame_row {
	uint32_t name; /* "" of code without a name */
	uint32_t module; /* the file that the code is in; 0: unknown, or it is not code */
	uint32_t source; /* source file of the first function that has one; 0: unknown */
	uint32_t start_line; /* in it; 0: unknown */
	enum frame_kind kind;
};

struct frame_rows {
	const struct profile *profile; /* borrowed */
	struct frame_row *rows; /* owned */
	size_t nr_rows, cap_rows;
	uint32_t *of_lines; /* owned; of all lines, location after location: their rows */
	size_t *first; /* owned; by location: its first line in `of_lines` */
	struct htable index; /* of rows */
};

/* Finds the rows of all locations; the profile must outlive them. Errors: -ENOMEM. */
int frame_rows_init(struct frame_rows *rows, const struct profile *profile) must_check;
void frame_rows_done(struct frame_rows *rows);

/* Finds or adds the row of a process by its name, a string of the profile. Errors: -ENOMEM. */
int frame_rows_add_process(struct frame_rows *rows, uint32_t comm, uint32_t *ret_row) must_check;

/* Returns the rows of a location, as many as it has lines, innermost first; borrowed. */
const uint32_t *frame_rows_of(const struct frame_rows *rows, uint32_t location);

/* Returns the name of a row, or what stands for it; borrowed from the profile, or static. */
const char *frame_row_name(const struct frame_rows *rows, uint32_t row);

/* Returns the word for a kind of code: "native", "kernel", "truncated", "go", "rust", "jvm",
 * "javascript", "python", "jit" or "label". Static. */
const char *frame_kind_word(enum frame_kind kind);

#endif
