/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cleanup.h"
#include "store/selector.h"
#include "unit.h"

#include <string.h>

#define MESSAGE_BYTES 1024

/* Label set 0 is of a pod, 1 of a process of the host. */
static void make_dict(struct dict *dict)
{
	static const char *const attributes[] = {
		"k8s.namespace.name", "shop",  "k8s.pod.name",	      "web-1",
		"k8s.container.name", "app",   "k8s.deployment.name", "web",
		"k8s.pod.label.tier", "front", "host.name",	      "node-1",
	};
	uint32_t words[array_len(attributes)], labels[LABELS_WORDS] = { 0 }, id;
	uint32_t process[PROCESS_WORDS] = { [PROCESS_PID] = 77 };

	assert_int_equal(dict_init(dict), 0);
	for (size_t i = 0; i < array_len(attributes); i++)
		assert_int_equal(dict_add_string(dict, attributes[i], &words[i]), 0);
	assert_int_equal(
		dict_add(dict, DICT_RESOURCES, words, array_len(words), &labels[LABELS_RESOURCE]),
		0);
	assert_int_equal(dict_add_string(dict, "node", &process[PROCESS_NAME]), 0);
	assert_int_equal(
		dict_add(dict, DICT_PROCESSES, process, PROCESS_WORDS, &labels[LABELS_PROCESS]), 0);
	assert_int_equal(dict_add_string(dict, "npm start", &labels[LABELS_PROCESS_COMM]), 0);
	assert_int_equal(dict_add_string(dict, "worker-3", &labels[LABELS_THREAD_COMM]), 0);
	labels[LABELS_PID] = 77;
	labels[LABELS_CGROUP_LOW] = 5;
	labels[LABELS_CGROUP_HIGH] = 1;
	labels[LABELS_CPU] = 4;
	assert_int_equal(dict_add(dict, DICT_LABELS, labels, LABELS_WORDS, &id), 0);
	assert_int_equal(id, 0);

	uint32_t host[LABELS_WORDS] = { 0 };
	assert_int_equal(dict_add_string(dict, "bash", &host[LABELS_PROCESS_COMM]), 0);
	assert_int_equal(dict_add(dict, DICT_LABELS, host, LABELS_WORDS, &id), 0);
	assert_int_equal(id, 1);
}

static void selectors_choose_samples(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		bool has_pod, has_host;
	} cases[] = {
		{ "{}", true, true },
		{ "{namespace=\"shop\"}", true, false },
		{ "namespace=\"shop\"", true, false },
		{ "{ namespace = \"shop\" , pod =~ \"web-.*\" }", true, false },
		{ "{namespace=\"shop\",pod=\"web\"}", false, false },
		{ "{namespace!=\"shop\"}", false, true },
		{ "{namespace=\"\"}", false, true },
		{ "{pod=~\"web\"}", false, false }, /* the whole value must match */
		{ "{pod=~\"a|web-1|b\"}", true, false },
		{ "{pod!~\"web.*\"}", false, true },
		{ "{pod=~\".*\"}", true, true },
		{ "{container=\"app\"}", true, false },
		{ "{workload=\"web\"}", true, false },
		{ "{k8s.pod.label.tier=\"front\"}", true, false },
		{ "{host=\"node-1\"}", true, false },
		{ "{comm=\"npm start\"}", true, false },
		{ "{comm!=\"bash\"}", true, false },
		{ "{thread=~\"worker-[0-9]+\"}", true, false },
		{ "{process=\"node\"}", true, false },
		{ "{pid=\"77\"}", true, false },
		{ "{cgroup=\"4294967301\"}", true, false },
		{ "{cpu=\"3\"}", true, false },
		{ "{cpu=\"\"}", false, true },
		{ "{comm=\"a\\\"b\\\\c\"}", false, false },
	};
	_cleanup_(dict_done) struct dict dict;

	make_dict(&dict);
	for (size_t i = 0; i < array_len(cases); i++) {
		_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(MESSAGE_BYTES);
		_cleanup_(selector_done) struct selector selector = { 0 };

		if (selector_add(&selector, cases[i].text, &message) < 0)
			fail_msg("%s", strbuf_str(&message));
		if (selector_matches(&selector, &dict, 0) != cases[i].has_pod ||
		    selector_matches(&selector, &dict, 1) != cases[i].has_host)
			fail_msg("%s selects the wrong samples", cases[i].text);
	}
}

