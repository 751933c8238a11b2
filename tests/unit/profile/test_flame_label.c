/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/flame_label.h"

#include "base/cleanup.h"
#include "unit.h"

#define MAX_BYTES 65536

static void the_end_of_a_long_name_is_kept(void **state)
{
	static const struct {
		const char *name;
		enum flame_kind kind;
		size_t max_chars;
		const char *label;
	} cases[] = {
		{ "main.main", FLAME_GO, 9, "main.main" },
		{ "github.com/acme/cmd/compile.walkExpr", FLAME_GO, 36,
		  "github.com/acme/cmd/compile.walkExpr" },
		{ "github.com/acme/cmd/compile.walkExpr", FLAME_GO, 35,
		  "…/acme/cmd/compile.walkExpr" },
		{ "github.com/acme/cmd/compile.walkExpr", FLAME_GO, 22, "…/cmd/compile.walkExpr" },
		{ "github.com/acme/cmd/compile.walkExpr", FLAME_GO, 18, "…/compile.walkExpr" },
		{ "github.com/acme/cmd/compile.walkExpr", FLAME_GO, 17, "…walkExpr" },
		{ "github.com/acme/cmd/compile.walkExpr", FLAME_GO, 8, "walkExpr" },
		{ "github.com/acme/cmd/compile.walkExpr", FLAME_GO, 7, "walkEx…" },
		{ "net/http.(*conn).serve", FLAME_GO, 15, "…(*conn).serve" },
		{ "net/http.(*conn).serve", FLAME_GO, 13, "…serve" },
		{ "net/http.(*conn).serve", FLAME_GO, 5, "serve" },
		{ "net/http.(*conn).serve", FLAME_GO, 4, "ser…" },
		{ "runtime.usleep.abi0", FLAME_GO, 12, "…usleep.abi0" },
		{ "finish_task_switch.isra.0", FLAME_KERNEL, 8, "finish_…" },
		{ "entry_SYSCALL_64_after_hwframe", FLAME_KERNEL, 11, "entry_SYSC…" },
		{ "std::vector<int>::push_back(int&&)", FLAME_NATIVE, 28,
		  "std::vector&lt;int&gt;::push_back…" },
		{ "std::vector<int>::push_back(int&&)", FLAME_NATIVE, 12, "…::push_back" },
		{ "std::vector<int>::push_back(int&&)", FLAME_NATIVE, 6, "push_…" },
		{ "a::f(b::c) const", FLAME_NATIVE, 15, "a::f…" },
		{ "Cart.total(int)", FLAME_JVM, 12, "Cart.total…" },
		{ "kworker/u8:2", FLAME_PROCESS, 7, "…/u8:2" },
		{ "<alloc::vec::Vec<T>>::push", FLAME_RUST, 16, "…::Vec&lt;T&gt;&gt;::push" },
		{ "ends/", FLAME_NATIVE, 4, "…/" },
		{ "::", FLAME_NATIVE, 1, "…" },
		{ "(((((", FLAME_NATIVE, 3, "((…" },
		{ ")))))", FLAME_NATIVE, 3, "))…" },
		{ "()()()", FLAME_NATIVE, 5, "()()…" },
		{ "a<b>/c", FLAME_NATIVE, 3, "…/c" },
		{ "x/<&>", FLAME_NATIVE, 5, "x/&lt;&amp;&gt;" },
		{ "bücher/größe", FLAME_NATIVE, 7, "…/größe" },
		{ "caf\xc3/na\xc3me", FLAME_NATIVE, 10, "…/na\\xc3me" },
		{ "name", FLAME_NATIVE, 0, "" },
		{ "", FLAME_NATIVE, 4, "" },
	};
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(MAX_BYTES);

		flame_label_append(&out, cases[i].name, cases[i].kind, cases[i].max_chars);
		assert_string_equal(strbuf_str(&out), cases[i].label);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_end_of_a_long_name_is_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
