/* SPDX-License-Identifier: Apache-2.0 */
/* What flamelet export did not deliver, in words: it is not lost, and can be sent again. */
#ifndef COMMANDS_EXPORT_REST_H
#define COMMANDS_EXPORT_REST_H

#include "base/strbuf.h"
#include "config/options.h"
#include "store/time_range.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct export_rest {
	uint64_t nr_samples; /* that were read and not accepted */
	bool was_stopped; /* by a signal; otherwise, --wait was over */
	bool has_unread; /* the range was not read to its end */
	struct time_range range; /* of the record, to be sent again */
	size_t first_file; /* or the first of the files to be sent again */
};

/* Appends lines that say how many samples were not accepted, that their source still has them, and
 * what sends them. `options` are those of the command. Failures are kept in `out`. */
void export_rest_append(const struct export_rest *rest, const struct options *options,
			struct strbuf *out);

#endif
