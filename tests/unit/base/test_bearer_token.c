/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bearer_token.h"

#include "base/cleanup.h"
#include "base/fileio.h"
#include "unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#define PREFIX "Authorization: Bearer "

#define TOKEN_MAX_BYTES ((size_t)16 << 10)

static char path[] = "/tmp/flamelet-token-XXXXXX";

static int make_file(void **state)
{
	int fd = mkostemp(path, O_CLOEXEC);
	(void)state;

	return fd < 0 ? fd : close(fd);
}

static int remove_file(void **state)
{
	(void)state;
	return unlink(path);
}

static int read_token(const char *text, size_t len, struct strbuf *header)
{
	assert_int_equal(file_write_atomic(path, text, len), 0);
	return bearer_token_read(path, TOKEN_MAX_BYTES, header);
}

#define BYTES(literal) literal, sizeof(literal) - 1

static void a_token_is_what_stands_between_blanks(void **state)
{
	static const struct {
		const char *text;
		size_t len;
		const char *token; /* NULL: refused */
	} cases[] = {
		{ BYTES("abc.def-ghi_~+/="), "abc.def-ghi_~+/=" },
		{ BYTES("abc\n"), "abc" },
		{ BYTES(" abc\r\n\n"), "abc" },
		{ BYTES(""), NULL },
		{ BYTES("\n"), NULL },
		{ BYTES("a b"), NULL },
		{ BYTES("a\r\nX-Evil: b"), NULL },
		{ BYTES("a\0b"), NULL },
		{ BYTES("a\x7f"), NULL },
		{ BYTES("t\xc3\xb6ken"), NULL },
	};
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		_cleanup_(strbuf_done) struct strbuf header = strbuf_with_max(64);
		int r = read_token(cases[i].text, cases[i].len, &header);

		assert_int_equal(r, cases[i].token ? 0 : -EBADMSG);
		if (cases[i].token)
			assert_string_equal(strbuf_str(&header) + strlen(PREFIX), cases[i].token);
		else
			assert_int_equal(header.len, 0);
	}
}

static void a_token_is_bounded(void **state)
{
	_cleanup_(strbuf_done) struct strbuf header = strbuf_with_max(64 << 10);
	static char text[(16 << 10) + 1];
	(void)state;

	memset(text, 'x', sizeof(text));
	assert_int_equal(read_token(text, sizeof(text) - 1, &header), 0);
	assert_int_equal(header.len, strlen(PREFIX) + sizeof(text) - 1);
	assert_int_equal(read_token(text, sizeof(text), &header), -ENOSPC);
}

static void a_file_must_be_there(void **state)
{
	_cleanup_(strbuf_done) struct strbuf header = strbuf_with_max(64);
	(void)state;

	assert_int_equal(bearer_token_read("/nonexistent/token", TOKEN_MAX_BYTES, &header),
			 -ENOENT);
	assert_int_equal(bearer_token_read("/tmp", TOKEN_MAX_BYTES, &header), -EISDIR);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_token_is_what_stands_between_blanks),
		cmocka_unit_test(a_token_is_bounded),
		cmocka_unit_test(a_file_must_be_there),
	};

	return cmocka_run_group_tests(tests, make_file, remove_file);
}
