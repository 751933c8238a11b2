/* SPDX-License-Identifier: Apache-2.0 */
#include "k8s/image_name.h"

#include "base/err.h"

#include <string.h>

#include "unit.h"

#define HEX_64 "b108355ba8c023ebd6bbdbce44989e894c7d1aabc65b1026b77c0380361509b4"

static void an_image_is_split_into_name_and_tag(void **state)
{
	static const struct {
		const char *image;
		const char *name;
		const char *tag;
	} cases[] = {
		{ "nginx", "nginx", "" },
		{ "nginx:1.27", "nginx", "1.27" },
		{ "docker.io/library/nginx:1.27", "docker.io/library/nginx", "1.27" },
		{ "registry:5000/team/web", "registry:5000/team/web", "" },
		{ "registry:5000/team/web:v1", "registry:5000/team/web", "v1" },
		{ "registry:5000/team/web:v1@sha256:" HEX_64, "registry:5000/team/web", "v1" },
		{ "registry:5000/team/web@sha256:" HEX_64, "registry:5000/team/web", "" },
		{ "[::1]:5000/web:v1", "[::1]:5000/web", "v1" },

		/* what no registry has */
		{ "", "", "" },
		{ ":", "", "" },
		{ ":v1", "", "v1" },
		{ "web:", "web", "" },
		{ "web:@", "web", "" },
		{ "@sha256:" HEX_64, "", "" },
		{ "a/b/", "a/b/", "" },
		{ "a:1/", "a:1/", "" },
		{ "a:1:2", "a", "1:2" },
		{ "web@a/b:c", "web", "" },
	};
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		struct image_name image = image_name_split(cases[i].image);

		assert_int_equal(image.name.len, strlen(cases[i].name));
		assert_memory_equal(image.name.text, cases[i].name, image.name.len);
		assert_int_equal(image.tag.len, strlen(cases[i].tag));
		assert_memory_equal(image.tag.text, cases[i].tag, image.tag.len);
	}
}

static void an_id_is_told_from_a_name(void **state)
{
	static const char *const ids[] = { HEX_64, "sha256:" HEX_64 };
	static const char *const names[] = {
		"",
		"sha256:",
		"sha256:b108355b",
		"sha256:" HEX_64 "0",
		"sha256",
		HEX_64 "0",
		HEX_64 ":v1",
		"nginx@sha256:" HEX_64,
		"sha512:" HEX_64,
		"sha256:sha256:" HEX_64,
	};
	(void)state;

	for (size_t i = 0; i < array_len(ids); i++)
		assert_true(image_name_is_id(ids[i]));
	for (size_t i = 0; i < array_len(names); i++)
		assert_false(image_name_is_id(names[i]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_image_is_split_into_name_and_tag),
		cmocka_unit_test(an_id_is_told_from_a_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
