/* SPDX-License-Identifier: Apache-2.0 */
/* Reads lines from debug information, as the symbol worker does, and adds them to a table, as the
 * agent does. */
#ifndef TESTS_UNIT_LINES_ANSWER_H
#define TESTS_UNIT_LINES_ANSWER_H

#include "base/strbuf.h"
#include "symbol/dwarf/dwarf_lines.h"
#include "symbol/dwarf/lines_table.h"
#include "unit.h"

#define LINES_ANSWER_MAX_BYTES ((size_t)1 << 20)

struct lines_answer {
	struct lines_table table;
	struct lines_added added;
	struct symbol_line lines[SYMBOL_MAX_LINES]; /* of the address looked up last */
	enum symbol_language language;
};

static inline void lines_answer_done(struct lines_answer *answer)
{
	lines_table_done(&answer->table);
}

static inline void lines_answer_ask(struct lines_answer *answer, struct dwarf_lines *lines,
				    const uint64_t *addresses, size_t nr_addresses)
{
	struct strbuf out = strbuf_with_max(LINES_ANSWER_MAX_BYTES);

	assert_int_equal(dwarf_lines_write(lines, addresses, nr_addresses, &out), 0);
	assert_int_equal(lines_table_add(&answer->table, out.data, out.len, &answer->added), 0);
	strbuf_done(&out);
}

/* See lines_table_find(). */
static inline int lines_answer_find(struct lines_answer *answer, uint64_t address)
{
	return lines_table_find(&answer->table, address, answer->lines, &answer->language);
}

#endif
