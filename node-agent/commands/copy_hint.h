/* SPDX-License-Identifier: Apache-2.0 */
/* For someone who came over ssh: the line that fetches the files, to be run at home. */
#ifndef COMMANDS_COPY_HINT_H
#define COMMANDS_COPY_HINT_H

#include "base/err.h"
#include "base/strbuf.h"

#include <stddef.h>

/* Appends "scp USER@HOST:FILE … .\n". `ssh_connection` is $SSH_CONNECTION: client address and port, server
 * address and port. `user` may be NULL. "-" among the files is passed over.
 * Errors: -EINVAL when it is not that, or a file has no absolute path; -ENOSPC, -ENOMEM. Part of the line
 * may have been appended then. */
int copy_hint_append(const char *ssh_connection, const char *user, char *const *files,
		     size_t nr_files, struct strbuf *out) must_check;

#endif
