/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/export_headers.h"

#include "base/cleanup.h"
#include "otlp/transport/header_file.h"

static int refuse(const char *path, const char *name, const char *option, struct strbuf *reterr_msg)
{
	strbuf_appendf(reterr_msg, "%s: its %s is what %s is for; remove one", path, name, option);
	return -EINVAL;
}

int export_read_header_file(const struct destination *destination, struct header_list *headers,
			    struct strbuf *reterr_msg)
{
	_cleanup_(header_list_done) struct header_list from_file = { 0 };
	const char *path = destination->header_file;

	if (!path)
		return 0;
	int r = header_file_read(path, &from_file, reterr_msg);
	if (r < 0)
		return r;
	if (destination->token_file && header_list_has(&from_file, "Authorization"))
		return refuse(path, "Authorization", "otlp-token-file", reterr_msg);
	if (destination->tenant && header_list_has(&from_file, "X-Scope-OrgID"))
		return refuse(path, "X-Scope-OrgID", "otlp-tenant", reterr_msg);
	return header_list_merge(headers, &from_file);
}
