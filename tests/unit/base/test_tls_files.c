/* SPDX-License-Identifier: Apache-2.0 */
#include "base/tls_files.h"

#include "base/cleanup.h"
#include "base/fileio.h"
#include "unit.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define MESSAGE_MAX_BYTES 256

static char path[] = "/tmp/flamelet-tls-XXXXXX";

static int make_file(void **state)
{
	int fd = mkostemp(path, O_CLOEXEC);
	(void)state;

	return fd < 0 ? -errno : close(fd);
}

static int remove_file(void **state)
{
	(void)state;
	return unlink(path);
}

static void write_text(const char *text, size_t len)
{
	assert_int_equal(file_write_atomic(path, text, len), 0);
}

static void files_are_read_anew_each_time(void **state)
{
	static const char *const texts[] = { "one", "", "three" };
	_cleanup_(tls_files_done) struct tls_files files;
	(void)state;

	assert_int_equal(tls_files_init(&files, path, NULL, path), 0);
	for (size_t i = 0; i < array_len(texts); i++) {
		_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(MESSAGE_MAX_BYTES);
		_cleanup_(tls_texts_done) struct tls_texts read = {
			.tls = { .ca = { .text = NULL } }
		};

		write_text(texts[i], strlen(texts[i]));
		assert_int_equal(tls_files_read(&files, &read, &message), 0);
		assert_string_equal(read.tls.ca.text, texts[i]);
		assert_int_equal(read.tls.ca.len, strlen(texts[i]));
		assert_null(read.tls.cert.text);
		assert_string_equal(read.tls.key.text, texts[i]);
	}
}

static void a_file_that_cannot_be_read_is_named(void **state)
{
	_cleanup_free_ char *large = calloc(1, TLS_FILE_MAX_BYTES + 1);
	const struct {
		const char *ca, *cert, *key;
		int result;
		const char *message;
	} cases[] = {
		{ "/nonexistent/ca", NULL, NULL, -ENOENT,
		  "/nonexistent/ca: No such file or directory" },
		{ NULL, "/nonexistent/cert", "/nonexistent/key", -ENOENT,
		  "/nonexistent/cert: No such file or directory" },
		{ NULL, NULL, "/", -EISDIR, "/: Is a directory" },
		{ NULL, NULL, path, -ENOSPC, ": larger than 1 MB" },
	};
	(void)state;

	assert_non_null(large);
	write_text(large, TLS_FILE_MAX_BYTES + 1);
	for (size_t i = 0; i < array_len(cases); i++) {
		_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(MESSAGE_MAX_BYTES);
		_cleanup_(tls_files_done) struct tls_files files;
		struct tls_texts read;

		assert_int_equal(tls_files_init(&files, cases[i].ca, cases[i].cert, cases[i].key),
				 0);
		assert_int_equal(tls_files_read(&files, &read, &message), cases[i].result);
		assert_non_null(strstr(strbuf_str(&message), cases[i].message));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(files_are_read_anew_each_time),
		cmocka_unit_test(a_file_that_cannot_be_read_is_named),
	};

	return cmocka_run_group_tests(tests, make_file, remove_file);
}
