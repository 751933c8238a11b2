/* SPDX-License-Identifier: Apache-2.0 */
#include "commands/open_hint.h"

#include "base/cleanup.h"
#include "base/printable.h"
#include "profile/output.h"

#include <stdlib.h>
#include <string.h>

static bool opens_in_browser(const char *file)
{
	const char *format = output_format_from_name(file);

	return format && (strcmp(format, "html") == 0 || strcmp(format, "svg") == 0);
}

/* Characters that a path in a URL has as they are (RFC 3986, section 3.3). */
static bool is_plain(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
	       (c != '\0' && strchr("/-._~!$&'()*+,;=:@", c));
}

static void append_url(const char *path, struct strbuf *out)
{
	strbuf_append_str(out, "file://");
	for (const char *c = path; *c; c++) {
		if (is_plain(*c))
			strbuf_append_char(out, *c);
		else
			strbuf_appendf(out, "%%%02X", (unsigned char)*c);
	}
}

int open_hint_append(char *const *files, size_t nr_files, bool is_fetched, struct strbuf *out)
{
	size_t i = 0;

	while (i < nr_files && !opens_in_browser(files[i]))
		i++;
	if (i == nr_files)
		return -ENOENT;

	_cleanup_free_ char *path = realpath(files[i], NULL);
	if (!path)
		return -ENOENT;
	strbuf_append_str(out, "in a browser: ");
	if (is_fetched)
		printable_append(out, strrchr(path, '/') + 1);
	else
		append_url(path, out);
	strbuf_append_char(out, '\n');
	return strbuf_error(out);
}
