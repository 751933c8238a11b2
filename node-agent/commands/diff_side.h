/* SPDX-License-Identifier: Apache-2.0 */
/* One side of a comparison: a range of the record, with a selection, or a file. */
#ifndef COMMANDS_DIFF_SIDE_H
#define COMMANDS_DIFF_SIDE_H

#include "base/err.h"
#include "base/strbuf.h"
#include "config/options.h"
#include "profile/pprof_reader.h"
#include "store/event_reader.h"
#include "store/store_reader.h"

#include <stdbool.h>
#include <stdint.h>

struct diff_side {
	const char *role; /* "before" or "after", for messages */
	const char *word; /* borrowed; what the user wrote */
	bool is_file;
	bool is_empty; /* the record knows the range, and has no samples that are selected */
	struct time_range range; /* of the record; once it is read, what the record has of it */
	struct asked_range asked; /* what the word names; its event, if it is one */
	/* The selectors of this side only, of the record. Borrowed. */
	const struct string_list *selectors;
	/* "2026-11-24 14:05:00 to 14:07:00, {pod="web"}", or the file. */
	struct strbuf name;
	struct pprof_profiles profiles; /* of the record, one only */
	/* Of the record: the values of samples whose stacks are not whole, and of those left
	 * out. */
	uint64_t folded, nr_left_out, nr_lost;
};

void diff_side_done(struct diff_side *side);

/* Returns whether a word names a file: it has the extension of one, or there is one. */
bool diff_side_is_file(const char *word);

/* Reads a side; `reader` is not used for a file. Without labels, samples of the record have no more
 * than their process, which is faster. If none is selected, the profile is empty. It has the period
 * of the other samples of its time; 0: there are none, as nothing used a CPU. Returns an exit
 * status; unless it is STATUS_OK, there is a message. */
int diff_side_read(struct diff_side *side, const struct options *options,
		   const struct store_reader *reader, bool with_labels, struct strbuf *messages)
	must_check;

/* Finds the type of values to compare: that of the record, or the most telling one that both files
 * have. Returns an exit status, as above. */
int diff_side_choose_type(const struct diff_side *before, const struct diff_side *after,
			  struct strbuf *messages, enum profile_type *ret_type) must_check;

#endif
