/* SPDX-License-Identifier: Apache-2.0 */
/* The directories in --queue-dir, one for each destination: their names and permissions. */
#ifndef AGENT_QUEUE_DIRS_H
#define AGENT_QUEUE_DIRS_H

#include "base/err.h"
#include "base/strbuf.h"
#include "config/options.h"

#include <stdbool.h>
#include <stddef.h>

#define QUEUE_DIRS_MAX 9
#define QUEUE_DIR_NAME_BYTES 256

struct queue_dirs {
	char names[QUEUE_DIRS_MAX][QUEUE_DIR_NAME_BYTES];
	size_t nr;
};

/* Adds the directory of one more destination. Its name depends on the destination and on our
 * account there, so that requests for one account do not go to another. It is the same at each
 * start if all are added in the same order. Errors: -ENOSPC if there are QUEUE_DIRS_MAX already, or
 * the destination's options are too long; -ENOMEM. */
int queue_dirs_add(struct queue_dirs *dirs, const struct destination *destination) must_check;

/* Adds the directories of all destinations, in the order in which the agent starts them. Errors as
 * above. */
int queue_dirs_add_all(struct queue_dirs *dirs, const struct options *options) must_check;

/* Returns whether a destination has that directory, or one of that name and a number. */
bool queue_dirs_include(const struct queue_dirs *dirs, const char *name);

/* Finds "HOST:PORT" in an endpoint, without the parts that may be secret. Returns its length. */
int queue_dirs_find_host(const char *endpoint, const char **ret_host);

/* Appends the path of a destination's directory to `ret_path` and checks that no other user can
 * change the directory, if it exists. Does not make it. On failure `reterr_msg` says what is wrong.
 * Errors: -ENOMEM, -ENOSPC, those of own_dir_look(). */
int queue_dirs_check(const char *parent, const char *name, struct strbuf *ret_path,
		     struct strbuf *reterr_msg) must_check;

#endif
