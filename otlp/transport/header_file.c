/* SPDX-License-Identifier: Apache-2.0 */
#include "otlp/transport/header_file.h"

#include "base/cleanup.h"
#include "base/fileio.h"

#include <fcntl.h>
#include <string.h>

#define BLANKS " \t\r"

static int explain_line(const char *path, size_t line_number, int error, struct strbuf *reterr_msg)
{
	if (error == -ENOSPC)
		strbuf_appendf(reterr_msg, "%s:%zu: more than %d headers", path, line_number,
			       HEADERS_MAX);
	if (error != -EINVAL)
		return error;
	strbuf_appendf(reterr_msg, "%s:%zu: this header cannot be set; expected Name: value", path,
		       line_number);
	return -EBADMSG;
}

/* Adds a line of `len` bytes, which must not contain a NUL. */
static int add_line(const char *line, size_t len, struct header_list *list)
{
	_cleanup_free_ char *copy = NULL;

	if (memchr(line, '\0', len))
		return -EINVAL;
	while (len > 0 && strchr(BLANKS, line[len - 1]))
		len--;
	if (len == 0 || line[0] == '#')
		return 0;
	copy = strndup(line, len);
	return copy ? header_list_add(list, copy) : -ENOMEM;
}

int header_file_parse(const char *text, size_t len, const char *path, struct header_list *list,
		      struct strbuf *reterr_msg)
{
	size_t nr_before = list->nr_lines, line_number = 1;

	for (const char *end = text + len; text < end; line_number++) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		const char *line_end = newline ? newline : end;

		int r = add_line(text, (size_t)(line_end - text), list);
		if (r < 0)
			return explain_line(path, line_number, r, reterr_msg);
		text = newline ? newline + 1 : end;
	}
	if (list->nr_lines > nr_before)
		return 0;
	strbuf_appendf(reterr_msg, "%s: the file has no header", path);
	return -EBADMSG;
}

int header_file_read(const char *path, struct header_list *list, struct strbuf *reterr_msg)
{
	_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max(HEADER_FILE_MAX_BYTES);

	int r = file_read_at(AT_FDCWD, path, &text);
	if (r == 0)
		return header_file_parse(strbuf_str(&text), text.len, path, list, reterr_msg);
	strbuf_appendf(reterr_msg, "%s: %s", path,
		       r == -ENOSPC ? "larger than 64 KiB" : strerror(-r));
	return r;
}
