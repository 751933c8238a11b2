/* SPDX-License-Identifier: Apache-2.0 */
#include "ui/ui_check.h"

#include "base/err.h"

#include "unit.h"

static void names_of_this_machine_are_its_hosts(void **state)
{
	static const char *const cases[] = {
		"127.0.0.1", "127.0.0.1:7070", "localhost", "localhost:1", "[::1]", "[::1]:65535",
	};
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++)
		assert_null(ui_check_headers(&(struct ui_headers){ .host = cases[i] }));
}

static void other_hosts_are_refused(void **state)
{
	static const char *const cases[] = {
		NULL,
		"",
		"evil.example",
		"127.0.0.1.evil.example",
		"127.0.0.1:7070.evil.example",
		"localhost.evil.example:80",
		"evil.example:7070",
		"127.0.0.2",
		"127.0.0.1:",
		"127.0.0.1:0",
		"127.0.0.1:65536",
		"127.0.0.1:80:80",
		"127.0.0.1:+80",
		"127.0.0.1@evil.example",
		"LOCALHOST",
		"::1",
		"[::1",
		"[::1]evil",
		" localhost",
		"0.0.0.0",
	};
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++)
		assert_non_null(ui_check_headers(&(struct ui_headers){ .host = cases[i] }));
}

static void only_the_page_itself_asks(void **state)
{
	static const struct {
		const char *origin, *site;
		bool is_own;
	} cases[] = {
		{ "http://localhost:7070", NULL, true },
		{ NULL, "same-origin", true },
		{ NULL, "none", true },
		{ "http://localhost:7070", "same-origin", true },
		{ "http://localhost", NULL, false },
		{ "http://localhost:7071", NULL, false },
		{ "http://127.0.0.1:7070", NULL, false },
		{ "https://localhost:7070", NULL, false },
		{ "http://localhost:7070.evil.example", NULL, false },
		{ "http://evil.example", NULL, false },
		{ "null", NULL, false },
		{ "", NULL, false },
		{ NULL, "cross-site", false },
		{ NULL, "same-site", false },
		{ NULL, "", false },
		{ "http://localhost:7070", "cross-site", false },
	};
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		const struct ui_headers headers = {
			.host = "localhost:7070",
			.origin = cases[i].origin,
			.fetch_site = cases[i].site,
		};

		assert_int_equal(ui_check_headers(&headers) == NULL, cases[i].is_own);
	}
}

static void a_header_that_stands_there_twice_is_refused(void **state)
{
	const struct ui_headers headers = { .host = "localhost", .has_twice = true };
	(void)state;

	assert_non_null(ui_check_headers(&headers));
}

static void compression_is_a_choice_of_the_client(void **state)
{
	static const struct {
		const char *header;
		bool is_accepted;
	} cases[] = {
		{ "gzip", true },
		{ "gzip, deflate, br, zstd", true },
		{ "br,\tgzip;q=0.8", true },
		{ "gzip ; q=1.0", true },
		{ "deflate , gzip", true },
		{ NULL, false },
		{ "", false },
		{ "identity", false },
		{ "gzip;q=0", false },
		{ "gzip; q=0.000", false },
		{ "x-gzipped", false },
		{ "gzi", false },
		{ ",,;", false },
	};
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++)
		assert_int_equal(ui_check_accepts_gzip(cases[i].header), cases[i].is_accepted);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_of_this_machine_are_its_hosts),
		cmocka_unit_test(other_hosts_are_refused),
		cmocka_unit_test(only_the_page_itself_asks),
		cmocka_unit_test(a_header_that_stands_there_twice_is_refused),
		cmocka_unit_test(compression_is_a_choice_of_the_client),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
