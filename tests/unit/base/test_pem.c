/* SPDX-License-Identifier: Apache-2.0 */
#include "base/pem.h"

#include "base/cleanup.h"
#include "unit.h"

#define BEGIN "-----BEGIN CERTIFICATE-----"
#define END "-----END CERTIFICATE-----"

static void the_first_certificate_is_found(void **state)
{
	static const struct {
		const char *text;
		const char *digits; /* NULL: -EBADMSG */
	} cases[] = {
		{ BEGIN "\nAb+/\n" END "\n", "Ab+/" },
		{ BEGIN "\r\nAb\r\n+/\r\n" END, "Ab+/" },
		{ "Cert:" BEGIN "\nAA==\n" END, "AA==" },
		{ "-----BEGIN EC PRIVATE KEY-----\nBBBB\n-----END EC PRIVATE KEY-----\n" BEGIN
		  "\nAAAA\n" END,
		  "AAAA" },
		{ BEGIN "AAAA" END BEGIN "BBBB" END, "AAAA" },
		{ "", NULL },
		{ "AAAA", NULL },
		{ BEGIN, NULL },
		{ BEGIN "\nAAAA", NULL },
		{ BEGIN "\n" END, NULL },
		{ BEGIN "\nAA?A\n" END, NULL },
		{ BEGIN "\nAA-AA\n" END, NULL },
		{ BEGIN "\nAAAA\n-----END CERTIFICATE", NULL },
		{ BEGIN "\n" BEGIN "\nAAAA\n" END, NULL },
		{ "-----BEGIN TRUSTED CERTIFICATE-----\nAAAA\n" END, NULL },
	};
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		_cleanup_(strbuf_done) struct strbuf digits = strbuf_with_max(64);
		int r = pem_first_certificate(cases[i].text, &digits);

		if (r != (cases[i].digits ? 0 : -EBADMSG))
			fail_msg("%d for %s", r, cases[i].text);
		if (r == 0)
			assert_string_equal(strbuf_str(&digits), cases[i].digits);
	}
}

static void a_certificate_over_the_limit_is_refused(void **state)
{
	_cleanup_(strbuf_done) struct strbuf digits = strbuf_with_max(3);
	(void)state;

	assert_int_equal(pem_first_certificate(BEGIN "AAAA" END, &digits), -ENOSPC);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_certificate_is_found),
		cmocka_unit_test(a_certificate_over_the_limit_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
