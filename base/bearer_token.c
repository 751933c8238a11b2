/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bearer_token.h"

#include "base/cleanup.h"
#include "base/fileio.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdbool.h>

int bearer_token_read(const char *path, size_t max_bytes, struct strbuf *header)
{
	_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max(max_bytes);

	int r = file_read_at(AT_FDCWD, path, &text);
	if (r < 0)
		return r;

	const char *token = strbuf_str(&text);
	const char *end = token + text.len;
	while (token < end && isspace((unsigned char)*token))
		token++;
	while (end > token && isspace((unsigned char)end[-1]))
		end--;
	bool is_token = token < end;
	for (const char *c = token; c < end; c++)
		is_token &= isgraph((unsigned char)*c) != 0;
	if (!is_token)
		return -EBADMSG;
	strbuf_append_str(header, "Authorization: Bearer ");
	strbuf_append(header, token, (size_t)(end - token));
	return strbuf_error(header);
}
