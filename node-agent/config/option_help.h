/* SPDX-License-Identifier: Apache-2.0 */
/* The text of --help and --help-all, from the table of options. */
#ifndef CONFIG_OPTION_HELP_H
#define CONFIG_OPTION_HELP_H

#include "base/strbuf.h"
#include "config/options.h"

#include <stdbool.h>

/* Appends the help of a command: its usual options, or all of them. */
void options_help(enum command_id command, bool all, struct strbuf *out);

#endif
