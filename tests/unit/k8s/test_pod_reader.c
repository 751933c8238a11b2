/* SPDX-License-Identifier: Apache-2.0 */
/* What is kept of one pod: the fields that test_pod_list_reader.c has no recorded bodies for. */
#include "k8s/pod_reader.h"

#include "base/strbuf.h"

#include <string.h>

#include "unit.h"

#define LIST_MAX_BYTES ((size_t)1 << 20)
#define POD_BEGIN "{\"metadata\":{\"name\":\"a\",\"namespace\":\"b\",\"uid\":\"u\""
#define ID "9a4e161f157008fcd435bc367b459d2cdd4af67bb71c4041411e75d9901d51b6"
#define ID_2 "5cc219b0fd923c5bcdee0c9d5ca24ec9de5d9a35da006dfb35f80bad54553508"
#define SHA "sha256:b108355ba8c023ebd6bbdbce44989e894c7d1aabc65b1026b77c0380361509b4"

static const char *const label_keys[] = { "app", "example.com/*" };
static const char *const annotation_keys[] = { "team" };
static const struct pod_list_opts opts = {
	.max_bytes = LIST_MAX_BYTES,
	.label_keys = label_keys,
	.nr_label_keys = array_len(label_keys),
	.annotation_keys = annotation_keys,
	.nr_annotation_keys = array_len(annotation_keys),
};

/* A reader and the one pod it read. */
struct fixture {
	struct pod_list list;
	struct pod_reader reader;
	struct pod pod;
	int result;
};

static void fixture_done(struct fixture *fixture)
{
	arena_done(&fixture->list.arena);
}

static void read_text(struct fixture *fixture, const char *json)
{
	*fixture = (struct fixture){ .reader = { .opts = &opts, .list = &fixture->list } };
	fixture->result = pod_reader_read(&fixture->reader, json, strlen(json), &fixture->pod);
}

static void assert_attributes(const struct pod_attribute *attributes, size_t nr,
			      const struct pod_attribute *expected, size_t nr_expected)
{
	assert_int_equal(nr, nr_expected);
	for (size_t i = 0; i < nr; i++) {
		assert_string_equal(attributes[i].key, expected[i].key);
		assert_string_equal(attributes[i].value, expected[i].value);
	}
}

static void labels_are_kept_and_those_listed_are_attributes(void **state)
{
	static const struct pod_attribute labels[] = {
		{ "app", "web" },
		{ "example.com/a", "\xc3\xa9" },
		{ "pod-template-hash", "5b5cc55988" },
		{ "empty", "" },
	};
	static const struct pod_attribute attributes[] = {
		{ "k8s.pod.label.app", "web" },
		{ "k8s.pod.label.example.com/a", "\xc3\xa9" },
	};
	_cleanup_(fixture_done) struct fixture fixture;
	(void)state;

	read_text(&fixture, POD_BEGIN ",\"labels\":{\"app\":\"web\",\"wrong\":1,\"example.com/a\":"
				      "\"\\u00e9\",\"pod-template-hash\":\"5b5cc55988\","
				      "\"empty\":\"\"}}}");
	assert_int_equal(fixture.result, 1);
	assert_attributes(fixture.pod.labels, fixture.pod.nr_labels, labels, array_len(labels));
	assert_attributes(fixture.pod.attributes, fixture.pod.nr_attributes, attributes,
			  array_len(attributes));
}

