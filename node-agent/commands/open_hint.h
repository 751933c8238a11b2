/* SPDX-License-Identifier: Apache-2.0 */
/* Says how to open the page or the picture that was written. */
#ifndef COMMANDS_OPEN_HINT_H
#define COMMANDS_OPEN_HINT_H

#include "base/err.h"
#include "base/strbuf.h"

#include <stdbool.h>
#include <stddef.h>

/* Appends "in a browser: file:///PATH\n" for the first file whose name ends in .html or .svg. With
 * `is_fetched` the reader copies it to another machine first, so only its name is appended. Errors:
 * -ENOENT no browser opens any of the files, or it has no absolute path; -ENOSPC, -ENOMEM. */
int open_hint_append(char *const *files, size_t nr_files, bool is_fetched, struct strbuf *out)
	must_check;

#endif
