/* SPDX-License-Identifier: Apache-2.0 */
/* Finds, frees and compares the fields of struct options and struct destination, driven by the
 * option table. */
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

/* Free what the fields own. A zeroed struct is allowed. */
void options_done(struct options *options);
void destination_done(struct destination *destination);

/* Appends the names of the options that differ between two loads of a configuration, as "--idle,
 * --pod": if `is_reloadable`, those that a running agent can change, else the others. */
void options_diff(const struct options *before, const struct options *after, bool is_reloadable,
		  struct strbuf *names);

#endif
