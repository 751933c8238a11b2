/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a destination's --otlp-header-file before the first request is made. */
#ifndef AGENT_EXPORT_HEADERS_H
#define AGENT_EXPORT_HEADERS_H

#include "base/err.h"
#include "base/strbuf.h"
#include "config/destination.h"
#include "otlp/transport/header_list.h"

/* Adds the file's headers, if the destination has such a file. On failure `reterr_msg` names the
 * place and the remedy, but no header's value. Errors: those of header_file_read(), and
 * -EINVAL when the file has a header that another option sets. */
int export_read_header_file(const struct destination *destination, struct header_list *headers,
			    struct strbuf *reterr_msg) must_check;

#endif
