/* SPDX-License-Identifier: Apache-2.0 */
/* What the page of `flamelet ui` shows of a record besides the answers of commands. */
#ifndef COMMANDS_UI_INFO_H
#define COMMANDS_UI_INFO_H

#include "base/strbuf.h"
#include "commands/answer.h"
#include "config/options.h"
#include "store/store_reader.h"

/* Appends an object that says what the records have. `answer->messages` become its warnings. */
void ui_info_append(const struct store_reader *reader, struct answer *answer);

/* Appends an object with the events and pins of the range that the options name, or of all time.
 * Returns an exit status, as the commands do (answer.h). */
int ui_info_append_events(const struct options *options, const struct options *question,
			  const struct store_reader *reader, struct answer *answer) must_check;

#endif
