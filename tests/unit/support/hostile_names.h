/* SPDX-License-Identifier: Apache-2.0 */
/* Names that do something to the text around them, for the test of each writer, and what must
 * hold for all that it writes. */
#ifndef TESTS_UNIT_HOSTILE_NAMES_H
#define TESTS_UNIT_HOSTILE_NAMES_H

#include "base/err.h"
#include "harmless_text.h"
#include "unit.h"

#include <stdbool.h>
#include <string.h>

/* `printable` is the form before a format's own quoting. */
static const struct hostile_name {
	const char *name;
	const char *printable;
} hostile_names[] = {
	{ "esc\x1b[31m", "esc\\x1b[31m" },
	{ "line\nlevel=error", "line\\x0alevel=error" },
	{ "tab\tcr\rdel\x7f", "tab\\x09cr\\x0ddel\\x7f" },
	{ "c1 \xc2\x9b"
	  "2J",
	  "c1 \\xc2\\x9b2J" },
	{ "raw \x9b"
	  "2J",
	  "raw \\x9b2J" },
	{ "bad \xff\xc3(", "bad \\xff\\xc3(" },
	{ "cut \xe2\x82", "cut \\xe2\\x82" },
	{ "bidi \xe2\x80\xaetxt\xe2\x80\xac", "bidi \\xe2\\x80\\xaetxt\\xe2\\x80\\xac" },
	{ "isolate \xe2\x81\xa6txt\xe2\x81\xa9", "isolate \\xe2\\x81\\xa6txt\\xe2\\x81\\xa9" },
	{ "sep \xe2\x80\xa8txt", "sep \\xe2\\x80\\xa8txt" },
};

/* Fails the test when the bytes are not UTF-8, or do anything but show characters. Newlines of the
 * format itself pass with `has_lines`. */
static inline void assert_printable(const char *text, size_t len, bool has_lines)
{
	size_t at = harmless_len(text, len, has_lines);

	if (at < len)
		fail_msg("byte %zu is \\x%02x", at, (unsigned char)text[at]);
}

#endif
