/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/jit/jit_names.h"

#include "base/cleanup.h"
#include "symbol/frame/symbol_frames.h"
#include "unit.h"

#include <string.h>

struct row {
	const char *system_name;
	const char *name;
	const char *filename;
	uint32_t start_line;
};

/* Splits a name as a worker does, and joins it as the agent does. */
static struct jit_name read_name(const char *system_name, bool is_java, struct strbuf *scratch)
{
	struct jit_name_parts parts = jit_names_split(system_name, is_java);

	assert_true(jit_names_can_have(&parts, strlen(system_name)));
	return jit_names_join(system_name, &parts, scratch);
}

static enum symbol_language language_of(const char *system_name, bool is_java)
{
	return (enum symbol_language)jit_names_split(system_name, is_java).language;
}

static void v8s_names_are_split(void **state)
{
	static const struct row rows[] = {
		{ "JS:*hot /tmp/app.js:1:13", "*hot", "/tmp/app.js", 1 },
		{ "JS:~deep node:internal/v8/startup:39:33", "~deep", "node:internal/v8/startup",
		  39 },
		{ "JS:^get baz /tmp/app.js:2:72", "^get baz", "/tmp/app.js", 2 },
		{ "JS:+f file:///a b/c d.mjs:7:1", "+f", "file:///a b/c d.mjs", 7 },
		{ "JS:* /tmp/app.js:4:32", "*(anonymous) app.js:4", "/tmp/app.js", 4 },
		{ "JS:~ node:path:3:1", "~(anonymous) node:path:3", "node:path", 3 },
		{ "Eval:~ /tmp/app.js:1:1", "~(anonymous) app.js:1", "/tmp/app.js", 1 },
		{ "LazyCompile:*foo /srv/x.js:12", "*foo", "/srv/x.js", 12 },
		{ "Function:bar x.js:12:5", "bar", "x.js", 12 },
		{ "Script:~x.js:1:1", "~x.js", "", 1 },
		{ "JS:*f (eval at g /a/b.js:1:2):3:4", "*f (eval at g", "/a/b.js:1:2)", 3 },
	};
	_cleanup_(strbuf_done) struct strbuf scratch = strbuf_with_max(4096);

	(void)state;
	for (size_t i = 0; i < array_len(rows); i++) {
		struct jit_name name = read_name(rows[i].system_name, false, &scratch);

		assert_int_equal(language_of(rows[i].system_name, false), LANGUAGE_V8JS);
		assert_string_equal(name.name, rows[i].name);
		assert_string_equal(name.filename, rows[i].filename);
		assert_int_equal(name.start_line, rows[i].start_line);
	}
}

static void v8s_names_without_a_source_stay(void **state)
{
	static const char *const names[] = { "Builtin:ArrayMap", "BytecodeHandler:LdaZero.Wide",
					     "RegExp:ab+c /x:1:2", "Stub:CEntryStub" };
	_cleanup_(strbuf_done) struct strbuf scratch = strbuf_with_max(4096);

	(void)state;
	for (size_t i = 0; i < array_len(names); i++) {
		assert_int_equal(language_of(names[i], false), LANGUAGE_V8JS);
		assert_string_equal(read_name(names[i], false, &scratch).name, names[i]);
	}
	assert_int_equal(language_of("py::f:/a.py", false), LANGUAGE_JIT);
	assert_int_equal(language_of("JS", false), LANGUAGE_JIT);
	assert_int_equal(language_of("", false), LANGUAGE_JIT);
}

static void odd_names_of_v8_do_no_harm(void **state)
{
	static const struct row rows[] = {
		{ "JS:", "(anonymous)", "", 0 },
		{ "JS:*", "*(anonymous)", "", 0 },
		{ "JS:* ", "* ", "", 0 },
		{ "JS:**", "**", "", 0 },
		{ "JS:*:1:2", "*(anonymous)", "", 1 },
		{ "JS:* :1:2", "*(anonymous)", "", 1 },
		{ "JS:*f :1:2", "*f", "", 1 },
		{ "JS:*f", "*f", "", 0 },
		{ "JS:*f /a.js:", "*f /a.js:", "", 0 },
		{ "JS:*f /a.js:99999999999:1", "*f", "/a.js:99999999999", 1 },
		{ "JS:*f /a.js:99999999999999999999999", "*f /a.js:99999999999999999999999", "",
		  0 },
		{ "JS:*f /a.js:1:2:3", "*f", "/a.js:1", 2 },
		{ "JS:* /:1:1", "*(anonymous) :1", "/", 1 },
	};
	_cleanup_(strbuf_done) struct strbuf scratch = strbuf_with_max(4096);

	(void)state;
	for (size_t i = 0; i < array_len(rows); i++) {
		struct jit_name name = read_name(rows[i].system_name, false, &scratch);

		assert_string_equal(name.name, rows[i].name);
		assert_string_equal(name.filename, rows[i].filename);
		assert_int_equal(name.start_line, rows[i].start_line);
	}
}

