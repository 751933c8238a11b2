/* SPDX-License-Identifier: Apache-2.0 */
/* What a browser asks for: a path and parameters, taken from the first line of a request.
 *
 *	/TOKEN/api/v1/timeline?from=1764000000&to=1764000060&by=pod
 *
 * Only the caller's own tables give a path a meaning; it never names a file. */
#ifndef UI_UI_REQUEST_H
#define UI_UI_REQUEST_H

#include "base/err.h"

#include <stddef.h>

#define UI_TOKEN_LEN 32
#define UI_MAX_PARAMETERS 32
#define UI_URI_MAX_BYTES 16384

struct ui_parameter {
	const char *name; /* this and the next: borrowed from the request's text */
	const char *value; /* UTF-8 without control characters; may be "" */
};

struct ui_request {
	char *text; /* owned */
	const char *path; /* behind the token: "", "viewer.js", "api/v1/info" */
	struct ui_parameter parameters[UI_MAX_PARAMETERS];
	size_t nr_parameters; /* no name twice */
};

/* Makes a token of random digits. Errors: those of random_bytes(). */
int ui_token_make(char token[static UI_TOKEN_LEN + 1]) must_check;

/* Parses what stands between method and version. Errors: -ENOENT it does not begin with the token,
 * or has a path that no page has; -EINVAL its parameters are malformed; -ENOSPC there are too many,
 * or it is too long; -ENOMEM. */
int ui_request_parse(const char *uri, const char token[static UI_TOKEN_LEN + 1],
		     struct ui_request *ret_request) must_check;
void ui_request_done(struct ui_request *request);

/* Returns the value of a parameter, or NULL. */
const char *ui_request_get(const struct ui_request *request, const char *name);

#endif
