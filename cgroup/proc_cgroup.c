/* SPDX-License-Identifier: Apache-2.0 */
#include "cgroup/proc_cgroup.h"

#include "base/parse.h"
#include "base/strview.h"

#include <stdbool.h>
#include <string.h>

/* Finds the path in a line of the hierarchy. A path may contain colons, names of controllers do
 * not. */
static bool parse_line(const char *line, const char *end, uint32_t hierarchy, const char **ret_path)
{
	uint64_t number;

	if (parse_digits(&line, end, 10, &number) < 0 || number != hierarchy || line == end ||
	    *line != ':')
		return false;
	const char *colon = memchr(line + 1, ':', (size_t)(end - line - 1));
	if (!colon || colon + 1 == end || colon[1] != '/')
		return false;
	*ret_path = colon + 1;
	return true;
}

int proc_cgroup_find(const char *text, size_t len, uint32_t hierarchy, const char **ret_path,
		     size_t *ret_len)
{
	const char *end = text + len;

	for (const char *line = text; line < end;) {
		const char *newline = memchr(line, '\n', (size_t)(end - line));
		const char *line_end = newline ? newline : end;
		const char *path;

		if (parse_line(line, line_end, hierarchy, &path)) {
			*ret_path = path;
			*ret_len = strview_without_suffix((struct strview){ path, line_end - path },
							  " (deleted)")
					   .len;
			return 0;
		}
		line = newline ? newline + 1 : end;
	}
	return -ENOENT;
}
