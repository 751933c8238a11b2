/* SPDX-License-Identifier: Apache-2.0 */
#include "cgroup/proc_cgroup.h"

#include <string.h>

#include "unit.h"

#define V1 "11:cpu,cpuacct:/docker/abc\n9:memory:/docker/a:b\n1:name=systemd:/init\n0::/x.slice/y\n"

struct find_case {
	const char *text;
	uint32_t hierarchy;
	const char *path; /* NULL: none */
};

static void the_path_of_a_hierarchy_is_found(void **state)
{
	static const struct find_case cases[] = {
		{ "0::/\n", 0, "/" },
		{ "0::/kubepods.slice/pod1/ctr", 0, "/kubepods.slice/pod1/ctr" },
		{ V1, 0, "/x.slice/y" },
		{ V1, 9, "/docker/a:b" },
		{ V1, 11, "/docker/abc" },
		{ V1, 1, "/init" },
		{ "0::/gone (deleted)\n", 0, "/gone" },
		{ "0::/a (deleted) (deleted)\n", 0, "/a (deleted)" },
		{ "0::/../../other\n", 0, "/../../other" },
		{ "bad\n0::/good\n", 0, "/good" },
		/* Malformed, or not there. */
		{ V1, 2, NULL },
		{ "", 0, NULL },
		{ "\n\n\n", 0, NULL },
		{ "0", 0, NULL },
		{ "0:", 0, NULL },
		{ "0::", 0, NULL },
		{ "0::\n/x", 0, NULL },
		{ "0::relative\n", 0, NULL },
		{ "::/x\n", 0, NULL },
		{ "x0::/x\n", 0, NULL },
		{ " 0::/x\n", 0, NULL },
		{ "0/x\n", 0, NULL },
		{ "-1::/x\n", 0, NULL },
		{ "99999999999999999999::/x\n", 0, NULL },
		{ "4294967296::/x\n", 0, NULL },
	};
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		const char *path = NULL;
		size_t len = 0;

		int r = proc_cgroup_find(cases[i].text, strlen(cases[i].text), cases[i].hierarchy,
					 &path, &len);
		assert_int_equal(r, cases[i].path ? 0 : -ENOENT);
		if (!cases[i].path)
			continue;
		assert_int_equal(len, strlen(cases[i].path));
		assert_memory_equal(path, cases[i].path, len);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_path_of_a_hierarchy_is_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
