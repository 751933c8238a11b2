/* SPDX-License-Identifier: Apache-2.0 */
#include "commands/open_hint.h"

#include "base/cleanup.h"
#include "unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_BYTES 4096

static int make_dir(void **state)
{
	char *dir = strdup("/tmp/test_open_hint.XXXXXX");

	*state = dir;
	return dir && mkdtemp(dir) ? 0 : -1;
}

static int remove_dir(void **state)
{
	int r = rmdir(*state);

	free(*state);
	return r;
}

/* Expects a hint for an output of that name beside a file of pprof; NULL: none. */
static void expect_hint(const char *dir, const char *name, bool is_fetched, const char *expected)
{
	char path[256], pprof[] = "/dev/null/x.pb.gz", wanted[512];
	char *files[] = { pprof, path };
	_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(MAX_BYTES);

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	close(fd);
	int r = open_hint_append(files, array_len(files), is_fetched, &out);
	unlink(path);
	assert_int_equal(r, expected ? 0 : -ENOENT);
	if (!expected)
		return;
	snprintf(wanted, sizeof(wanted), "in a browser: %s%s%s\n", is_fetched ? "" : "file://",
		 is_fetched ? "" : dir, expected);
	assert_string_equal(strbuf_str(&out), wanted);
}

static void a_page_or_picture_has_a_url(void **state)
{
	static const struct {
		const char *name, *url;
	} cases[] = {
		{ "a.html", "/a.html" },
		{ "a.svg", "/a.svg" },
		{ "a b#1?.html", "/a%20b%231%3F.html" },
		{ "100%\n\xc3\xa9.html", "/100%25%0A%C3%A9.html" },
		{ "a.folded", NULL },
		{ "a.firefox.json", NULL },
		{ "html", NULL },
	};

	for (size_t i = 0; i < array_len(cases); i++)
		expect_hint(*state, cases[i].name, false, cases[i].url);
}

static void a_file_that_is_copied_first_has_its_name(void **state)
{
	expect_hint(*state, "a b.html", true, "a b.html");
	expect_hint(*state, "a\033.html", true, "a\\x1b.html");
	expect_hint(*state, "a.pb.gz", true, NULL);
}

static void a_file_that_is_not_there_has_no_hint(void **state)
{
	char gone[] = "/nonexistent/a.html", out_dash[] = "-";
	char *files[] = { out_dash, gone };
	_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(MAX_BYTES);
	(void)state;

	assert_int_equal(open_hint_append(files, 0, false, &out), -ENOENT);
	assert_int_equal(open_hint_append(files, 1, false, &out), -ENOENT);
	assert_int_equal(open_hint_append(files, 2, false, &out), -ENOENT);
	assert_int_equal(out.len, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_page_or_picture_has_a_url),
		cmocka_unit_test(a_file_that_is_copied_first_has_its_name),
		cmocka_unit_test(a_file_that_is_not_there_has_no_hint),
	};

	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
