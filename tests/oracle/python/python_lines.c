/* SPDX-License-Identifier: Apache-2.0 */
/* Reads line tables of CPython, each with the line of each code unit, and says which lines are
 * found wrong. Exits with 1 if any is. See compare.py. */
#include "base/cleanup.h"
#include "base/strbuf.h"
#include "runtime/cpython/cpython_lines.h"

#include <inttypes.h>
#include <stdio.h>

#define MAX_BYTES ((size_t)64 << 20)
#define MAX_SHOWN 20

/* One code object; its name, table and lines follow. */
struct head {
	uint32_t format; /* enum cpython_lines */
	int32_t first_line;
	uint32_t name_len;
	uint32_t table_len;
	uint32_t nr_units;
};

static struct {
	uint64_t nr_codes;
	uint64_t nr_units;
	uint64_t nr_wrong;
} counts;

static int read_part(struct strbuf *to, size_t len)
{
	strbuf_clear(to);

	char *part = strbuf_extend(to, len);
	if (!part)
		return strbuf_error(to);
	return fread(part, 1, len, stdin) == len ? 0 : -EBADMSG;
}

static void compare_unit(const struct cpython_line_table *table, const char *name, uint32_t unit,
			 uint32_t expected)
{
	uint32_t line = cpython_lines_find(table, unit);

	counts.nr_units++;
	if (line == expected)
		return;
	if (counts.nr_wrong++ < MAX_SHOWN)
		printf("%s, unit %u: line %u, expected %u\n", name, unit, line, expected);
}

static int compare_code(const struct head *head)
{
	_cleanup_(strbuf_done) struct strbuf name = strbuf_with_max(MAX_BYTES);
	_cleanup_(strbuf_done) struct strbuf bytes = strbuf_with_max(MAX_BYTES);
	_cleanup_(strbuf_done) struct strbuf lines = strbuf_with_max(MAX_BYTES);

	if (read_part(&name, head->name_len) < 0 || read_part(&bytes, head->table_len) < 0 ||
	    read_part(&lines, (size_t)head->nr_units * sizeof(uint32_t)) < 0)
		return -EBADMSG;

	const struct cpython_line_table table = {
		.format = (enum cpython_lines)head->format,
		.first_line = head->first_line,
		.bytes = (const uint8_t *)strbuf_str(&bytes),
		.len = bytes.len,
	};
	const uint32_t *expected = (const void *)strbuf_str(&lines);
	for (uint32_t unit = 0; unit < head->nr_units; unit++)
		compare_unit(&table, strbuf_str(&name), unit, expected[unit]);
	counts.nr_codes++;
	return 0;
}

int main(void)
{
	struct head head;

	while (fread(&head, sizeof(head), 1, stdin) == 1) {
		if (compare_code(&head) < 0) {
			fprintf(stderr, "the input ends in a code object\n");
			return 1;
		}
	}
	printf("%" PRIu64 " code objects, %" PRIu64 " units compared, %" PRIu64 " differ\n",
	       counts.nr_codes, counts.nr_units, counts.nr_wrong);
	return counts.nr_units == 0 || counts.nr_wrong > 0;
}
