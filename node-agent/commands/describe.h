/* SPDX-License-Identifier: Apache-2.0 */
/* Describes the target in words, for the progress line and the titles of files. */
#ifndef COMMANDS_DESCRIBE_H
#define COMMANDS_DESCRIBE_H

#include "base/strbuf.h"
#include "config/options.h"

/* Appends "the whole machine", or for instance "pod shop/cart, CPUs 0 1 2". */
void describe_target(const struct options *options, struct strbuf *out);

#endif
