/* SPDX-License-Identifier: Apache-2.0 */
#include "process/maps_parser.h"

#include "base/parse.h"

#include <string.h>

#define DELETED " (deleted)"
#define PERMS_LEN 4

void maps_parser_init(struct maps_parser *parser, const char *text, size_t len)
{
	*parser = (struct maps_parser){ .cursor = text, .end = text + len };
}

size_t maps_path_len_undeleted(const char *path, size_t len)
{
	size_t suffix_len = sizeof(DELETED) - 1;

	if (len <= suffix_len || memcmp(path + len - suffix_len, DELETED, suffix_len) != 0)
		return len;
	return len - suffix_len;
}

/* Takes a number and the character that must follow it. */
static bool take_number(const char **cursor, const char *end, unsigned int base, char separator,
			uint64_t *ret_value)
{
	const char *c = *cursor;
	uint64_t value;

	if (parse_digits(&c, end, base, &value) < 0 || c == end || *c != separator)
		return false;
	*cursor = c + 1;
	*ret_value = value;
	return true;
}

static bool take_range(const char **cursor, const char *end, struct maps_line *line)
{
	return take_number(cursor, end, 16, '-', &line->start) &&
	       take_number(cursor, end, 16, ' ', &line->end) && line->start < line->end;
}

/* "r-xp " */
static bool take_perms(const char **cursor, const char *end, struct maps_line *line)
{
	static const char *const allowed[PERMS_LEN + 1] = { "r-", "w-", "x-", "ps", " " };
	const char *perms = *cursor;

	if (end - perms <= PERMS_LEN)
		return false;
	for (size_t i = 0; i <= PERMS_LEN; i++) {
		if (!memchr(allowed[i], perms[i], strlen(allowed[i])))
			return false;
	}
	line->is_executable = perms[2] == 'x';
	line->is_writable = perms[1] == 'w';
	*cursor = perms + PERMS_LEN + 1;
	return true;
}

/* "00026000 fe:00 1234", where the blank behind the inode may be missing. */
static bool take_file(const char **cursor, const char *end, struct maps_line *line)
{
	uint64_t major, minor;

	if (!take_number(cursor, end, 16, ' ', &line->file_offset) ||
	    !take_number(cursor, end, 16, ':', &major) ||
	    !take_number(cursor, end, 16, ' ', &minor) ||
	    parse_digits(cursor, end, 10, &line->inode) < 0)
		return false;
	if (major > UINT32_MAX || minor > UINT32_MAX || (*cursor < end && **cursor != ' '))
		return false;
	line->dev_major = (uint32_t)major;
	line->dev_minor = (uint32_t)minor;
	return true;
}

/* Takes the rest of the line after the padding. The kernel writes a newline in a name as
 * "\012", and no name has a NUL. */
static bool take_path(const char *cursor, const char *end, struct maps_line *line)
{
	while (cursor < end && *cursor == ' ')
		cursor++;

	size_t len = (size_t)(end - cursor);
	if (memchr(cursor, '\0', len))
		return false;
	line->path = cursor;
	line->path_len = maps_path_len_undeleted(cursor, len);
	line->is_deleted = line->path_len < len;
	return true;
}

static bool parse_line(const char *cursor, const char *end, struct maps_line *ret_line)
{
	struct maps_line line = { 0 };

	if (!take_range(&cursor, end, &line) || !take_perms(&cursor, end, &line) ||
	    !take_file(&cursor, end, &line) || !take_path(cursor, end, &line))
		return false;
	*ret_line = line;
	return true;
}

bool maps_parser_next(struct maps_parser *parser, struct maps_line *ret_line)
{
	while (parser->cursor < parser->end) {
		const char *line = parser->cursor;
		const char *end = memchr(line, '\n', (size_t)(parser->end - line));

		parser->cursor = end ? end + 1 : parser->end;
		if (parse_line(line, end ? end : parser->end, ret_line))
			return true;
		parser->nr_bad_lines++;
	}
	return false;
}
