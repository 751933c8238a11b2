/* SPDX-License-Identifier: Apache-2.0 */
#include "otlp/transport/header_file.h"

#include "base/cleanup.h"
#include "base/fileio.h"
#include "unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#define BYTES(literal) literal, sizeof(literal) - 1
#define LINE "x-1: 0123456789\n"

static char path[] = "/tmp/flamelet-headers-XXXXXX";

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

static void each_line_is_a_header(void **state)
{
	static const struct {
		const char *text;
		size_t len;
		const char *lines[3];
	} cases[] = {
		{ BYTES("Authorization: Basic MTIzOmdsY18=\n"),
		  { "Authorization: Basic MTIzOmdsY18=" } },
		{ BYTES("x: y"), { "x: y" } },
		{ BYTES("x: a\ny: b\nX: c\n"), { "x: a", "y: b", "X: c" } },
		{ BYTES("x: a\r\ny: b\r\n"), { "x: a", "y: b" } },
		{ BYTES("\n\n# x: a\n  \n\t\ny: b\n#"), { "y: b" } },
		{ BYTES("x:a b \t\ny:\n"), { "x: a b", "y;" } },
		{ BYTES("x: a # b"), { "x: a # b" } },
	};
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		_cleanup_(header_list_done) struct header_list list = { .lines = NULL };
		_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(256);
		size_t nr = 0;

		assert_int_equal(
			header_file_parse(cases[i].text, cases[i].len, "f", &list, &message), 0);
		for (; nr < array_len(cases[i].lines) && cases[i].lines[nr]; nr++) {
			assert_true(nr < list.nr_lines);
			assert_string_equal(list.lines[nr], cases[i].lines[nr]);
		}
		assert_int_equal(list.nr_lines, nr);
		assert_int_equal(message.len, 0);
	}
}

static void what_is_none_is_named_by_its_line(void **state)
{
	static const struct {
		const char *text;
		size_t len;
		const char *message; /* its beginning */
	} cases[] = {
		{ BYTES(""), "f: the file has no header" },
		{ BYTES("\n \n#\n"), "f: the file has no header" },
		{ BYTES("s3cret"), "f:1: this header cannot be set" },
		{ BYTES("x: y\n\n# z\ns3cret\n"), "f:4: this header cannot be set" },
		{ BYTES(" x: s3cret"), "f:1: this header cannot be set" },
		{ BYTES(": s3cret"), "f:1: this header cannot be set" },
		{ BYTES("x s3cret: y"), "f:1: this header cannot be set" },
		{ BYTES("x: s3\0cret"), "f:1: this header cannot be set" },
		{ BYTES("x: y\n\0"), "f:2: this header cannot be set" },
		{ BYTES("x: s3\rcret"), "f:1: this header cannot be set" },
		{ BYTES("x: s3\x7f"), "f:1: this header cannot be set" },
		{ BYTES("\xef\xbb\xbfx: s3cret"), "f:1: this header cannot be set" },
		{ BYTES("x: y\nTransfer-Encoding: s3cret"), "f:2: this header cannot be set" },
		{ BYTES("grpc-timeout: s3cret"), "f:1: this header cannot be set" },
	};
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		_cleanup_(header_list_done) struct header_list list = { .lines = NULL };
		_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(256);

		assert_int_equal(
			header_file_parse(cases[i].text, cases[i].len, "f", &list, &message),
			-EBADMSG);
		assert_int_equal(
			strncmp(strbuf_str(&message), cases[i].message, strlen(cases[i].message)),
			0);
		assert_null(strstr(strbuf_str(&message), "s3"));
	}
}

static int read_text(const char *text, size_t len, struct strbuf *message)
{
	_cleanup_(header_list_done) struct header_list list = { .lines = NULL };

	assert_int_equal(file_write_atomic(path, text, len), 0);
	strbuf_clear(message);
	return header_file_read(path, &list, message);
}

static void a_file_is_bounded(void **state)
{
	_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max(HEADER_FILE_MAX_BYTES + 1);
	_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(256);
	(void)state;

	for (size_t i = 0; i < HEADERS_MAX; i++)
		strbuf_append_str(&text, LINE);
	assert_int_equal(read_text(text.data, text.len, &message), 0);
	strbuf_append_str(&text, LINE);
	assert_int_equal(read_text(text.data, text.len, &message), -ENOSPC);
	assert_non_null(strstr(message.data, ":257: more than 256 headers"));

	strbuf_clear(&text);
	strbuf_append_str(&text, "x: ");
	memset(strbuf_extend(&text, HEADER_FILE_MAX_BYTES - text.len), 'y',
	       HEADER_FILE_MAX_BYTES - 3);
	assert_int_equal(read_text(text.data, text.len, &message), 0);
	strbuf_append_char(&text, 'y');
	assert_int_equal(read_text(text.data, text.len, &message), -ENOSPC);
	assert_non_null(strstr(message.data, ": larger than 64 KiB"));
}

static void a_file_must_be_there(void **state)
{
	static const struct {
		const char *path;
		int error;
	} cases[] = { { "/nonexistent/headers", -ENOENT }, { "/tmp", -EISDIR } };
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		_cleanup_(header_list_done) struct header_list list = { .lines = NULL };
		_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(256);

		assert_int_equal(header_file_read(cases[i].path, &list, &message), cases[i].error);
		assert_non_null(strstr(message.data, cases[i].path));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_line_is_a_header),
		cmocka_unit_test(what_is_none_is_named_by_its_line),
		cmocka_unit_test(a_file_is_bounded),
		cmocka_unit_test(a_file_must_be_there),
	};

	return cmocka_run_group_tests(tests, make_file, remove_file);
}
