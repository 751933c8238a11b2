/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/demangle/demangle.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "unit.h"

#include <string.h>

struct name_case {
	const char *name;
	const char *pretty; /* NULL: as it is */
};

static void check(const struct name_case *cases, size_t nr_cases, enum demangle_style style)
{
	for (size_t i = 0; i < nr_cases; i++) {
		_cleanup_free_ char *pretty = demangle(cases[i].name, style);

		assert_string_equal(pretty, cases[i].pretty ? cases[i].pretty : cases[i].name);
		if (cases[i].pretty)
			assert_true(demangle_is_candidate(cases[i].name));
	}
}

static void short_cplus_names_have_no_parameters_or_arguments(void **state)
{
	static const struct name_case cases[] = {
		{ "_ZN3foo3barEiRKSs", "foo::bar" },
		{ "_ZN3foo3barEiRKSs@@FOO_1.0", "foo::bar" },
		{ "dlopen@GLIBC_2.2.5", "dlopen" },
		{ "read@@GLIBC_2.2.5", "read" },
		{ "read@plt", "read@plt" },
		{ "@odd", "@odd" },
		{ "_ZNK3foo3barIiEEvT_", "foo::bar" },
		{ "_ZNSt6vectorIiSaIiEE9push_backERKi", "std::vector::push_back" },
		{ "_ZN1AIiEC2Ev", "A::A" },
		{ "_ZN1AIS_IiEED0Ev", "A::~A" },
		{ "_Znwm", "operator new" },
		{ "_ZdaPv", "operator delete[]" },
		{ "_ZN1A1BdlEPv", "A::B::operator delete" },
		{ "_ZSt4sortIPiEvT_S1_", "std::sort" },
		{ "_ZN12_GLOBAL__N_14initEv", "(anonymous namespace)::init" },
		{ "_ZNSt8functionIFviEEclEi", "std::function::operator()" },
		{ "_ZN3foo3barB5cxx11Ev", "foo::bar" },
		{ "_ZThn16_N3foo3barEv", "non-virtual thunk to foo::bar" },
		{ "_ZThn16_NK1A3fooEv", "non-virtual thunk to A::foo" },
		{ "_Z1fIiEDTfp_ET_", "f" },
		{ "_Z3foov", "foo" },
		{ "_ZN1A4emitIZN1B3runEvE3$_0EEvT_PDTclfL0p_EE", "A::emit" },
	};
	(void)state;

	check(cases, array_len(cases), DEMANGLE_SHORT);
}

static void short_cplus_names_keep_operators(void **state)
{
	static const struct name_case cases[] = {
		{ "_ZltIiEbT_S0_", "operator<" },
		{ "_ZgtIiEbT_S0_", "operator>" },
		{ "_ZleIiEbT_S0_", "operator<=" },
		{ "_ZgeIiEbT_S0_", "operator>=" },
		{ "_ZssIiEbT_S0_", "operator<=>" },
		{ "_ZN1AlsIiEEvT_", "A::operator<<" },
		{ "_ZN1ArsIiEEvT_", "A::operator>>" },
		{ "_ZN1AlSIiEEvT_", "A::operator<<=" },
		{ "_ZN1ArSIiEEvT_", "A::operator>>=" },
		{ "_ZN1AptIiEEvv", "A::operator->" },
		{ "_ZN1ApmIiEEvv", "A::operator->*" },
		{ "_ZN1AclIiEEvv", "A::operator()" },
		{ "_ZN1AixIiEEvi", "A::operator[]" },
		{ "_ZN1ApLIiEEvi", "A::operator+=" },
		{ "_ZNK1AcvSt6vectorIiEEv", "A::operator std::vector" },
		{ "_ZN1AcvT_IiEEv", "A::operator int" },
		{ "_ZN1AcvPFivEEv", "A::operator int (*)()" },
		{ "_ZN1AcvmEv", "A::operator unsigned long" },
		{ "_Zli2_kmd", "operator\"\" _k" },
		{ "_ZN9operators3runEv", "operators::run" },
		{ "_ZN12my_operatorsI1AE3runEv", "my_operators::run" },
	};
	(void)state;

	check(cases, array_len(cases), DEMANGLE_SHORT);
}

