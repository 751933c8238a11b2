/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/demangle/d_demangle.h"

#include "base/cleanup.h"
#include "base/strbuf.h"
#include "unit.h"

#include <stdio.h>
#include <string.h>

#define MAX_BYTES 4096

struct name_case {
	const char *name;
	const char *in_full;
	const char *in_short; /* NULL: the same */
};

static void functions_and_data_are_named(void **state)
{
	static const struct name_case cases[] = {
		{ "_Dmain", "D main", NULL },
		{ "_D3foo3barFZv", "foo.bar()", "foo.bar" },
		{ "_D3foo3barFiAyaZv", "foo.bar(int, immutable(char)[])", "foo.bar" },
		{ "_D3foo3Bar3runMxFNbNiNfiZv", "foo.Bar.run(int) const", "foo.Bar.run" },
		{ "_D3foo3Bar6__ctorMFiZC3foo3Bar", "foo.Bar.this(int)", "foo.Bar.this" },
		{ "_D3foo3Bar6__dtorMFZv", "foo.Bar.~this()", "foo.Bar.~this" },
		{ "_D3foo3Bar10__postblitMFZv", "foo.Bar.this(this)", NULL },
		{ "_D3foo3Bar6__vtblZ", "vtable for foo.Bar", NULL },
		{ "_D3foo12__ModuleInfoZ", "ModuleInfo for foo", NULL },
		{ "_D3foo5countm", "foo.count", NULL },
		{ "_D3foo3barFiZ3bazMFaZv", "foo.bar(int).baz(char)", "foo.bar.baz" },
		{ "_D3std4conv__T2toTAyaZ__TQlTAaZQrFNaNbNfQmZQz",
		  "std.conv.to!(immutable(char)[]).to!(char[]).to(char[])", "std.conv.to.to.to" },
		{ "_D3std5regex__T8CapturesTAxaZQo5emptyMxFNaNbNdNiNeZb",
		  "std.regex.Captures!(const(char)[]).Captures.empty() const",
		  "std.regex.Captures.Captures.empty" },
		{ "_D3foo__T3barVAyaa3_612062Z3bazFZv", "foo.bar!(\"a b\").baz()", "foo.bar.baz" },
		{ "_D3foo__T3barVai65Vbi1Vli5VeN18P2ViNi3ZQzFZv", NULL, NULL },
	};
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		char in_full[MAX_BYTES + 1] = "";
		char in_short[MAX_BYTES + 1] = "";
		int full_len = d_demangle(cases[i].name, true, MAX_BYTES, in_full);
		int short_len = d_demangle(cases[i].name, false, MAX_BYTES, in_short);

		if (!cases[i].in_full) {
			assert_int_equal(full_len, -EBADMSG);
			assert_int_equal(short_len, -EBADMSG);
			continue;
		}
		assert_string_equal(in_full, cases[i].in_full);
		assert_string_equal(in_short,
				    cases[i].in_short ? cases[i].in_short : cases[i].in_full);
		assert_int_equal(full_len, strlen(in_full));
		assert_int_equal(short_len, strlen(in_short));
	}
}

static void types_and_values_are_written_as_in_d(void **state)
{
	static const struct name_case cases[] = {
		{ "PFNaiZv", "void(int) pure function", NULL },
		{ "DxFZi", "int() delegate const", NULL },
		{ "UiYv", "extern(C) void(int, ...) function", NULL },
		{ "FAiXv", "void(int[]...) function", NULL },
		{ "HAyai", "int[immutable(char)[]]", NULL },
		{ "G16h", "ubyte[16]", NULL },
		{ "NhG4f", "__vector(float[4])", NULL },
		{ "OxS3foo3Bar", "shared(const(foo.Bar))", NULL },
		{ "B2ia", "Tuple!(int, char)", NULL },
		{ "FMNkKiJaIxaLbZv",
		  "void(scope return ref int, out char, in const(char), "
		  "lazy bool) function",
		  NULL },
		{ "ziNnn", "cent, noreturn", NULL },
	};
	(void)state;

	for (size_t i = 0; i + 1 < array_len(cases); i++) {
		char name[256];
		char expected[256];
		char text[MAX_BYTES + 1] = "";

		snprintf(name, sizeof(name), "_D3foo3barF%sZv", cases[i].name);
		snprintf(expected, sizeof(expected), "foo.bar(%s)", cases[i].in_full);
		assert_true(d_demangle(name, true, MAX_BYTES, text) > 0);
		assert_string_equal(text, expected);
	}
}

