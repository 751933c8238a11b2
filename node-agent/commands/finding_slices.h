/* SPDX-License-Identifier: Apache-2.0 */
/* Judges the parts of a long range one by one: a cause that took a minute of an hour hides in the
 * sum of the hour. */
#ifndef COMMANDS_FINDING_SLICES_H
#define COMMANDS_FINDING_SLICES_H

#include "base/err.h"
#include "commands/record_query.h"
#include "findings/findings.h"

#include <stddef.h>

/* A part of the range with findings that the whole range does not have. */
struct finding_slice {
	struct store_answer samples;
	struct findings findings; /* these findings only, with the time in `only` */
};

struct finding_slices {
	struct finding_slice *items; /* owned; in the order of time */
	size_t nr;
};

void finding_slices_done(struct finding_slices *slices);

/* Tries all rules on each five minutes of a range, or on longer parts of a range of more than five
 * hours. Notes in the findings of the whole range when each of them was at its worst. What cannot
 * be read is left out: the whole range was read before, with messages. Errors: -ENOMEM. */
int finding_slices_read(const struct record_query *query, struct findings *whole,
			struct finding_slices *ret_slices) must_check;

#endif