static void short_cplus_names_keep_what_is_in_functions(void **state)
{
	static const struct name_case cases[] = {
		{ "_ZZ4mainENKUliE_clEi", "main::{lambda(int)#1}::operator()" },
		{ "_ZZ3fooIiEvT_ENKUliE_clEi", "foo::{lambda(int)#1}::operator()" },
		{ "_ZZ3foovENKUlSt6vectorIiEPFvcEE0_clES0_S2_",
		  "foo::{lambda(std::vector, void (*)(char))#2}::operator()" },
		{ "_ZZNK1AcvSsEvENKUlvE_clEv",
		  "A::operator std::string::{lambda()#1}::operator()" },
		{ "_ZZ3fooiEd_NKUlvE_clEv", "foo::{default arg#1}::{lambda()#1}::operator()" },
		{ "_ZZNVKR1A3fooEvENKUlvE_clEv", "A::foo::{lambda()#1}::operator()" },
		{ "_ZZN12_GLOBAL__N_11fEiEN1B1gEv", "(anonymous namespace)::f::B::g" },
		{ "_ZNUt_1fEv", "{unnamed type#1}::f" },
		{ "_ZN1AIN1BUt_EE1fEv", "A::f" },
	};
	(void)state;

	check(cases, array_len(cases), DEMANGLE_SHORT);
}

static void brackets_in_arguments_are_told_from_operators(void **state)
{
	static const struct name_case cases[] = {
		{ "_Z3fooIXgtLi3ELi4EEEvv", "foo" },
		{ "_Z3fooIXltLi3ELi4EEEvv", "foo" },
		{ "_Z3fooIXleLi3ELi4EEEvv", "foo" },
		{ "_Z3fooIXgeLi3ELi4EEEvv", "foo" },
		{ "_Z3fooIXrsLi3ELi4EEEvv", "foo" },
		{ "_Z3fooIXlsLi3ELi4EEEvv", "foo" },
		{ "_Z3fooIXadL_ZltiiEEEvv", "foo" },
		{ "_ZN3barIXltLi3ELi4EELi5EE1xE", "bar::x" },
		{ "_ZN3fooI3barIXgtLi3ELi4EEEE3runEv", "foo::run" },
		{ "_Z3fooIJ1AI1BIJEEEEEvv", "foo" },
	};
	(void)state;

	check(cases, array_len(cases), DEMANGLE_SHORT);
}

static void short_names_have_no_compilers_suffix(void **state)
{
	static const struct name_case cases[] = {
		{ "_Z3fooi.cold", "foo" },
		{ "_ZN3foo3barEv.part.0.isra.1", "foo::bar" },
		{ "_ZN3foo3barEv.constprop.0", "foo::bar" },
		{ "_ZN3foo3barEv.lto_priv.0", "foo::bar" },
		{ "_Z3fooi.llvm.1234567890", "foo" },
		{ "_RNvC6_123foo3bar.llvm.9D1C9369", "123foo::bar" },
		{ "_D3foo3barFZv.cold", "foo.bar" },
		{ "plain_c.cold", NULL },
	};
	(void)state;

	check(cases, array_len(cases), DEMANGLE_SHORT);
}

static void full_names_are_those_of_cxxfilt(void **state)
{
	static const struct name_case cases[] = {
		{ "_ZNK3foo3barIiEEvT_", "void foo::bar<int>(int) const" },
		{ "_ZN1AIiEC2Ev", "A<int>::A()" },
		{ "_ZltIiEbT_S0_", "bool operator< <int>(int, int)" },
		{ "_Z3fooIXgtLi3ELi4EEEvv", "void foo<((3)>(4))>()" },
		{ "_ZN3foo3barB5cxx11Ev", "foo::bar[abi:cxx11]()" },
		{ "_Z3fooi.cold", "foo(int) [clone .cold]" },
		{ "_Z3fooSs", "foo(std::basic_string<char, std::char_traits<char>, "
			      "std::allocator<char> >)" },
		{ "_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE",
		  "core::fmt::Write::write_fmt" },
		{ "_RINvNtC3std3mem8align_ofjE", "std::mem::align_of::<usize>" },
		{ "main.Map[go.shape.int]", NULL },
		{ "_Z3fo", NULL },
	};
	(void)state;

	check(cases, array_len(cases), DEMANGLE_FULL);
}

static void no_style_leaves_every_name(void **state)
{
	static const struct name_case cases[] = {
		{ "_Z3foov", NULL },
		{ "_RNvC6_123foo3bar", NULL },
		{ "_D3foo3barFZv", NULL },
		{ "main.Map[go.shape.int]", NULL },
		{ "", NULL },
	};
	(void)state;

	check(cases, array_len(cases), DEMANGLE_NONE);
}

