/* SPDX-License-Identifier: Apache-2.0 */
/* What is done to all fields of struct options alike, by the rows of the table of options. */
#ifndef CONFIG_OPTION_FIELDS_H
#define CONFIG_OPTION_FIELDS_H

#include "base/strbuf.h"
#include "config/options.h"

#include <stdbool.h>

struct option;

/* The field that an option sets: in the destination if every destination has the option, else in the
 * options. */
void *option_field(const struct option *option, struct options *options,
		   struct destination *destination);

/* Free what the fields own. */
void options_done(struct options *options);
void destination_done(struct destination *destination);

/* Appends the names of the command's options whose values two loads of it disagree about, as
 * "--idle, --pod": either those that a running agent can change, or the others. */
void options_diff(const struct options *before, const struct options *after, bool is_reloadable,
		  struct strbuf *names);

#endif
