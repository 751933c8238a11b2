/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/hotspot/line_table.h"

#include "runtime/hotspot/unsigned5.h"

#include <stdbool.h>

#define BYTE_END 0
#define BYTE_LONG_PAIR 0xff
#define MAX_LINE 65535 /* u2 in class files */

struct pair {
	int32_t bci;
	int32_t line;
};

/* Adds the differences to the next pair. Returns 0 at the end of the table, else 1. */
static int next_pair(struct unsigned5_reader *reader, struct pair *pair)
{
	int32_t bci = 0, line = 0;
	uint8_t byte;
	int r;

	if (reader->position >= reader->len)
		return -EBADMSG;
	byte = reader->bytes[reader->position++];
	if (byte == BYTE_END)
		return 0;
	if (byte == BYTE_LONG_PAIR) {
		r = unsigned5_next_signed(reader, &bci);
		if (r == 0)
			r = unsigned5_next_signed(reader, &line);
		if (r < 0)
			return r;
	} else {
		bci = byte >> 3;
		line = byte & 7;
	}
	if (__builtin_add_overflow(pair->bci, bci, &pair->bci) ||
	    __builtin_add_overflow(pair->line, line, &pair->line))
		return -EBADMSG;
	return 1;
}

int line_table_find(const struct line_table *table, int32_t bci, uint32_t *ret_line)
{
	struct unsigned5_reader reader = { table->bytes, table->len, 0, table->nr_excluded };
	struct pair pair = { 0 }, best = { -1, 0 };
	int r;

	while ((r = next_pair(&reader, &pair)) > 0)
		if (pair.bci <= bci && pair.bci >= best.bci)
			best = pair;
	if (r < 0)
		return r;
	if (best.bci < 0)
		return -ENOENT;
	if (best.line <= 0 || best.line > MAX_LINE)
		return -EBADMSG;
	*ret_line = (uint32_t)best.line;
	return 0;
}