static void annotations_are_attributes_where_they_are_listed_or_meant_to_be(void **state)
{
	static const struct pod_attribute attributes[] = {
		{ "service.version", "1.2" },
		{ "service.instance.id", "i" },
		{ "k8s.pod.annotation.team", "blue" },
	};
	_cleanup_(fixture_done) struct fixture fixture;
	(void)state;

	read_text(&fixture, POD_BEGIN
		  ",\"annotations\":{\"resource.opentelemetry.io/service.version\":\"1.2\","
		  "\"resource.opentelemetry.io/k8s.pod.uid\":\"forged\","
		  "\"resource.opentelemetry.io/container.id\":\"forged\","
		  "\"resource.opentelemetry.io/service.name\":\"web\","
		  "\"resource.opentelemetry.io/service.namespace\":\"shop\","
		  "\"resource.opentelemetry.io/service.instance.id\":\"i\","
		  "\"team\":\"blue\",\"teams\":\"red\"}}}");
	assert_int_equal(fixture.result, 1);
	assert_attributes(fixture.pod.attributes, fixture.pod.nr_attributes, attributes,
			  array_len(attributes));
	assert_string_equal(fixture.pod.service_name, "web");
	assert_string_equal(fixture.pod.service_namespace, "shop");
	assert_int_equal(fixture.pod.nr_labels, 0);
	assert_int_equal(fixture.list.nr_left_out, 0);
}

static void labels_and_attributes_of_a_wrong_type_are_as_if_missing(void **state)
{
	static const char *const pods[] = {
		POD_BEGIN ",\"labels\":null,\"annotations\":null}}",
		POD_BEGIN ",\"labels\":[\"app\"],\"annotations\":[\"team\"]}}",
		POD_BEGIN ",\"labels\":\"app\",\"annotations\":\"team\"}}",
		POD_BEGIN ",\"labels\":{\"app\":null},\"annotations\":{\"team\":[]}}}",
		POD_BEGIN ",\"labels\":{\"app\":{}},\"annotations\":"
			  "{\"flamelet.dev/profile\":false}}}",
	};
	(void)state;

	for (size_t i = 0; i < array_len(pods); i++) {
		_cleanup_(fixture_done) struct fixture fixture;

		read_text(&fixture, pods[i]);
		assert_int_equal(fixture.result, 1);
		assert_int_equal(fixture.pod.nr_labels, 0);
		assert_int_equal(fixture.pod.nr_attributes, 0);
		assert_false(fixture.pod.is_opted_out);
	}
}

static void labels_and_attributes_beyond_the_limits_are_counted(void **state)
{
	_cleanup_(strbuf_done) struct strbuf json = strbuf_with_max(LIST_MAX_BYTES);
	_cleanup_(fixture_done) struct fixture fixture;
	(void)state;

	strbuf_append_str(&json, POD_BEGIN ",\"labels\":{\"first\":\"\"");
	for (size_t i = 0; i < POD_LABELS_MAX; i++)
		strbuf_appendf(&json, ",\"example.com/%zu\":\"v\"", i);
	strbuf_append_str(&json, "}}}");
	read_text(&fixture, strbuf_str(&json));
	assert_int_equal(fixture.result, 1);
	assert_int_equal(fixture.pod.nr_labels, POD_LABELS_MAX);
	assert_int_equal(fixture.pod.nr_attributes, POD_ATTRIBUTES_MAX);
	assert_int_equal(fixture.list.nr_left_out, 1 + POD_LABELS_MAX - POD_ATTRIBUTES_MAX);
}

static void keys_and_values_are_cut_at_their_limits(void **state)
{
	_cleanup_(strbuf_done) struct strbuf json = strbuf_with_max(LIST_MAX_BYTES);
	_cleanup_(fixture_done) struct fixture fixture;
	(void)state;

	strbuf_appendf(&json, POD_BEGIN ",\"labels\":{\"example.com/%0*d\":\"%0*d\\u00e9\"}}}",
		       POD_KEY_MAX, 0, POD_VALUE_MAX - 1, 0);
	read_text(&fixture, strbuf_str(&json));
	assert_int_equal(fixture.result, 1);
	assert_int_equal(strlen(fixture.pod.labels[0].key), POD_KEY_MAX);
	assert_int_equal(strlen(fixture.pod.labels[0].value), POD_VALUE_MAX - 1);
	assert_int_equal(strlen(fixture.pod.attributes[0].key), POD_KEY_MAX);
}

