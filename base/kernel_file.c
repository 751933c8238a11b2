/* SPDX-License-Identifier: Apache-2.0 */
#include "base/kernel_file.h"

#include "base/cleanup.h"
#include "base/fileio.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>

#define LINES_MAX_BYTES 65536
#define BLANKS " \t"

int kernel_file_read_head(const char *dir, const char *name, struct strbuf *buf)
{
	char path[PATH_MAX];

	if ((size_t)snprintf(path, sizeof(path), "%s/%s", dir, name) >= sizeof(path))
		return -ENAMETOOLONG;

	int r = file_read_at(AT_FDCWD, path, buf);
	return r == -ENOSPC && buf->len > 0 ? 0 : r;
}

static const char *next_line(const char *text)
{
	const char *end = strchr(text, '\n');

	return end ? end + 1 : NULL;
}

int kernel_file_read_line(const char *dir, const char *name, const char *key, struct strbuf *value)
{
	_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max(LINES_MAX_BYTES);

	int r = kernel_file_read_head(dir, name, &text);
	if (r < 0)
		return r;
	for (const char *line = strbuf_str(&text); line; line = next_line(line)) {
		if (strncmp(line, key, strlen(key)) != 0)
			continue;
		line += strlen(key);
		line += strspn(line, BLANKS);
		size_t len = strcspn(line, "\n");
		while (len > 0 && strchr(BLANKS, line[len - 1]))
			len--;
		strbuf_append(value, line, len);
		return strbuf_error(value);
	}
	return -ENOENT;
}
