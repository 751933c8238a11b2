/* SPDX-License-Identifier: Apache-2.0 */
/* The headers of a request: the user's, and ours where the user says nothing else. */
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

/* Whether there is a header of that name, in upper or lower case. */
bool header_list_has(const struct header_list *list, const char *name);

/* Adds a line that the user gave. Errors: -EINVAL when it is no header, or one that says how the
 * request is to be read (Content-Type, Content-Encoding, TE, grpc-…); -ENOSPC, -ENOMEM. */
int header_list_add(struct header_list *list, const char *line) must_check;

/* Adds ours unless a header of that name is there. Errors: -EINVAL for a value that no header can
 * have, -ENOSPC, -ENOMEM. */
int header_list_add_own(struct header_list *list, const char *name, const char *value) must_check;

/* Adds those of a weaker list whose names `list` does not have. Errors: -ENOSPC, -ENOMEM. */
int header_list_merge(struct header_list *list, const struct header_list *weaker) must_check;

/* Whether both have the same headers, in the same order. */
bool header_list_equal(const struct header_list *a, const struct header_list *b);

#endif