static void only_the_word_false_opts_out(void **state)
{
	static const struct {
		const char *value;
		bool is_opted_out;
	} cases[] = {
		{ "false", true }, { "true", false }, { "False", false },
		{ "", false },	   { "0", false },    { "false ", false },
	};
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		_cleanup_(strbuf_done) struct strbuf json = strbuf_with_max(LIST_MAX_BYTES);
		_cleanup_(fixture_done) struct fixture fixture;

		strbuf_appendf(&json,
			       POD_BEGIN ",\"annotations\":{\"flamelet.dev/profile\":\"%s\"}}}",
			       cases[i].value);
		read_text(&fixture, strbuf_str(&json));
		assert_int_equal(fixture.pod.is_opted_out, cases[i].is_opted_out);
	}
}

/* A pod of one container; its spec's image, its status. */
#define POD_OF(spec_image, status)                                                                 \
	POD_BEGIN "},\"spec\":{\"containers\":[{\"name\":\"other\",\"image\":\"wrong:1\"},"        \
		  "{\"name\":\"c\",\"image\":\"" spec_image                                        \
		  "\"}]},\"status\":{\"startTime\":\"2026-11-21T03:37:49Z\","                      \
		  "\"containerStatuses\":[{\"name\":\"c\"," status "}]}}"

static void the_image_is_the_statuss_unless_it_is_an_id(void **state)
{
	static const struct {
		const char *json;
		const char *name;
		const char *tag;
	} cases[] = {
#define CASE_OF(spec_image, status_image)                                                          \
	POD_OF(spec_image, "\"containerID\":\"x://" ID "\",\"image\":\"" status_image "\"")
		{ CASE_OF("web:latest", "docker.io/library/web:1"), "docker.io/library/web", "1" },
		{ CASE_OF("web:latest", "docker.io/web@" SHA), "docker.io/web", "" },
		{ CASE_OF("reg:5000/web:2@" SHA, SHA), "reg:5000/web", "2" },
		{ CASE_OF("web:2", ""), "web", "2" },
		{ CASE_OF(SHA, SHA), "", "" },
		{ CASE_OF("", SHA), "", "" },
	};
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		_cleanup_(fixture_done) struct fixture fixture;

		read_text(&fixture, cases[i].json);
		assert_int_equal(fixture.pod.nr_containers, 1);
		assert_string_equal(fixture.pod.containers[0].image_name, cases[i].name);
		assert_string_equal(fixture.pod.containers[0].image_tag, cases[i].tag);
		assert_string_equal(fixture.pod.start_time, "2026-11-21T03:37:49Z");
	}
}

#define LAST(id) "\"lastState\":{\"terminated\":{\"containerID\":\"x://" id "\"}}"

static void restarts_are_counted_for_each_id(void **state)
{
	static const struct {
		const char *json;
		size_t nr_containers;
		uint32_t counts[2];
	} cases[] = {
#define COUNT_OF(count, rest)                                                                      \
	POD_OF("i", "\"containerID\":\"x://" ID "\",\"restartCount\":" count rest)
		{ COUNT_OF("0", ""), 1, { 0 } },
		{ COUNT_OF("3", ""), 1, { 3 } },
		{ COUNT_OF("3", "," LAST(ID_2)), 2, { 3, 2 } },
		{ COUNT_OF("0", "," LAST(ID_2)), 2, { 0, 0 } },

		/* one that waits to be restarted */
		{ COUNT_OF("3", "," LAST(ID)), 1, { 3 } },
		{ POD_OF("i", "\"restartCount\":3," LAST(ID_2)), 1, { 2 } },

		{ COUNT_OF("-1", ""), 1, { 0 } },
		{ COUNT_OF("\"3\"", ""), 1, { 0 } },
		{ COUNT_OF("null", ""), 1, { 0 } },
		{ COUNT_OF("2.9", ""), 1, { 2 } },
		{ COUNT_OF("4294967295", ""), 1, { UINT32_MAX } },
		{ COUNT_OF("1e300", ""), 1, { UINT32_MAX } },
		{ COUNT_OF("1e999", ""), 1, { UINT32_MAX } },
	};
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		_cleanup_(fixture_done) struct fixture fixture;

		read_text(&fixture, cases[i].json);
		assert_int_equal(fixture.pod.nr_containers, cases[i].nr_containers);
		for (size_t j = 0; j < cases[i].nr_containers; j++)
			assert_int_equal(fixture.pod.containers[j].restart_count,
					 cases[i].counts[j]);
	}
}

