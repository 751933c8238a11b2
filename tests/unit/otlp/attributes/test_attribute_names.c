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
	char clean[LABEL_NAME_MAX + 1];
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		label_name_clean(LABELS_PYROSCOPE, cases[i].name, clean);
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
	char clean[LABEL_NAME_MAX + 1];
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		label_name_clean(LABELS_STANDARD, cases[i].name, clean);
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
	static char text[2 * LABEL_VALUE_MAX];
	char name[LABEL_NAME_MAX + 1];
	char value[LABEL_VALUE_MAX + 1];
	(void)state;

	memset(text, 'x', sizeof(text) - 1);
	label_name_clean(LABELS_PYROSCOPE, text, name);
	assert_int_equal(strlen(name), LABEL_NAME_MAX);
	label_value_clean(text, value);
	assert_int_equal(strlen(value), LABEL_VALUE_MAX);

	overwrite(text + LABEL_VALUE_MAX - 1, "\xc3\xb8");
	label_value_clean(text, value);
	assert_int_equal(strlen(value), LABEL_VALUE_MAX - 1);
	overwrite(text + LABEL_VALUE_MAX - 1, "\xff\xff");
	label_value_clean(text, value);
	assert_int_equal(strlen(value), LABEL_VALUE_MAX - 1);
	overwrite(text + LABEL_NAME_MAX - 3, "\xf0\x9f\x90\x9d");
	label_name_clean(LABELS_STANDARD, text, name);
	assert_int_equal(strlen(name), LABEL_NAME_MAX - 3);
	assert_printable(name, strlen(name), false);
}

static void any_text_leaves_printable(void **state)
{
	char name[LABEL_NAME_MAX + 1];
	char value[LABEL_VALUE_MAX + 1];
	(void)state;

	for (size_t i = 0; i < array_len(hostile_names); i++) {
		label_name_clean(LABELS_STANDARD, hostile_names[i].name, name);
		assert_string_equal(name, hostile_names[i].printable);
		label_value_clean(hostile_names[i].name, value);
		assert_string_equal(value, hostile_names[i].printable);
		label_name_clean(LABELS_PYROSCOPE, hostile_names[i].name, name);
		assert_printable(name, strlen(name), false);
	}
}

static void a_star_matches_any_end(void **state)
{
	(void)state;
	assert_true(label_key_matches("k8s.pod.name", "k8s.pod.name"));
	assert_true(label_key_matches("k8s.*", "k8s.pod.name"));
	assert_true(label_key_matches("k8s.*", "k8s."));
	assert_true(label_key_matches("*", "anything"));
	assert_false(label_key_matches("k8s.*", "k8s"));
	assert_false(label_key_matches("k8s.pod", "k8s.pod.name"));
	assert_false(label_key_matches("k8s.*.name", "k8s.pod.name"));
	assert_false(label_key_matches("", "x"));
}

static void dots_are_underscores_to_old_pyroscopes_only(void **state)
{
	(void)state;
	assert_true(label_names_clash(LABELS_PYROSCOPE, "a.b", "a_b"));
	assert_false(label_names_clash(LABELS_PYROSCOPE, "a.b", "a.b.c"));
	assert_false(label_names_clash(LABELS_STANDARD, "a.b", "a_b"));
	assert_true(label_names_clash(LABELS_STANDARD, "a.b", "a.b"));
	assert_true(label_name_is_reserved(LABELS_PYROSCOPE, "service_name"));
	assert_false(label_name_is_reserved(LABELS_PYROSCOPE, "service.name"));
	assert_false(label_name_is_reserved(LABELS_STANDARD, "service_name"));
}

static void what_says_who_it_is_ranks_first(void **state)
{
	(void)state;
	assert_int_equal(label_rank_of("k8s.pod.name"), LABEL_RANK_IDENTITY);
	assert_int_equal(label_rank_of("service.name"), LABEL_RANK_IDENTITY);
	assert_int_equal(label_rank_of("k8s.deployment.name"), LABEL_RANK_WORKLOAD);
	assert_int_equal(label_rank_of("deployment.environment"), LABEL_RANK_CHOSEN);
	assert_int_equal(label_rank_of("k8s.pod.label.app"), LABEL_RANK_POD_LABEL);
	assert_int_equal(label_rank_of("k8s.pod.annotation.team"), LABEL_RANK_POD_ANNOTATION);
	assert_int_equal(label_rank_of("container.id"), LABEL_RANK_ID);
	assert_int_equal(label_rank_of("container.image.tags"), LABEL_RANK_DETAIL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_for_pyroscope_have_its_characters),
		cmocka_unit_test(other_names_only_become_printable),
		cmocka_unit_test(long_texts_are_cut_between_characters),
		cmocka_unit_test(any_text_leaves_printable),
		cmocka_unit_test(a_star_matches_any_end),
		cmocka_unit_test(dots_are_underscores_to_old_pyroscopes_only),
		cmocka_unit_test(what_says_who_it_is_ranks_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
