/* SPDX-License-Identifier: Apache-2.0 */
/* Fills struct options from all sources: the command line, a YAML file, the environment, what Kubernetes
 * tells a pod, and the defaults, in this order of precedence. An option belongs to the strongest source
 * that sets it; what weaker ones say of it is passed over. A list of the file is thus replaced, not
 * extended, by one of the command line. Only attributes of resources from the environment join those
 * of a stronger source, for keys that it does not have. */
#ifndef CONFIG_OPTION_LOADER_H
#define CONFIG_OPTION_LOADER_H

#include "base/err.h"
#include "base/strbuf.h"
#include "config/options.h"

/* Reads all sources. When --help or --help-all was given, only these two fields count.
 * On failure `message` is one line that says what is wrong, where, and what to write instead. The caller
 * ends the options by options_done() (option_fields.h).
 * Errors: -EINVAL for anything the user must correct, -ENOMEM. */
int options_load(const struct options_input *input, struct options *ret_options,
		 struct strbuf *message) must_check;

#endif
