/* SPDX-License-Identifier: Apache-2.0 */
#include "top/keys.h"

#include "unit.h"

#include "base/err.h"

#include <string.h>

struct key_case {
	const char *bytes;
	enum key_kind kind;
	const char *text; /* of KEY_TEXT */
	size_t len; /* bytes that are read; 0: more are needed */
};

static void assert_keys(const struct key_case *cases, size_t nr, bool is_last)
{
	for (size_t i = 0; i < nr; i++) {
		struct key key;
		size_t len = keys_next(cases[i].bytes, strlen(cases[i].bytes), is_last, &key);

		if (len != cases[i].len)
			fail_msg("case %zu: %zu bytes", i, len);
		if (len == 0)
			continue;
		assert_int_equal(key.kind, cases[i].kind);
		if (key.kind == KEY_TEXT)
			assert_string_equal(key.text, cases[i].text);
	}
}

static void keys_are_read_one_by_one(void **state)
{
	static const struct key_case cases[] = {
		{ "q", KEY_TEXT, "q", 1 },
		{ "jj", KEY_TEXT, "j", 1 },
		{ "ß", KEY_TEXT, "ß", 2 },
		{ "🔥x", KEY_TEXT, "🔥", 4 },
		{ "\r", KEY_ENTER, NULL, 1 },
		{ "\n", KEY_ENTER, NULL, 1 },
		{ "\x7f", KEY_BACKSPACE, NULL, 1 },
		{ "\033[A", KEY_UP, NULL, 3 },
		{ "\033OB", KEY_DOWN, NULL, 3 },
		{ "\033[5~", KEY_PAGE_UP, NULL, 4 },
		{ "\033[6~x", KEY_PAGE_DOWN, NULL, 4 },
		{ "\033[H", KEY_HOME, NULL, 3 },
		{ "\033[4~", KEY_END, NULL, 4 },
		{ "\033OM", KEY_ENTER, NULL, 3 }, /* of the keypad */
	};
	(void)state;

	assert_keys(cases, array_len(cases), false);
}

static void what_is_no_key_is_skipped(void **state)
{
	static const struct key_case cases[] = {
		{ "\x01", KEY_UNKNOWN, NULL, 1 },
		{ "\xff", KEY_UNKNOWN, NULL, 1 },
		{ "\x80q", KEY_UNKNOWN, NULL, 1 },
		{ "\xc3(", KEY_UNKNOWN, NULL, 1 },
		{ "\033[99;1R", KEY_UNKNOWN, NULL, 7 }, /* an answer of the terminal */
		{ "\033[1;5A", KEY_UNKNOWN, NULL, 6 }, /* Ctrl-up */
		{ "\033[1;1;1;1;1;1;1;1;1;1;1;1", KEY_UNKNOWN, NULL, 17 }, /* no end in sight */
	};
	(void)state;

	assert_keys(cases, array_len(cases), true);
}

static void a_key_in_parts_waits_for_the_rest(void **state)
{
	static const struct key_case cases[] = {
		{ "", KEY_UNKNOWN, NULL, 0 },	   { "\033", KEY_UNKNOWN, NULL, 0 },
		{ "\033[", KEY_UNKNOWN, NULL, 0 }, { "\033[5", KEY_UNKNOWN, NULL, 0 },
		{ "\xc3", KEY_UNKNOWN, NULL, 0 },
	};
	(void)state;

	assert_keys(cases, array_len(cases), false);
}

static void an_escape_alone_is_the_key(void **state)
{
	static const struct key_case cases[] = {
		{ "\033", KEY_ESCAPE, NULL, 1 },     { "\033x", KEY_ESCAPE, NULL, 1 }, /* Alt-x */
		{ "\033\033", KEY_ESCAPE, NULL, 1 }, { "\033[", KEY_UNKNOWN, NULL, 2 },
		{ "\xc3", KEY_UNKNOWN, NULL, 1 },
	};
	(void)state;

	assert_keys(cases, array_len(cases), true);
}

/* Whatever is typed, each call reads something, and nothing behind the end. */
static void all_bytes_are_read_in_the_end(void **state)
{
	char bytes[64];
	unsigned int random = 1;
	(void)state;

	for (int round = 0; round < 20000; round++) {
		size_t nr = 1 + (random >> 8) % sizeof(bytes), used = 0;

		for (size_t i = 0; i < nr; i++) {
			static const char pool[] = "\033\033\033[[O5~AB;1\xc3\xe2\x82\xf0qj\r\x7f";

			random = random * 1103515245 + 12345;
			bytes[i] = pool[(random >> 16) % (sizeof(pool) - 1)];
		}
		while (used < nr) {
			struct key key;
			size_t len = keys_next(bytes + used, nr - used, true, &key);

			assert_in_range(len, 1, nr - used);
			used += len;
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keys_are_read_one_by_one),
		cmocka_unit_test(what_is_no_key_is_skipped),
		cmocka_unit_test(a_key_in_parts_waits_for_the_rest),
		cmocka_unit_test(an_escape_alone_is_the_key),
		cmocka_unit_test(all_bytes_are_read_in_the_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
