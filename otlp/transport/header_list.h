/* SPDX-License-Identifier: Apache-2.0 */
/* The headers of a request: the user's, and ours unless the user sets them. */
#ifndef OTLP_TRANSPORT_HEADER_LIST_H
#define OTLP_TRANSPORT_HEADER_LIST_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

#define HEADERS_MAX 256

struct header_list {
	char **lines; /* owned, each too; "Name: value" */
	size_t nr_lines, cap_lines;
};

void header_list_done(struct header_list *list);

/* Returns whether there is a header of that name, ignoring case. */
bool header_list_has(const struct header_list *list, const char *name);

/* Adds a line of the user. Errors: -EINVAL if it is not a header or is one that describes the
 * request's encoding (Content-Type, Content-Encoding, TE, grpc-…); -ENOSPC, -ENOMEM. */
int header_list_add(struct header_list *list, const char *line) must_check;

/* Adds a header of ours unless there is one of that name. Errors: -EINVAL invalid value, -ENOSPC,
 * -ENOMEM. */
int header_list_add_own(struct header_list *list, const char *name, const char *value) must_check;

/* Adds the headers of a weaker list whose names `list` does not have. Errors: -ENOSPC, -ENOMEM. */
int header_list_merge(struct header_list *list, const struct header_list *weaker) must_check;

/* Returns whether both have the same headers in the same order. */
bool header_list_equal(const struct header_list *a, const struct header_list *b);

#endif