static void javas_names_are_class_and_method(void **state)
{
	static const struct row rows[] = {
		{ "double Hot$Inner.bar(int)", "Hot$Inner::bar", "", 0 },
		{ "void Hot.main(java.lang.String[])", "Hot::main", "", 0 },
		{ "java.lang.Object a.b.C.get(java.lang.Object, long)", "a.b.C::get", "", 0 },
		{ "void java.lang.String.<init>(byte[], byte)", "java.lang.String::<init>", "", 0 },
		{ "double Hot$$Lambda$1/0x00007f0e5c000c18.f(int)", "Hot$$Lambda$1::f", "", 0 },
		{ "double Hot$$Lambda/0x0000000036040428.f(int)", "Hot$$Lambda::f", "", 0 },
		{ "com.foo.Bar.baz", "com.foo.Bar::baz", "", 0 },
		{ "Lcom/foo/Bar;::baz", "com.foo.Bar::baz", "", 0 },
		{ "Lcom/foo/Bar;baz(I)V", "com.foo.Bar::baz", "", 0 },
		{ "LHot$$Lambda.0x00007f0e5c000c18;f(I)D", "Hot$$Lambda::f", "", 0 },
	};
	_cleanup_(strbuf_done) struct strbuf scratch = strbuf_with_max(4096);

	(void)state;
	for (size_t i = 0; i < array_len(rows); i++)
		assert_string_equal(read_name(rows[i].system_name, true, &scratch).name,
				    rows[i].name);
}

static void javas_other_names_stay(void **state)
{
	static const char *const names[] = {
		"Interpreter",
		"I2C/C2I adapters",
		"StubRoutines (1)",
		"SafepointBlob",
		"Signature Handler Temp Buffer",
		"StackOverflowError throw_exception",
		"a b c.d(e)",
		"a b.c(d",
		"b.",
		".b",
		"L;",
		"L;x",
		"Lx;",
		"Lx;::",
		"Lx;(I)V",
		"()",
		"",
	};
	_cleanup_(strbuf_done) struct strbuf scratch = strbuf_with_max(4096);

	(void)state;
	for (size_t i = 0; i < array_len(names); i++)
		assert_string_equal(read_name(names[i], true, &scratch).name, names[i]);
}

static void without_room_a_name_stays_as_it_is(void **state)
{
	_cleanup_(strbuf_done) struct strbuf scratch = strbuf_with_max(4);

	(void)state;
	assert_string_equal(read_name("JS:*long /x.js:1:1", false, &scratch).name,
			    "JS:*long /x.js:1:1");
	assert_string_equal(read_name("com.foo.Bar.baz", true, &scratch).name, "com.foo.Bar.baz");
}

static void a_java_vms_names_are_never_v8s(void **state)
{
	(void)state;
	assert_int_equal(language_of("JS:*hot /tmp/app.js:1:13", true), LANGUAGE_JVM);
	assert_int_equal(language_of("Interpreter", true), LANGUAGE_JVM);
}

/* The parts come from a worker, which may be compromised. */
static void parts_outside_the_name_are_invalid(void **state)
{
	static const char name[] = "JS:* /app/math.js:12:5";
	const struct jit_name_parts good = jit_names_split(name, false);
	const size_t len = sizeof(name) - 1;
	struct jit_name_parts bad[8];

	(void)state;
	assert_true(jit_names_can_have(&good, len));
	for (size_t i = 0; i < array_len(bad); i++)
		bad[i] = good;
	bad[0].first = (uint16_t)(len - good.first_len + 1);
	bad[1].first_len = UINT16_MAX;
	bad[2].second = (uint16_t)(len - good.second_len + 1);
	bad[3].second_len = UINT16_MAX;
	bad[4].base = (uint16_t)(good.second - 1);
	bad[5].base = (uint16_t)(good.second + good.second_len + 1);
	bad[6].shape = JIT_NAME_SHAPES;
	bad[7].language = LANGUAGE_GO;
	for (size_t i = 0; i < array_len(bad); i++)
		assert_false(jit_names_can_have(&bad[i], len));
}

static void a_name_that_is_too_long_stays_as_it_is(void **state)
{
	static char name[JIT_NAME_MAX_BYTES + 2] = "JS:*";

	(void)state;
	memset(name + 4, 'x', sizeof(name) - 5);
	assert_int_equal(jit_names_split(name, false).shape, JIT_NAME_PLAIN);
	name[JIT_NAME_MAX_BYTES] = '\0';
	assert_int_equal(jit_names_split(name, false).shape, JIT_NAME_SOURCE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(v8s_names_are_split),
		cmocka_unit_test(v8s_names_without_a_source_stay),
		cmocka_unit_test(odd_names_of_v8_do_no_harm),
		cmocka_unit_test(javas_names_are_class_and_method),
		cmocka_unit_test(javas_other_names_stay),
		cmocka_unit_test(without_room_a_name_stays_as_it_is),
		cmocka_unit_test(a_java_vms_names_are_never_v8s),
		cmocka_unit_test(parts_outside_the_name_are_invalid),
		cmocka_unit_test(a_name_that_is_too_long_stays_as_it_is),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
