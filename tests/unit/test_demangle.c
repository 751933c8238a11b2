/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/demangle.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "unit.h"

#include <string.h>

struct name_case {
	const char *name;
	const char *pretty; /* NULL: as it is */
};

static void check(const struct name_case *cases, size_t nr_cases)
{
	for (size_t i = 0; i < nr_cases; i++) {
		_cleanup_free_ char *pretty = demangle(cases[i].name);

		assert_string_equal(pretty, cases[i].pretty ? cases[i].pretty : cases[i].name);
	}
}

static void cplus_names_lose_parameters_and_return_types(void **state)
{
	static const struct name_case cases[] = {
		{ "_ZN3foo3barEiRKSs", "foo::bar" },
		{ "_ZNK3foo3barIiEEvT_", "foo::bar<int>" },
		{ "_ZNSt6vectorIiSaIiEE9push_backERKi",
		  "std::vector<int, std::allocator<int> >::push_back" },
		{ "_ZZ4mainENKUliE_clEi", "main::{lambda(int)#1}::operator()" },
		{ "_ZN3fooC2Ev", "foo::foo" },
		{ "_ZN3fooD0Ev", "foo::~foo" },
		{ "_Znwm", "operator new" },
		{ "_ZSt4sortIPiEvT_S1_", "std::sort<int*>" },
		{ "_ZN12_GLOBAL__N_14initEv", "(anonymous namespace)::init" },
		{ "_Z3fooi.cold", "foo" },
		{ "_ZN3foo3barEv.part.0.isra.1", "foo::bar" },
		{ "_Z3fooi.llvm.1234567890", "foo" },
		{ "_ZThn16_N3foo3barEv", "non-virtual thunk to foo::bar()" },
	};
	(void)state;

	check(cases, array_len(cases));
}

static void rust_names_lose_their_hash(void **state)
{
	static const struct name_case cases[] = {
		{ "_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE",
		  "core::fmt::Write::write_fmt" },
		{ "_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE.llvm.1234",
		  "core::fmt::Write::write_fmt" },
		{ "_ZN60_$LT$std..io..Stdin$u20$as$u20$std..io..Read$GT$4read17h0123456789abcdefE",
		  NULL }, /* a length that lies */
		{ "_ZN48_$LT$std..io..Stdin$u20$as$u20$std..io..Read$GT$4read17h0123456789abcdefE",
		  "<std::io::Stdin as std::io::Read>::read" },
		{ "_RNvNtCs1234_7mycrate3bar3foo", "mycrate::bar::foo" },
		{ "_RINvNtC3std3mem8align_ofjE", "std::mem::align_of::<usize>" },
		{ "_RNvC6_123foo3bar.llvm.9D1C9369", "123foo::bar" },
		{ "_RNqCs4fqI2P2rA04_11utf8_identsu30____7hkackfecea1cbdathfdh9hlq6y",
		  "utf8_idents::საჭმელად_გემრიელი_სადილი" },
	};
	(void)state;

	check(cases, array_len(cases));
}

static void other_names_stay_as_they_are(void **state)
{
	static const struct name_case cases[] = {
		{ "", NULL },
		{ "main", NULL },
		{ "_", NULL },
		{ "_Z", NULL },
		{ "_R", NULL },
		{ "_Zebra", NULL },
		{ "_Release", NULL },
		{ "_ZN", NULL },
		{ "_ZN3foo", NULL },
		{ "_Z3fo", NULL },
		{ "_Z3foo???", NULL },
		{ "_Z3foo i", NULL },
		{ "_Z99999999999999999999a", NULL },
		{ "_ZN3fooE\xff\xfe", NULL },
		{ "_Z.", NULL },
		{ "_R.E.", NULL },
		{ "runtime.goexit.abi0", NULL },
		{ "$s4main3fooyyF", NULL },
		{ "do_syscall_64", NULL },
	};
	(void)state;

	check(cases, array_len(cases));
}

static void check_unchanged(struct strbuf *name)
{
	assert_int_equal(strbuf_error(name), 0);
	_cleanup_free_ char *pretty = demangle(strbuf_str(name));
	assert_string_equal(pretty, strbuf_str(name));
	strbuf_done(name);
}

static void deep_names_are_not_followed(void **state)
{
	static const char *const parts[][3] = {
		{ "_Z1f", "P", "i" }, { "_Z1f", "F", "v" },    { "_Z1fI", "1AI", "" },
		{ "_ZN", "N", "" },   { "_RNv", "INv", "" },   { "_RC1a", "T", "" },
		{ "_Z", "Z", "1av" }, { "_Z1fIXad", "L", "" }, { "_RMC1a", "A", "" },
	};
	(void)state;

	for (size_t i = 0; i < array_len(parts); i++) {
		struct strbuf name = strbuf_with_max(DEMANGLE_MAX_BYTES);

		strbuf_append_str(&name, parts[i][0]);
		while (name.len + strlen(parts[i][1]) + 4 < DEMANGLE_MAX_BYTES)
			strbuf_append_str(&name, parts[i][1]);
		strbuf_append_str(&name, parts[i][2]);

		_cleanup_free_ char *pretty = demangle(strbuf_str(&name));
		assert_true(strlen(pretty) <= DEMANGLE_MAX_BYTES);
		strbuf_done(&name);
	}
}

static void append_substitution(struct strbuf *name, unsigned int number)
{
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";

	assert_true(number < 36 * 36);
	strbuf_append_char(name, 'S');
	if (number >= 36)
		strbuf_append_char(name, digits[number / 36]);
	strbuf_append_char(name, digits[number % 36]);
	strbuf_append_char(name, '_');
}

static void doubling_cplus_names_are_given_up(void **state)
{
	struct strbuf name = strbuf_with_max(DEMANGLE_MAX_BYTES);
	(void)state;

	strbuf_append_str(&name, "_Z1fI1PI1AS1_E");
	for (unsigned int i = 2; i < 120; i++) {
		strbuf_append_str(&name, "S0_I");
		append_substitution(&name, i);
		append_substitution(&name, i);
		strbuf_append_char(&name, 'E');
	}
	strbuf_append_str(&name, "Evv");
	check_unchanged(&name);
}

static void names_over_the_limit_are_not_looked_at(void **state)
{
	struct strbuf name = strbuf_with_max(2 * DEMANGLE_MAX_BYTES);
	(void)state;

	strbuf_appendf(&name, "_Z%d", DEMANGLE_MAX_BYTES);
	for (int i = 0; i < DEMANGLE_MAX_BYTES; i++)
		strbuf_append_char(&name, 'a');
	strbuf_append_char(&name, 'v');
	check_unchanged(&name);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cplus_names_lose_parameters_and_return_types),
		cmocka_unit_test(rust_names_lose_their_hash),
		cmocka_unit_test(other_names_stay_as_they_are),
		cmocka_unit_test(deep_names_are_not_followed),
		cmocka_unit_test(doubling_cplus_names_are_given_up),
		cmocka_unit_test(names_over_the_limit_are_not_looked_at),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
