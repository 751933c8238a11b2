/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/opener/mountinfo.h"

#include "base/err.h"
#include "base/parse.h"

#include <string.h>

static bool skip_char(const char **cursor, const char *end, char c)
{
	if (*cursor == end || **cursor != c)
		return false;
	(*cursor)++;
	return true;
}

static bool parse_number(const char **cursor, const char *end, uint64_t max, uint64_t *ret_value)
{
	uint64_t value;

	if (parse_digits(cursor, end, 10, &value) < 0 || value > max)
		return false;
	*ret_value = value;
	return true;
}

/* Parses `id parent major:minor `, the fields with fixed places. */
static bool parse_start(const char **cursor, const char *end, struct mountinfo_line *line)
{
	uint64_t parent;
	uint64_t dev_major = 0;
	uint64_t dev_minor = 0;
	bool is_good = parse_number(cursor, end, UINT64_MAX, &line->mount_id) &&
		       skip_char(cursor, end, ' ') &&
		       parse_number(cursor, end, UINT64_MAX, &parent) &&
		       skip_char(cursor, end, ' ') &&
		       parse_number(cursor, end, UINT32_MAX, &dev_major) &&
		       skip_char(cursor, end, ':') &&
		       parse_number(cursor, end, UINT32_MAX, &dev_minor) &&
		       skip_char(cursor, end, ' ');

	line->dev_major = (uint32_t)dev_major;
	line->dev_minor = (uint32_t)dev_minor;
	return is_good;
}

/* The type follows " - ". No other field can be "-": blanks in paths are escaped, and paths begin
 * with "/" or with the name of a namespace. */
static bool parse_line(const char *line, size_t len, struct mountinfo_line *ret_line)
{
	const char *cursor = line;
	const char *end = line + len;
	struct mountinfo_line parsed;

	if (!parse_start(&cursor, end, &parsed))
		return false;

	const char *separator = memmem(cursor, (size_t)(end - cursor), " - ", 3);
	if (!separator)
		return false;
	parsed.type = separator + 3;

	const char *type_end = memchr(parsed.type, ' ', (size_t)(end - parsed.type));
	if (!type_end || type_end == parsed.type)
		return false;
	parsed.type_len = (size_t)(type_end - parsed.type);
	*ret_line = parsed;
	return true;
}

bool mountinfo_next(const char **text, const char *end, struct mountinfo_line *ret_line)
{
	while (*text < end) {
		const char *line = *text;
		const char *newline = memchr(line, '\n', (size_t)(end - line));
		const char *line_end = newline ? newline : end;

		*text = newline ? newline + 1 : end;
		if (parse_line(line, (size_t)(line_end - line), ret_line))
			return true;
	}
	return false;
}

bool mountinfo_is_local(const struct mountinfo_line *line)
{
	static const char *const types[] = {
		"aufs",	     "bcachefs", "btrfs",  "cramfs",   "devtmpfs", "ecryptfs",
		"erofs",     "exfat",	 "ext2",   "ext3",     "ext4",	   "f2fs",
		"hugetlbfs", "iso9660",	 "jfs",	   "nilfs2",   "ntfs3",	   "overlay",
		"ramfs",     "reiserfs", "rootfs", "shiftfs",  "squashfs", "tmpfs",
		"ubifs",     "udf",	 "vfat",   "virtiofs", "xfs",	   "zfs",
	};

	for (size_t i = 0; i < array_len(types); i++)
		if (strlen(types[i]) == line->type_len &&
		    memcmp(types[i], line->type, line->type_len) == 0)
			return true;
	return false;
}
