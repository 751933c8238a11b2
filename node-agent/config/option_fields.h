/* SPDX-License-Identifier: Apache-2.0 */
/* Frees, compares and finds the fields of struct options and struct destination by the table of
 * options. */
#ifndef CONFIG_OPTION_FIELDS_H
#define CONFIG_OPTION_FIELDS_H

#include "base/strbuf.h"
#include "config/options.h"

#include <stdbool.h>

struct option;

/* Returns the field that an option sets. It is in `destination` if each destination has that
 * option, else in `options`; the other one may be NULL. */
void *option_field(const struct option *option, struct options *options,
		   struct destination *destination);

/* Free what the fields own. An empty struct (all bytes 0) is fine. */
void options_done(struct options *options);
void destination_done(struct destination *destination);

/* Appends the names of the options that differ between two loads of a command, as "--idle, --pod":
 * either those that a running agent can change, or the others. */
void options_diff(const struct options *before, const struct options *after, bool is_reloadable,
		  struct strbuf *names);

#endif
