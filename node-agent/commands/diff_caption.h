/* SPDX-License-Identifier: Apache-2.0 */
/* The text above the picture or the page of a comparison. The title has little room, as it shares
 * its line with the buttons. */
#ifndef COMMANDS_DIFF_CAPTION_H
#define COMMANDS_DIFF_CAPTION_H

#include "base/strbuf.h"
#include "commands/diff_side.h"
#include "profile/diff.h"

/* Writes the title to `text`, which must be empty, and returns it: the times of both sides without
 * their days and with the names of their events, the selectors if the times are the same, or the
 * names of files. */
const char *diff_caption_title(const struct diff_side *before, const struct diff_side *after,
			       struct strbuf *text);

/* Writes the rest to `text`, which must be empty, and returns it: hosts, events, days and selectors
 * of the record, CPU time, and what is compared. `reader` is NULL if both sides are files. */
const char *diff_caption_subtitle(const struct diff_side *before, const struct diff_side *after,
				  const struct store_reader *reader, const struct diff *diff,
				  struct strbuf *text);

#endif
