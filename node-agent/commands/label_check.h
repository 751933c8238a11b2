/* SPDX-License-Identifier: Apache-2.0 */
/* Tells a user that no sample has the label that was asked for, and lists the labels that exist. */
#ifndef COMMANDS_LABEL_CHECK_H
#define COMMANDS_LABEL_CHECK_H

#include "base/strbuf.h"
#include "store/selector.h"
#include "store/store_reader.h"

#include <stdbool.h>
#include <stddef.h>

/* The labels that a question of a range uses. All is borrowed. */
struct label_check {
	const struct store_reader *reader;
	struct time_range range;
	const struct selector *selector; /* NULL: none */
	const char *const *words; /* labels by which samples are grouped */
	size_t nr_words;
	/* Checks common labels such as "pod", too, which some machines do not have: set if nothing
	 * was found. */
	bool tells_all;
};

/* Appends a message if no sample in the files of the range has one of the labels. Returns whether
 * it did. */
bool label_check_tell(const struct label_check *check, struct strbuf *messages);

#endif
