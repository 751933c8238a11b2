/* SPDX-License-Identifier: Apache-2.0 */
/* For users who logged in over ssh: the command that copies the files to their own machine. */
#ifndef COMMANDS_COPY_HINT_H
#define COMMANDS_COPY_HINT_H

#include "base/err.h"
#include "base/strbuf.h"

#include <stddef.h>

/* Appends "scp USER@HOST:FILE … .\n". `ssh_connection` is $SSH_CONNECTION: client address and port,
 * server address and port. `user` may be NULL. "-" among the files is skipped. Errors: -EINVAL when
 * $SSH_CONNECTION is malformed or a file has no absolute path; -ENOSPC, -ENOMEM. After an error
 * part of the line may have been appended. */
int copy_hint_append(const char *ssh_connection, const char *user, char *const *files,
		     size_t nr_files, struct strbuf *out) must_check;

#endif
