/* SPDX-License-Identifier: Apache-2.0 */
#include "config/option_check.h"

#include "unit.h"

#include <string.h>

#define X10 "xxxxxxxxxx"
#define HEX60 "0123456789abcdef0123456789abcdef0123456789abcdef0123456789ab"

/* A NULL ends each list. */
struct check_case {
	int (*check)(const char *text);
	const char *right[12];
	const char *wrong[26];
};

static const struct check_case cases[] = {
	{ check_namespace,
	  { "a", "kube-system", "0", X10 X10 X10 X10 X10 X10 "xxx" },
	  { "", "A", "a.b", "a/b", "a b", "a,b", "a*", "\xc3\xa9",
	    X10 X10 X10 X10 X10 X10 "xxxx" } },
	{ check_pod,
	  { "web", "web.1", "shop/web", "shop/web.example.com-1" },
	  { "", "/", "/web", "shop/", "a/b/c", "Shop/web", "shop/Web", "a b", "shop//web" } },
	{ check_container,
	  { "web", "0123456789ab", "a-b", HEX60 "0123" },
	  { "", "Web", "a.b", "a/b", "web ", HEX60 "01234", HEX60 "01xy", "POD" } },
	{ check_selector,
	  { "app", "a=b", " a in (b, c) ", "!a" },
	  { "", " ", "   ", "a\n", "a\tb", "\x7f" } },
	{ check_label_key,
	  { "team", "example.com/team", "app.kubernetes.io/*", "*", "a*", "A_b.c-d" },
	  { "", "**", "*a", "a*b", "a b", "a,b", "a=b", "a\n", "\xc3\xa9" } },
	{ check_listen,
	  { "127.0.0.1:9090", "127.1.2.3:1", "[::1]:65535", "localhost:80", "unix:/run/f.sock",
	    "unix:/a:1" },
	  { "",
	    ":",
	    ":80",
	    "9090",
	    "127.0.0.1",
	    "127.0.0.1:",
	    "127.0.0.1:0",
	    "127.0.0.1:65536",
	    "127.0.0.1:+1",
	    "0.0.0.0:80",
	    "10.0.0.1:80",
	    "128.0.0.1:80",
	    "127.1:80",
	    "::1:80",
	    "[::]:80",
	    "[::1]80",
	    "localhost.example.com:80",
	    "unix:",
	    "unix:/",
	    "unix:run/f.sock",
	    "unix:/" X10 X10 X10 X10 X10 X10 X10 X10 X10 X10 X10,
	    "http://127.0.0.1:80",
	    "unix:/a\nb" } },
	{ check_metrics_listen,
	  { "*:9091", "0.0.0.0:1", "[::]:65535", "10.1.2.3:80", "[fd00::1]:80", "127.0.0.1:80",
	    "[ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255]:80" },
	  { "",
	    "*",
	    "*:",
	    "*:0",
	    "*:65536",
	    "*:+1",
	    "**:1",
	    ":9091",
	    "9091",
	    "10.0.0.1",
	    "10.0.1:80",
	    "localhost:80",
	    "example.com:80",
	    "::1:80",
	    "[]:80",
	    "[::1]x:80",
	    "[::1:80",
	    "[10.0.0.1]:80",
	    "[fe80::1%lo]:80",
	    "[0123456789012345678901234567890123456789012345678]:80",
	    "unix:/run/f.sock",
	    "unix:80",
	    "http://10.0.0.1:80" } },
	{ check_comm, { "nginx", "a b", "012345678901234" }, { "", "0123456789012345" } },
	{ check_header,
	  { "A: b", "a:", "x-y:z" },
	  { "", ":", "a", ": b", "a b: c", "a: b\r\nc: d", "\xc3\xa9: a" } },
	{ check_endpoint,
	  { "http://a", "HTTPS://a/b?c", "http://a:", "http://[::1]:4318/x", "grpc://a:4317",
	    "GRPCS://[::1]:1/", "a:4317", "127.0.0.1:65535", "[fd00::1]:1", "http://u:p@a",
	    "https://[::1]" },
	  { "",
	    "a",
	    "a:",
	    "a:0",
	    "a:65536",
	    "a:4317/b",
	    "a:+1",
	    ":4317",
	    "http://",
	    "http://:1",
	    "http:///b",
	    "http://a b",
	    "http://a:x",
	    "http://a:65536",
	    "ftp://a:1",
	    "grpc://a",
	    "grpcs://a:1/b",
	    "grpc://a:1?b",
	    "[::1]",
	    "[::1:1",
	    "[]:1",
	    "http://a\n",
	    "http://u@",
	    "//a:1" } },
	{ check_tenant,
	  { "one", "a|b", "1", X10 X10 X10 X10 X10 X10 X10 X10 X10 X10 X10 X10 X10 X10 X10 },
	  { "", " ", "a b", "a\n", "a\x7f", "\xc3\xa9", "a\r\nb: c",
	    X10 X10 X10 X10 X10 X10 X10 X10 X10 X10 X10 X10 X10 X10 X10 "x" } },
	{ check_attribute,
	  { "a=b", "a=", "a.b/c=d=e", "service.name=web 1", "k=\xc3\xa9" },
	  { "", "a", "=", "=b", "a=b\n", "a=\xff", "\xc3=a", "a=\x01" } },
};

static void what_is_right_is_taken(void **state)
{
	(void)state;
	for (size_t i = 0; i < array_len(cases); i++) {
		for (const char *const *text = cases[i].right; *text; text++)
			assert_int_equal(cases[i].check(*text), 0);
	}
}

static void what_is_wrong_is_refused(void **state)
{
	(void)state;
	for (size_t i = 0; i < array_len(cases); i++) {
		for (const char *const *text = cases[i].wrong; *text; text++)
			assert_int_equal(cases[i].check(*text), -EINVAL);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_right_is_taken),
		cmocka_unit_test(what_is_wrong_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
