/* SPDX-License-Identifier: Apache-2.0 */
/* The lines of /proc/PID/maps: `start-end perms offset maj:min inode   path` (proc(5)). */
#ifndef PROCESS_MAPS_PARSER_H
#define PROCESS_MAPS_PARSER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct maps_line {
	uint64_t start;
	uint64_t end;
	uint64_t file_offset;
	uint64_t inode;
	uint32_t dev_major;
	uint32_t dev_minor;
	bool is_executable;
	bool is_writable;
	bool is_deleted; /* the path ended in " (deleted)", which is cut off */
	const char *path; /* path_len bytes of the text, not NUL-terminated; "\012" is as it is */
	size_t path_len; /* 0 for anonymous memory */
};

struct maps_parser {
	const char *cursor;
	const char *end;
	uint64_t nr_bad_lines;
};

void maps_parser_init(struct maps_parser *parser, const char *text, size_t len);

/* Returns the next well-formed line; skips and counts malformed ones. False at the end. */
bool maps_parser_next(struct maps_parser *parser, struct maps_line *ret_line);

/* Returns the length of `path` without the " (deleted)" that the kernel appends to
 * that of an unlinked file. */
size_t maps_path_len_undeleted(const char *path, size_t len);

#endif
