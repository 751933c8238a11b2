/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the files of a comparison. */
#ifndef COMMANDS_DIFF_OUTPUT_H
#define COMMANDS_DIFF_OUTPUT_H

#include "base/err.h"
#include "commands/answer.h"
#include "commands/diff_side.h"
#include "config/options.h"
#include "profile/diff.h"
#include "profile/diff_table.h"

/* What is written; all members are borrowed. */
struct diff_output {
	const struct options *options;
	const struct diff_side *before, *after;
	const struct diff *diff;
	const struct diff_table *functions, *owners; /* sorted */
	const struct store_reader *reader; /* NULL: both sides are files */
};

/* Writes all files that the options name. Stacks in them are grouped, turned round or restricted to
 * the kernel, if the options ask for that; tables are not. What goes to standard output becomes
 * the answer's body. Returns an exit status; unless it is STATUS_OK, there is a message. */
int diff_output_write(const struct diff_output *output, struct answer *answer) must_check;

#endif