static void rust_names_lose_their_hash_and_arguments(void **state)
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
		{ "_ZN4core3ptr42drop_in_place$LT$alloc..string..String$GT$17h0123456789abcdefE",
		  "core::ptr::drop_in_place" },
		{ "_ZN4core3ptr49drop_in_place$LT$fn$LP$$RP$$u20$.$GT$$u20$u8$GT$"
		  "17h0123456789abcdefE",
		  NULL }, /* and another one */
		{ "_ZN4core3ptr48drop_in_place$LT$fn$LP$$RP$$u20$.$GT$$u20$u8$GT$"
		  "17h0123456789abcdefE",
		  "core::ptr::drop_in_place" },
		{ "_ZN4core3fmt3num59_$LT$impl$u20$core..fmt..Debug$u20$for$u20$Vec$LT$T$GT$$GT$"
		  "3fmt"
		  "17h0123456789abcdefE",
		  "core::fmt::num::<impl core::fmt::Debug for Vec>::fmt" },
		{ "_ZN3foo28_$u7b$$u7b$closure$u7d$$u7d$17h0123456789abcdefE", "foo::{{closure}}" },
		{ "_RNvNtCs1234_7mycrate3bar3foo", "mycrate::bar::foo" },
		{ "_RINvNtC3std3mem8align_ofjE", "std::mem::align_of" },
		{ "_RNCNvC3foo3bar0", "foo::bar::{closure#0}" },
		{ "_RNvXsD_NtCsbEht8wFNRx7_5alloc3vecINtB5_3VechEINtNtCs8NwYtU1Mohg_4core7convert"
		  "4FromReE4from",
		  "<alloc::vec::Vec as core::convert::From>::from" },
		{ "_RNvMs2_Cs3Wn5k6Pa3dh_8thin_vecINtB5_7ThinVechE7reserveB5_",
		  "<thin_vec::ThinVec>::reserve" },
		{ "_RNvMNtC3foo3barFG_RL0_jEu3run", "<for<'a> fn(&'a usize)>::run" },
		{ "_RNqCs4fqI2P2rA04_11utf8_identsu30____7hkackfecea1cbdathfdh9hlq6y",
		  "utf8_idents::საჭმელად_გემრიელი_სადილი" },
	};
	(void)state;

	check(cases, array_len(cases), DEMANGLE_SHORT);
}

static void go_names_lose_type_arguments(void **state)
{
	static const struct name_case cases[] = {
		{ "main.Map[go.shape.int]", "main.Map" },
		{ "main.Map[...]", "main.Map" },
		{ "main.Map[...].func1", "main.Map.func1" },
		{ "main.(*List[go.shape.string]).Push", "main.(*List).Push" },
		{ "main.F[go.shape.[]uint8,go.shape.map[string]int]", "main.F" },
		{ "main.F[go.shape.struct { A int \"json:\\\"]\\\"\" }]", "main.F" },
		{ "main.F[<-chan int,chan<- func(int) [2]int].G", "main.F.G" },
		{ "type:.eq.main.Pair[int,string]", "type:.eq.main.Pair" },
		{ "type:.eq.[2]string", NULL },
		{ "type:.eq.[2]main.Pair[int]", "type:.eq.[2]main.Pair" },
		{ "github.com/a/b%2ec.F[int]", "github.com/a/b%2ec.F" },
		{ "runtime.goexit.abi0", NULL },
		{ "main.F[int", NULL },
		{ "main.F[a\"]", NULL },
		{ "main.F]int[", NULL },
		{ "main.F[(int]", NULL },
		{ "-[NSString length]", NULL },
		{ "a[b].c", NULL },
	};
	(void)state;

	check(cases, array_len(cases), DEMANGLE_SHORT);
}

static void d_names_are_those_of_libiberty(void **state)
{
	static const struct name_case in_full[] = {
		{ "_Dmain", "D main" },
		{ "_D3foo3barFiAyaZv", "foo.bar(int, immutable(char)[])" },
		{ "_D3foo3Bar3runMxFNbNiNfiZv", "foo.Bar.run(int) const" },
		{ "_D3foo3Bar6__vtblZ", "vtable for foo.Bar" },
		{ "_D3foo5countm", "foo.count" },
		{ "_D3std4conv__T2toTAyaZ__TQlTAaZQrFNaNbNfQmZQz",
		  "std.conv.to!(immutable(char)[]).to!(char[]).to(char[])" },
		{ "_D3fo", NULL },
		{ "_D3fooQa", NULL }, /* a reference to itself */
		{ "_D99999999999999999999a", NULL },
	};
	(void)state;

	check(in_full, array_len(in_full), DEMANGLE_FULL);
}

