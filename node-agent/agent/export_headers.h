/* SPDX-License-Identifier: Apache-2.0 */
/* A destination's --otlp-header-file, looked at before the first request is made. */
#ifndef AGENT_EXPORT_HEADERS_H
#define AGENT_EXPORT_HEADERS_H

#include "base/err.h"
#include "base/strbuf.h"
#include "config/destination.h"
#include "otlp/transport/header_list.h"

/* Adds what the file has, if there is one. On failure `reterr_msg` says where and what to do, without any header's value.
 * Errors: as header_file_read(), -EINVAL when the file says what another option says, too. */
int export_read_header_file(const struct destination *export, struct header_list *headers,
			    struct strbuf *reterr_msg) must_check;

#endif
