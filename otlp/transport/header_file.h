/* SPDX-License-Identifier: Apache-2.0 */
/* Headers that a file holds, such as a mounted Secret, one in each line:
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

/* Adds the headers of a text, each as header_list_add(). On failure the list has those before the
 * one that is wrong, and `reterr_msg` says where that is, and never what it says: `path` and the
 * line. Errors: -EBADMSG when a line is no header or when there is none, -ENOSPC when they are too
 * many, -ENOMEM. */
int header_file_parse(const char *text, size_t len, const char *path, struct header_list *list,
		      struct strbuf *reterr_msg) must_check;

/* The same with what is in the file. Errors also: -ENOSPC when it is larger than
 * HEADER_FILE_MAX_BYTES, those of reading it. */
int header_file_read(const char *path, struct header_list *list, struct strbuf *reterr_msg)
	must_check;

#endif
