/* SPDX-License-Identifier: Apache-2.0 */
/* The headers of a transport's requests. Of headers with the same name, the strongest is used:
 *
 *	the options' > the header file's > the token file's > ours
 *
 * Files are read for each request, since they may change at any time (a mounted Secret, a token
 * that expires). */
#ifndef OTLP_TRANSPORT_REQUEST_HEADERS_H
#define OTLP_TRANSPORT_REQUEST_HEADERS_H

#include "base/err.h"
#include "base/strbuf.h"
#include "otlp/transport/header_list.h"
#include "otlp/transport/transport_opts.h"

struct request_headers {
	struct header_list given; /* the options' */
	struct header_list own; /* those of the protocol, and the tenant */
	char *header_file, *token_file; /* owned; NULL: none */
};

/* Does not read the files yet. request_headers_done() is needed after a failure, too. Errors:
 * -EINVAL invalid header or tenant, -ENOMEM. */
int request_headers_init(struct request_headers *headers, const struct transport_opts *opts)
	must_check;
void request_headers_done(struct request_headers *headers);

/* Adds the headers of the next request to an empty list. On failure, `reterr_msg` gets the reason
 * without values of headers, except for -ENOMEM. Errors: those of the files, -ENOSPC too many
 * headers. */
int request_headers_read(const struct request_headers *headers, struct header_list *list,
			 struct strbuf *reterr_msg) must_check;

#endif
