/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of the pins of a record, for people and as JSON. */
#ifndef COMMANDS_PIN_TEXT_H
#define COMMANDS_PIN_TEXT_H

#include "base/strbuf.h"
#include "config/options.h"
#include "store/pin_dir.h"

#include <stdint.h>

/* Adds the pins of a range of all records that are directories; a file has none. What cannot be
 * read is left out with a message. */
void pin_text_collect(const struct string_list *stores, const struct time_range *range,
		      struct strbuf *messages, struct pin_list *pins);

/* Appends a table; `bytes` is the size of all pins. Failures are kept in `out`. */
void pin_text_append(const struct pin_list *pins, uint64_t bytes, struct strbuf *out);

/* Appends an array of objects. */
void pin_text_append_json(const struct pin_list *pins, struct strbuf *out);

#endif
