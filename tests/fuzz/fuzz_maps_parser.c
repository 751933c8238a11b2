/* SPDX-License-Identifier: Apache-2.0 */
/* Any text gives lines that lie inside it, and each of its lines is either good or counted. */
#include "process/maps_parser.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static size_t count_lines(const uint8_t *data, size_t len)
{
	size_t nr_lines = len > 0 && data[len - 1] != '\n';

	for (size_t i = 0; i < len; i++)
		nr_lines += data[i] == '\n';
	return nr_lines;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	const char *text = (const char *)data;
	struct maps_parser parser;
	struct maps_line line;
	size_t nr_good = 0;

	maps_parser_init(&parser, text, len);
	while (maps_parser_next(&parser, &line)) {
		nr_good++;
		if (line.start >= line.end || line.path < text ||
		    line.path + line.path_len > text + len ||
		    memchr(line.path, '\n', line.path_len))
			abort();
	}
	if (nr_good + parser.nr_bad_lines != count_lines(data, len))
		abort();
	return 0;
}
