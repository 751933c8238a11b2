/* SPDX-License-Identifier: Apache-2.0 */
/* Tells a user who may not read a record why, and what helps. */
#ifndef COMMANDS_DENIED_H
#define COMMANDS_DENIED_H

#include "base/strbuf.h"
#include "config/options.h"

#include <stdbool.h>

/* Appends a message for each path that this user may not read: the directory or file that refuses,
 * and its owner. Returns whether there is such a path. */
bool denied_tell(const struct string_list *paths, struct strbuf *messages);

#endif
