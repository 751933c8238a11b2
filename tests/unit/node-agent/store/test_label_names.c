/* SPDX-License-Identifier: Apache-2.0 */
#include "store/label_names.h"

#include "unit.h"

#include <stdlib.h>
#include <string.h>

#define TEXT_BYTES 1024

static char deployment[] = "k8s.deployment.name", service[] = "service.name";
static char app[] = "k8s.pod.label.app";
static char *keys[] = { deployment, service, app };
static const struct label_names names = { .attributes = keys, .nr = array_len(keys) };

static void words_and_keys_of_attributes_are_labels(void **state)
{
	(void)state;
	static const struct {
		const char *word;
		bool is_there;
	} cases[] = {
		{ "workload", true },
		{ "service", true },
		{ "k8s.pod.label.app", true },
		{ "k8s.deployment.name", true },
		{ "comm", true },
		{ "pid", true },
		{ "host", true },
		{ "pod", false },
		{ "cpu", false },
		{ "k8s.pod.name", false },
		{ "nosuch", false },
		{ "", false },
	};

	for (size_t i = 0; i < array_len(cases); i++) {
		const struct label_key key = label_key_of(cases[i].word);

		if (label_names_have(&names, &key) != cases[i].is_there)
			fail_msg("%s", cases[i].word);
	}
}

static void they_are_listed_by_their_shortest_names(void **state)
{
	(void)state;
	_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max(TEXT_BYTES);

	label_names_append(&names, &text);
	assert_string_equal(strbuf_str(&text),
			    "workload, host, service, comm, thread, process, pid, cgroup, "
			    "k8s.pod.label.app");
}

static void a_record_without_files_has_none_of_attributes(void **state)
{
	(void)state;
	const struct store_reader reader = { 0 };
	const struct time_range all = { 0, UINT64_MAX };
	struct label_names none;

	assert_int_equal(label_names_read(&reader, &all, &none), 0);
	assert_int_equal(none.nr, 0);
	label_names_done(&none);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_and_keys_of_attributes_are_labels),
		cmocka_unit_test(they_are_listed_by_their_shortest_names),
		cmocka_unit_test(a_record_without_files_has_none_of_attributes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
