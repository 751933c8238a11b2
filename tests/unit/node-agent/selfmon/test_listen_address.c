/* SPDX-License-Identifier: Apache-2.0 */
#include "selfmon/listen_address.h"

#include <arpa/inet.h>
#include <string.h>

#include "unit.h"

#define PATH_OF_53 "/0123456789012345678901234567890123456789012345678901"

static void addresses_of_this_machine_are_taken(void **state)
{
	static const struct {
		const char *text;
		const char *address;
		unsigned int port;
	} cases[] = {
		{ "127.0.0.1:9091", "127.0.0.1", 9091 },
		{ "127.8.8.8:0", "127.8.8.8", 0 },
		{ "localhost:65535", "127.0.0.1", 65535 },
	};
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		struct listen_address address;

		assert_int_equal(listen_address_parse(cases[i].text, &address), 0);
		assert_int_equal(address.any.sa_family, AF_INET);
		assert_int_equal(ntohs(address.v4.sin_port), cases[i].port);
		assert_string_equal(inet_ntoa(address.v4.sin_addr), cases[i].address);
	}
}

static void the_loopback_address_of_version_6_is_taken(void **state)
{
	struct listen_address address;
	(void)state;

	assert_int_equal(listen_address_parse("[::1]:80", &address), 0);
	assert_int_equal(address.any.sa_family, AF_INET6);
	assert_int_equal(ntohs(address.v6.sin6_port), 80);
	assert_true(IN6_IS_ADDR_LOOPBACK(&address.v6.sin6_addr));
}

static void a_path_is_taken_as_it_is(void **state)
{
	struct listen_address address;
	(void)state;

	assert_int_equal(listen_address_parse("unix:/run/a:b/x.sock", &address), 0);
	assert_int_equal(address.any.sa_family, AF_UNIX);
	assert_string_equal(address.local.sun_path, "/run/a:b/x.sock");
	assert_int_equal(listen_address_parse("unix:" PATH_OF_53 PATH_OF_53 "/", &address), 0);
}

static void anything_else_is_refused(void **state)
{
	static const struct {
		const char *text;
		int error;
	} cases[] = {
		{ "", -EINVAL },
		{ ":", -EINVAL },
		{ ":9091", -EINVAL },
		{ "9091", -EINVAL },
		{ "127.0.0.1", -EINVAL },
		{ "127.0.0.1:", -EINVAL },
		{ "127.0.0.1:65536", -EINVAL },
		{ "127.0.0.1:-1", -EINVAL },
		{ "127.0.0.1:80x", -EINVAL },
		{ "127.0.1:80", -EINVAL },
		{ "example.com:80", -EINVAL },
		{ "::1:80", -EINVAL },
		{ "[::1]", -EINVAL },
		{ "[::1]x:80", -EINVAL },
		{ "[:80", -EINVAL },
		{ "*:80", -EINVAL },
		{ "[]:80", -EINVAL },
		{ "0123456789012345678901234567890123456789012345678901234567890123:80", -EINVAL },
		{ "[012345678901234567890123456789012345678901234567890123456789]:80", -EINVAL },
		{ "0.0.0.0:80", -EADDRNOTAVAIL },
		{ "10.0.0.1:80", -EADDRNOTAVAIL },
		{ "[::]:80", -EADDRNOTAVAIL },
		{ "[fd00::1]:80", -EADDRNOTAVAIL },
		{ "[::ffff:127.0.0.1]:80", -EADDRNOTAVAIL },
		{ "unix:", -EINVAL },
		{ "unix:run/x.sock", -EINVAL },
		{ "unix:@abstract", -EINVAL },
		{ "unix:" PATH_OF_53 PATH_OF_53 "/x", -ENAMETOOLONG },
	};
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		struct listen_address address = { .len = 1234 };

		assert_int_equal(listen_address_parse(cases[i].text, &address), cases[i].error);
		assert_int_equal(address.len, 1234);
	}
}

static void addresses_that_others_reach_are_taken_by_their_number(void **state)
{
	static const struct {
		const char *text;
		int family;
		const char *address;
		bool is_everywhere;
	} cases[] = {
		{ "*:9091", AF_INET6, "::", true },
		{ "[::]:9091", AF_INET6, "::", false },
		{ "[fd00::1]:9091", AF_INET6, "fd00::1", false },
		{ "[::1]:9091", AF_INET6, "::1", false },
		{ "0.0.0.0:9091", AF_INET, "0.0.0.0", false },
		{ "10.1.2.3:9091", AF_INET, "10.1.2.3", false },
		{ "127.0.0.1:9091", AF_INET, "127.0.0.1", false },
	};
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		struct listen_address address;
		char text[INET6_ADDRSTRLEN];

		assert_int_equal(listen_address_parse_public(cases[i].text, &address), 0);
		assert_int_equal(address.any.sa_family, cases[i].family);
		assert_int_equal(address.is_everywhere, cases[i].is_everywhere);
		if (cases[i].family == AF_INET6)
			inet_ntop(AF_INET6, &address.v6.sin6_addr, text, sizeof(text));
		else
			inet_ntop(AF_INET, &address.v4.sin_addr, text, sizeof(text));
		assert_string_equal(text, cases[i].address);
		assert_int_equal(ntohs(address.v4.sin_port), 9091); /* v6's is at the same place */
	}
}

static void others_reach_neither_names_nor_sockets_in_the_file_system(void **state)
{
	static const char *const texts[] = {
		"",
		":",
		":9091",
		"9091",
		"*",
		"*:",
		"*:65536",
		"*:x",
		"**:80",
		"*x:80",
		"[*]:80",
		"localhost:80",
		"example.com:80",
		"10.0.0.1",
		"10.0.0.1:",
		"10.0.0:1",
		"::1:80",
		"[::1]",
		"[fe80::1%lo]:80",
		"unix:/run/x.sock",
		"unix:80",
		"10.0.0.1/8:80",
	};
	(void)state;

	for (size_t i = 0; i < array_len(texts); i++) {
		struct listen_address address = { .len = 1234 };

		assert_int_equal(listen_address_parse_public(texts[i], &address), -EINVAL);
		assert_int_equal(address.len, 1234);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(addresses_of_this_machine_are_taken),
		cmocka_unit_test(the_loopback_address_of_version_6_is_taken),
		cmocka_unit_test(a_path_is_taken_as_it_is),
		cmocka_unit_test(anything_else_is_refused),
		cmocka_unit_test(addresses_that_others_reach_are_taken_by_their_number),
		cmocka_unit_test(others_reach_neither_names_nor_sockets_in_the_file_system),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