static void malformed_names_are_refused(void **state)
{
	static const char *const names[] = {
		"",
		"_D",
		"_D3",
		"_D0",
		"_D3fo",
		"_D3foo",
		"_D99999999999999999999a",
		"_D3fooQ",
		"_D3fooQa", /* a reference to itself */
		"_D3fooQz",
		"_D3fooQzzzzzzzzzz",
		"_D3fooQZZZZZZZZZZZZZZZZZZZZZZZ",
		"_D9a99999999Qi", /* a number longer than the name */
		"_D1aD",
		"_D1aDNx",
		"_D1aN",
		"_D1aH",
		"_D1aHi",
		"_D1aG",
		"_D1aPQb",
		"_D1aB9i",
		"_D1aFiZ",
		"_D1aFNZv",
		"_D1aFNzZv",
		"_D1aMxQe",
		"_D1__T",
		"_D__T",
		"_D__T3fooZ",
		"_D__T3fooT",
		"_D__T3fooV",
		"_D__T3fooVi",
		"_D__T3fooViiZi",
		"_D__T3fooVAyaa9_61Z",
		"_D__T3fooVAyaa1_6gZi",
		"_D__T3fooViA9999Zi",
		"_D__T3fooVeeZi",
		"_D__T3fooX9aZi",
		"_D__T3fooS9999Zi",
		"_D5__T3fooZ",
		"_Dmaine",
	};
	char text[MAX_BYTES + 1] = "untouched";
	(void)state;

	for (size_t i = 0; i < array_len(names); i++) {
		assert_int_equal(d_demangle(names[i], true, MAX_BYTES, text), -EBADMSG);
		assert_int_equal(d_demangle(names[i], false, MAX_BYTES, text), -EBADMSG);
	}
}

/* A function type in a name in a function type: two ways to read each. */
static void names_of_many_readings_are_given_up(void **state)
{
	_cleanup_(strbuf_done) struct strbuf name = strbuf_with_max(MAX_BYTES);
	char text[MAX_BYTES + 1];
	(void)state;

	strbuf_append_str(&name, "_D");
	for (int i = 0; i < 40; i++)
		strbuf_append_str(&name, "1aFS");
	assert_int_equal(d_demangle(strbuf_str(&name), true, MAX_BYTES, text), -ENOSPC);
	assert_int_equal(d_demangle(strbuf_str(&name), false, MAX_BYTES, text), -ENOSPC);
}

/* Each type is a map from the one before to the one before. */
static void doubling_names_are_given_up(void **state)
{
	_cleanup_(strbuf_done) struct strbuf name = strbuf_with_max(MAX_BYTES);
	char text[MAX_BYTES + 1];
	(void)state;

	strbuf_append_str(&name, "_D1aFAi");
	for (int i = 0; i < 30; i++)
		strbuf_append_str(&name, i == 0 ? "HQdQf" : "HQgQi");
	strbuf_append_str(&name, "Zv");
	assert_int_equal(d_demangle(strbuf_str(&name), true, MAX_BYTES, text), -ENOSPC);
}

static void a_name_that_does_not_fit_is_refused(void **state)
{
	char text[8] = "";
	(void)state;

	assert_int_equal(d_demangle("_D3foo3bari", true, 7, text), 7);
	assert_string_equal(text, "foo.bar");
	assert_int_equal(d_demangle("_D3foo4barsi", true, 7, text), -ENOSPC);
	assert_int_equal(d_demangle("_D3foo6__initZ", true, 7, text), -ENOSPC);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_and_data_are_named),
		cmocka_unit_test(types_and_values_are_written_as_in_d),
		cmocka_unit_test(malformed_names_are_refused),
		cmocka_unit_test(names_of_many_readings_are_given_up),
		cmocka_unit_test(doubling_names_are_given_up),
		cmocka_unit_test(a_name_that_does_not_fit_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
