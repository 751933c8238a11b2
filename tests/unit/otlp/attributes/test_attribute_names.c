/* SPDX-License-Identifier: Apache-2.0 */
#include "otlp/attributes/attribute_names.h"

#include "hostile_names.h"

#include <string.h>

static void names_for_pyroscope_have_its_characters(void **state)
{
	static const struct {
		const char *name;
		const char *expected;
	} cases[] = {
		{ "k8s.pod.name", "k8s.pod.name" },
		{ "a_B.9", "a_B.9" },
		{ "k8s.pod.label.app.kubernetes.io/name", "k8s.pod.label.app.kubernetes.io_name" },
		{ "a-b c", "a_b_c" },
		{ "1x", "_1x" },
		{ "\xd0\xba\xd0\xbb", "_" }, /* two characters, both in front */
		{ "x\xd0\xba\xf0\x9f\x90\x9d", "x__" },
		{ "a\xff\xc3", "a__" },
		{ "__name__", "_name__" },
		{ "____x", "_x" },
		{ "_.x", ".x" },
		{ "--x", "_x" },
		{ "_1", "_1" },
		{ "/", "_" },
	};
	char clean[ATTRIBUTE_NAME_MAX + 1];
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		attribute_name_clean(ATTRIBUTES_PYROSCOPE, cases[i].name, clean);
		assert_string_equal(clean, cases[i].expected);
	}
}

static void other_names_only_become_printable(void **state)
{
	static const struct {
		const char *name;
		const char *expected;
	} cases[] = {
		{ "a b/c-1", "a b/c-1" }, { "__name__", "__name__" }, { "\xd0\xba", "\xd0\xba" },
		{ "a\xff", "a\\xff" },	  { "\xc3", "\\xc3" },
	};
	char clean[ATTRIBUTE_NAME_MAX + 1];
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		attribute_name_clean(ATTRIBUTES_STANDARD, cases[i].name, clean);
		assert_string_equal(clean, cases[i].expected);
	}
}

static void overwrite(char *at, const char *bytes)
{
	while (*bytes)
		*at++ = *bytes++;
}

static void long_texts_are_cut_between_characters(void **state)
{
	static char text[2 * ATTRIBUTE_VALUE_MAX];
	char name[ATTRIBUTE_NAME_MAX + 1];
	char value[ATTRIBUTE_VALUE_MAX + 1];
	(void)state;

	memset(text, 'x', sizeof(text) - 1);
	attribute_name_clean(ATTRIBUTES_PYROSCOPE, text, name);
	assert_int_equal(strlen(name), ATTRIBUTE_NAME_MAX);
	attribute_value_clean(text, value);
	assert_int_equal(strlen(value), ATTRIBUTE_VALUE_MAX);

	overwrite(text + ATTRIBUTE_VALUE_MAX - 1, "\xc3\xb8");
	attribute_value_clean(text, value);
	assert_int_equal(strlen(value), ATTRIBUTE_VALUE_MAX - 1);
	overwrite(text + ATTRIBUTE_VALUE_MAX - 1, "\xff\xff");
	attribute_value_clean(text, value);
	assert_int_equal(strlen(value), ATTRIBUTE_VALUE_MAX - 1);
	overwrite(text + ATTRIBUTE_NAME_MAX - 3, "\xf0\x9f\x90\x9d");
	attribute_name_clean(ATTRIBUTES_STANDARD, text, name);
	assert_int_equal(strlen(name), ATTRIBUTE_NAME_MAX - 3);
	assert_printable(name, strlen(name), false);
}

static void any_text_leaves_printable(void **state)
{
	char name[ATTRIBUTE_NAME_MAX + 1];
	char value[ATTRIBUTE_VALUE_MAX + 1];
	(void)state;

	for (size_t i = 0; i < array_len(hostile_names); i++) {
		attribute_name_clean(ATTRIBUTES_STANDARD, hostile_names[i].name, name);
		assert_string_equal(name, hostile_names[i].printable);
		attribute_value_clean(hostile_names[i].name, value);
		assert_string_equal(value, hostile_names[i].printable);
		attribute_name_clean(ATTRIBUTES_PYROSCOPE, hostile_names[i].name, name);
		assert_printable(name, strlen(name), false);
	}
}

static void dots_are_underscores_to_old_pyroscopes_only(void **state)
{
	(void)state;
	assert_true(attribute_names_clash(ATTRIBUTES_PYROSCOPE, "a.b", "a_b"));
	assert_false(attribute_names_clash(ATTRIBUTES_PYROSCOPE, "a.b", "a.b.c"));
	assert_false(attribute_names_clash(ATTRIBUTES_STANDARD, "a.b", "a_b"));
	assert_true(attribute_names_clash(ATTRIBUTES_STANDARD, "a.b", "a.b"));
	assert_true(attribute_name_is_reserved(ATTRIBUTES_PYROSCOPE, "service_name"));
	assert_false(attribute_name_is_reserved(ATTRIBUTES_PYROSCOPE, "service.name"));
	assert_false(attribute_name_is_reserved(ATTRIBUTES_STANDARD, "service_name"));
}

static void what_says_who_it_is_ranks_first(void **state)
{
	(void)state;
	assert_int_equal(attribute_rank_of("k8s.pod.name"), ATTRIBUTE_RANK_IDENTITY);
	assert_int_equal(attribute_rank_of("service.name"), ATTRIBUTE_RANK_IDENTITY);
	assert_int_equal(attribute_rank_of("k8s.deployment.name"), ATTRIBUTE_RANK_WORKLOAD);
	assert_int_equal(attribute_rank_of("deployment.environment"), ATTRIBUTE_RANK_CHOSEN);
	assert_int_equal(attribute_rank_of("k8s.pod.label.app"), ATTRIBUTE_RANK_POD_LABEL);
	assert_int_equal(attribute_rank_of("k8s.pod.annotation.team"),
			 ATTRIBUTE_RANK_POD_ANNOTATION);
	assert_int_equal(attribute_rank_of("container.id"), ATTRIBUTE_RANK_ID);
	assert_int_equal(attribute_rank_of("container.image.tags"), ATTRIBUTE_RANK_DETAIL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_for_pyroscope_have_its_characters),
		cmocka_unit_test(other_names_only_become_printable),
		cmocka_unit_test(long_texts_are_cut_between_characters),
		cmocka_unit_test(any_text_leaves_printable),
		cmocka_unit_test(dots_are_underscores_to_old_pyroscopes_only),
		cmocka_unit_test(what_says_who_it_is_ranks_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
