/* SPDX-License-Identifier: Apache-2.0 */
/* Text in the cells of a terminal: characters of East Asian scripts and most emoji take two cells,
 * combining characters none. On a terminal without UTF-8, only ASCII is written. */
#ifndef TOP_CELLS_H
#define TOP_CELLS_H

#include "base/strbuf.h"
#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>

/* How a terminal or a file is written to. */
struct cells_style {
	unsigned int columns, lines;
	bool is_utf8;
	bool has_color;
};

/* Returns the number of cells of a UTF-8 text. */
size_t cells_width(const char *text);

/* Appends a name in at most `columns` cells, with "…" in place of the part that is omitted. The
 * name is made printable first. Returns the number of cells. */
size_t cells_append(struct strbuf *out, const char *name, size_t columns, enum elide elide,
		    const struct cells_style *style);

/* The same in exactly `columns` cells, filled with blanks. */
void cells_append_padded(struct strbuf *out, const char *name, size_t columns, enum elide elide,
			 const struct cells_style *style);

/* Returns a symbol as UTF-8 or its substitute of ASCII. */
static inline const char *cells_symbol(const struct cells_style *style, const char *utf8,
				       const char *ascii)
{
	return style->is_utf8 ? utf8 : ascii;
}

#endif
