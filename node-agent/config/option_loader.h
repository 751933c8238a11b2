/* SPDX-License-Identifier: Apache-2.0 */
/* Fills struct options from all sources. The order of precedence is: command line, YAML file,
 * environment, Kubernetes, defaults. The strongest source that sets an option wins, for lists too:
 * a list on the command line replaces the one of the file. Attributes of resources are the
 * exception: those of the environment are added for keys that stronger sources do not have. */
#ifndef CONFIG_OPTION_LOADER_H
#define CONFIG_OPTION_LOADER_H

#include "base/err.h"
#include "base/strbuf.h"
#include "config/options.h"

/* Loads the options of a command. If --help or --help-all was given, only these two fields are
 * valid. On failure `message` is one line that says what is wrong, where, and what to write
 * instead. The caller frees the options by options_done() (option_fields.h). Errors: -EINVAL for
 * anything that the user must correct, -ENOMEM. */
int options_load(const struct options_input *input, struct options *ret_options,
		 struct strbuf *message) must_check;

#endif