static void one_of_several_values_is_enough(void **state)
{
	(void)state;
	static const struct {
		const char *key;
		const char *values[3];
		bool has_pod;
	} cases[] = {
		{ "pod", { "web-1" }, true },
		{ "pod", { "x", "shop/web-1" }, true },
		{ "pod", { "sho/web-1", "shopp/web-1", "shop/web-2" }, false },
		{ "pid", { "1", "77" }, true },
		{ "namespace", { "bank" }, false },
	};
	_cleanup_(dict_done) struct dict dict;

	make_dict(&dict);
	for (size_t i = 0; i < array_len(cases); i++) {
		_cleanup_(selector_done) struct selector selector = { 0 };
		size_t nr = 0;

		while (nr < 3 && cases[i].values[nr])
			nr++;
		assert_int_equal(selector_add_values(&selector, cases[i].key,
						     (char *const *)cases[i].values, nr),
				 0);
		assert_int_equal(selector_matches(&selector, &dict, 0), cases[i].has_pod);
		assert_false(selector_matches(&selector, &dict, 1));
	}
}

static void no_values_select_everything(void **state)
{
	(void)state;
	_cleanup_(selector_done) struct selector selector = { 0 };
	_cleanup_(dict_done) struct dict dict;

	make_dict(&dict);
	assert_int_equal(selector_add_values(&selector, "pod", NULL, 0), 0);
	assert_true(selector_matches(&selector, &dict, 1));
}

static void wrong_selectors_are_refused_with_the_place(void **state)
{
	(void)state;
	static const struct {
		const char *text, *message;
	} cases[] = {
		{ "", "a label's name, such as pod at character 1" },
		{ "{", "a label's name, such as pod at character 2" },
		{ "{pod", "=, !=, =~ or !~ at character 5" },
		{ "{pod=", "a value in quotation marks at character 6" },
		{ "{pod=web}", "a value in quotation marks at character 6" },
		{ "{pod=\"web}", "a quotation mark at character 11" },
		{ "{pod=\"web\"", "a comma or } at character 11" },
		{ "{pod=\"web\",}", "a label's name, such as pod at character 12" },
		{ "{pod=\"web\"}x", "nothing more at character 12" },
		{ "pod=\"web\"}", "nothing more at character 10" },
		{ "{pod==\"web\"}", "a value in quotation marks at character 6" },
		{ "{pod=~\"(\"}", "the regular expression \"(\" is invalid" },
		{ "{pod=~\"((a+){99}){99}\"}", "\"((a+){99}){99}\" is too complex" },
	};

	for (size_t i = 0; i < array_len(cases); i++) {
		_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(MESSAGE_BYTES);
		_cleanup_(selector_done) struct selector selector = { 0 };

		assert_int_equal(selector_add(&selector, cases[i].text, &message), -EINVAL);
		if (!strstr(strbuf_str(&message), cases[i].message))
			fail_msg("%s: %s", cases[i].text, strbuf_str(&message));
	}
}

static void there_is_a_limit(void **state)
{
	(void)state;
	_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(MESSAGE_BYTES);
	_cleanup_(selector_done) struct selector selector = { 0 };
	static char text[3000] = "{pod=\"";

	memset(text + 6, 'x', 2000);
	text[2006] = '"';
	text[2007] = '}';
	assert_int_equal(selector_add(&selector, text, &message), -EINVAL);
	for (int i = 0; i < 64; i++)
		assert_int_equal(selector_add(&selector, "pod=\"x\"", &message), 0);
	assert_int_equal(selector_add(&selector, "pod=\"x\"", &message), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(selectors_choose_samples),
		cmocka_unit_test(one_of_several_values_is_enough),
		cmocka_unit_test(no_values_select_everything),
		cmocka_unit_test(wrong_selectors_are_refused_with_the_place),
		cmocka_unit_test(there_is_a_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
