/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/kernel/kallsyms_parser.h"

#include "base/parse.h"

#include <string.h>

/* Parses `\t[module]`, which ends the line. */
static bool parse_module(const char *text, const char *end, struct kallsyms_line *line)
{
	text++;
	if (end - text < 3 || text[0] != '[' || end[-1] != ']')
		return false;
	line->module = text + 1;
	line->module_len = (size_t)(end - text) - 2;
	return true;
}

bool kallsyms_parse_line(const char *line, size_t len, struct kallsyms_line *ret_line)
{
	const char *cursor = line;
	const char *end = line + len;
	struct kallsyms_line parsed = { .module = "" };

	if (parse_digits(&cursor, end, 16, &parsed.address) < 0)
		return false;
	if (end - cursor < 4 || cursor[0] != ' ' || cursor[2] != ' ')
		return false;
	parsed.type = cursor[1];
	parsed.name = cursor + 3;
	const char *tab = memchr(parsed.name, '\t', (size_t)(end - parsed.name));
	parsed.name_len = (size_t)((tab ? tab : end) - parsed.name);
	if (parsed.name_len == 0 || memchr(parsed.name, '\0', parsed.name_len))
		return false;
	if (tab && (memchr(tab, '\0', (size_t)(end - tab)) || !parse_module(tab, end, &parsed)))
		return false;
	*ret_line = parsed;
	return true;
}