static void short_d_names_have_no_parameters_or_arguments(void **state)
{
	static const struct name_case cases[] = {
		{ "_Dmain", "D main" },
		{ "_D3foo3barFZv", "foo.bar" },
		{ "_D3foo3barFiAyaZv", "foo.bar" },
		{ "_D3foo3Bar3runMxFNbNiNfiZv", "foo.Bar.run" },
		{ "_D3foo3Bar6__ctorMFiZC3foo3Bar", "foo.Bar.this" },
		{ "_D3foo3Bar6__dtorMFZv", "foo.Bar.~this" },
		{ "_D3foo3Bar10__postblitMFZv", "foo.Bar.this(this)" },
		{ "_D3foo3Bar6__vtblZ", "vtable for foo.Bar" },
		{ "_D3foo12__ModuleInfoZ", "ModuleInfo for foo" },
		{ "_D3foo3barFiZ3bazMFaZv", "foo.bar.baz" },
		{ "_D3std4conv__T2toTAyaZ__TQlTAaZQrFNaNbNfQmZQz", "std.conv.to.to.to" },
		{ "_D3std5regex__T8CapturesTAxaZQo5emptyMxFNaNbNdNiNeZb",
		  "std.regex.Captures.Captures.empty" },
		{ "_D3foo__T3barVAyaa3_612062Z3bazFZv", "foo.bar.baz" }, /* bar!("a b") */
		{ "_D3foo__T3barVAyaa3_292829Z3bazFZv", "foo.bar.baz" }, /* bar!(")()") */
		{ "_D3foo__T3barVai41Z3bazFZv", "foo.bar.baz" }, /* bar!(')') */
	};
	(void)state;

	check(cases, array_len(cases), DEMANGLE_SHORT);
}

static void other_names_stay_as_they_are(void **state)
{
	static const struct name_case cases[] = {
		{ "", NULL },
		{ "main", NULL },
		{ "_", NULL },
		{ "_Z", NULL },
		{ "_R", NULL },
		{ "_D", NULL },
		{ "_Zebra", NULL },
		{ "_Release", NULL },
		{ "_Debug", NULL },
		{ "_ZN", NULL },
		{ "_ZN3foo", NULL },
		{ "_Z3fo", NULL },
		{ "_Z3foo???", NULL },
		{ "_Z3foo i", NULL },
		{ "_Z99999999999999999999a", NULL },
		{ "_ZN3fooE\xff\xfe", NULL },
		{ "_Z.", NULL },
		{ "_R.E.", NULL },
		{ "_D3foo", NULL },
		{ "$s4main3fooyyF", NULL },
		{ "do_syscall_64", NULL },
	};
	(void)state;

	check(cases, array_len(cases), DEMANGLE_SHORT);
	check(cases, array_len(cases), DEMANGLE_FULL);
}

static void check_unchanged(struct strbuf *name)
{
	assert_int_equal(strbuf_error(name), 0);
	for (int style = DEMANGLE_NONE; style <= DEMANGLE_FULL; style++) {
		_cleanup_free_ char *pretty = demangle(strbuf_str(name),
						       (enum demangle_style)style);

		assert_string_equal(pretty, strbuf_str(name));
	}
	strbuf_done(name);
}

static void deep_names_are_not_followed(void **state)
{
	static const char *const parts[][3] = {
		{ "_Z1f", "P", "i" }, { "_Z1f", "F", "v" },    { "_Z1fI", "1AI", "" },
		{ "_ZN", "N", "" },   { "_RNv", "INv", "" },   { "_RC1a", "T", "" },
		{ "_Z", "Z", "1av" }, { "_Z1fIXad", "L", "" }, { "_RMC1a", "A", "" },
		{ "_D1a", "P", "i" }, { "_D", "1a", "i" },     { "_D", "__T", "" },
		{ "a.F[", "[", "]" },
	};
	(void)state;

	for (size_t i = 0; i < array_len(parts); i++) {
		struct strbuf name = strbuf_with_max(DEMANGLE_MAX_BYTES);

		strbuf_append_str(&name, parts[i][0]);
		while (name.len + strlen(parts[i][1]) + 4 < DEMANGLE_MAX_BYTES)
			strbuf_append_str(&name, parts[i][1]);
		strbuf_append_str(&name, parts[i][2]);

		_cleanup_free_ char *pretty = demangle(strbuf_str(&name), DEMANGLE_SHORT);
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
		cmocka_unit_test(short_cplus_names_have_no_parameters_or_arguments),
		cmocka_unit_test(short_cplus_names_keep_operators),
		cmocka_unit_test(short_cplus_names_keep_what_is_in_functions),
		cmocka_unit_test(brackets_in_arguments_are_told_from_operators),
		cmocka_unit_test(short_names_have_no_compilers_suffix),
		cmocka_unit_test(full_names_are_those_of_cxxfilt),
		cmocka_unit_test(no_style_leaves_every_name),
		cmocka_unit_test(rust_names_lose_their_hash_and_arguments),
		cmocka_unit_test(go_names_lose_type_arguments),
		cmocka_unit_test(d_names_are_those_of_libiberty),
		cmocka_unit_test(short_d_names_have_no_parameters_or_arguments),
		cmocka_unit_test(other_names_stay_as_they_are),
		cmocka_unit_test(deep_names_are_not_followed),
		cmocka_unit_test(doubling_cplus_names_are_given_up),
		cmocka_unit_test(names_over_the_limit_are_not_looked_at),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
