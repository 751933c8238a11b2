/* SPDX-License-Identifier: Apache-2.0 */
#include "k8s/pod_keys.h"

#include "torture.h"
#include "unit.h"

#include <string.h>

static void all_of_the_options_are_copied(void **state)
{
	char label[] = "app", annotation[] = "team*";
	const char *labels[] = { label, "tier" }, *annotations[] = { annotation };
	const struct pod_list_opts opts = { 7, labels, 2, annotations, 1 };
	_cleanup_(pod_keys_freep) struct pod_keys *keys = NULL;
	(void)state;

	assert_int_equal(pod_keys_new(&opts, &keys), 0);
	label[0] = annotation[0] = 'x';
	labels[1] = NULL;
	assert_int_equal(keys->opts.max_bytes, 7);
	assert_int_equal(keys->opts.nr_label_keys, 2);
	assert_string_equal(keys->opts.label_keys[0], "app");
	assert_string_equal(keys->opts.label_keys[1], "tier");
	assert_int_equal(keys->opts.nr_annotation_keys, 1);
	assert_string_equal(keys->opts.annotation_keys[0], "team*");
}

static void there_may_be_none(void **state)
{
	_cleanup_(pod_keys_freep) struct pod_keys *keys = NULL;
	(void)state;

	assert_int_equal(pod_keys_new(&(struct pod_list_opts){ 0 }, &keys), 0);
	assert_int_equal(keys->opts.nr_label_keys + keys->opts.nr_annotation_keys, 0);
}

static void keys_over_the_limit_are_refused(void **state)
{
	static char overlong[POD_KEYS_MAX_BYTES + 1];
	const char *const labels[] = { "app", overlong };
	const struct pod_list_opts opts = { .label_keys = labels, .nr_label_keys = 2 };
	struct pod_keys *keys = NULL;
	(void)state;

	memset(overlong, 'x', sizeof(overlong) - 1);
	assert_int_equal(pod_keys_new(&opts, &keys), -ENOMEM);
	assert_null(keys);
}

static void want_of_memory_leaves_nothing_behind(void **state)
{
	const char *const labels[] = { "app" };
	const struct pod_list_opts opts = { .label_keys = labels, .nr_label_keys = 1 };
	struct pod_keys *keys = NULL;
	(void)state;

	for (unsigned int n = 1;; n++) {
		torture_begin(n);
		int r = pod_keys_new(&opts, &keys);
		bool has_failed = torture_end();

		assert_int_equal(r, has_failed ? -ENOMEM : 0);
		if (!has_failed)
			break;
		assert_null(keys);
	}
	pod_keys_free(keys);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_of_the_options_are_copied),
		cmocka_unit_test(there_may_be_none),
		cmocka_unit_test(keys_over_the_limit_are_refused),
		cmocka_unit_test(want_of_memory_leaves_nothing_behind),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
