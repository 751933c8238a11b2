/* SPDX-License-Identifier: Apache-2.0 */
/* Reads headers from a file, such as a mounted Secret, one per line:
 *
 *	# of the tenant blue
 *	Authorization: Basic MTIzNDU2OmdsY19leGFtcGxl
 *	X-Scope-OrgID: blue
 *
 * Blank lines and lines that begin with '#' are ignored, and so are blanks and a carriage return at
 * the end of a line. */
#ifndef OTLP_TRANSPORT_HEADER_FILE_H
#define OTLP_TRANSPORT_HEADER_FILE_H

#include "base/err.h"
#include "base/strbuf.h"
#include "otlp/transport/header_list.h"

#include <stddef.h>

#define HEADER_FILE_MAX_BYTES ((size_t)64 << 10)

/* Adds the headers of a text, each as header_list_add(). On failure, the list has the headers
 * before the invalid one, and `reterr_msg` gets `path` and the line number, but not the content of
 * the line. Errors: -EBADMSG a line is not a header or there are no headers, -ENOSPC there are too
 * many, -ENOMEM. */
int header_file_parse(const char *text, size_t len, const char *path, struct header_list *list,
		      struct strbuf *reterr_msg) must_check;

/* Adds the headers of a file in the same way. Errors: also -ENOSPC for a file larger than
 * HEADER_FILE_MAX_BYTES, and errors of reading it. */
int header_file_read(const char *path, struct header_list *list, struct strbuf *reterr_msg)
	must_check;

#endif