static void containers_beyond_the_limit_are_counted(void **state)
{
	_cleanup_(strbuf_done) struct strbuf json = strbuf_with_max(LIST_MAX_BYTES);
	_cleanup_(fixture_done) struct fixture fixture;
	(void)state;

	strbuf_append_str(&json, POD_BEGIN "},\"status\":{\"containerStatuses\":[");
	for (size_t i = 0; i < POD_CONTAINERS_MAX + 1; i++)
		strbuf_appendf(&json, "%s{\"containerID\":\"x://" ID "\"}", i ? "," : "");
	strbuf_append_str(&json, "]}}");
	read_text(&fixture, strbuf_str(&json));
	assert_int_equal(fixture.result, 1);
	assert_int_equal(fixture.pod.nr_containers, POD_CONTAINERS_MAX - 1);
	assert_int_equal(fixture.list.nr_left_out, 2);
}

static void what_is_no_pod_or_no_json_is_told_apart(void **state)
{
	static const struct {
		const char *json;
		int result;
	} cases[] = {
		{ "{}", 0 },
		{ "null", 0 },
		{ "[]", 0 },
		{ POD_BEGIN "}}", 1 },
		{ "", -EBADMSG },
		{ "{", -EBADMSG },
		{ "nul", -EBADMSG },
		{ POD_BEGIN "}} ", 1 },
		{ POD_BEGIN "}}}", -EBADMSG },
		{ POD_BEGIN "\"a\"}}", -EBADMSG },
		{ POD_BEGIN ",\"a\":\"\\q\"}}", -EBADMSG },
	};
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		_cleanup_(fixture_done) struct fixture fixture;

		read_text(&fixture, cases[i].json);
		assert_int_equal(fixture.result, cases[i].result);
	}
}

/* Two million elements of two bytes each: 64 bytes of tree for each. */
static void a_tree_without_bounds_is_no_pod(void **state)
{
	_cleanup_(strbuf_done) struct strbuf json = strbuf_with_max(POD_ITEM_MAX_BYTES);
	_cleanup_(fixture_done) struct fixture fixture;
	(void)state;

	strbuf_append_str(&json, POD_BEGIN ",\"a\":[0");
	while (json.len < POD_ITEM_MAX_BYTES - 8)
		strbuf_append_str(&json, ",0");
	strbuf_append_str(&json, "]}}");
	read_text(&fixture, strbuf_str(&json));
	assert_int_equal(fixture.result, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(labels_are_kept_and_those_listed_are_attributes),
		cmocka_unit_test(annotations_are_attributes_where_they_are_listed_or_meant_to_be),
		cmocka_unit_test(labels_and_attributes_of_a_wrong_type_are_as_if_missing),
		cmocka_unit_test(labels_and_attributes_beyond_the_limits_are_counted),
		cmocka_unit_test(keys_and_values_are_cut_at_their_limits),
		cmocka_unit_test(only_the_word_false_opts_out),
		cmocka_unit_test(the_image_is_the_statuss_unless_it_is_an_id),
		cmocka_unit_test(restarts_are_counted_for_each_id),
		cmocka_unit_test(containers_beyond_the_limit_are_counted),
		cmocka_unit_test(what_is_no_pod_or_no_json_is_told_apart),
		cmocka_unit_test(a_tree_without_bounds_is_no_pod),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
