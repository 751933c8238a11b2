/* SPDX-License-Identifier: Apache-2.0 */
/* What the agent takes of a worker that may be anybody's: the pods. */
#include "k8s/pod_block.h"

#include "base/fileio.h"
#include "base/utf8.h"
#include "pod_bodies.h"
#include "pod_list_text.h"
#include "unit.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#define MAX_BYTES ((size_t)4 << 20)
#define ID "9a4e161f157008fcd435bc367b459d2cdd4af67bb71c4041411e75d9901d51b6"
#define NR_MUTATIONS 20000

static struct pod_list *parse_file(const char *path)
{
	const struct pod_list_opts opts = { .max_bytes = MAX_BYTES };
	_cleanup_(strbuf_done) struct strbuf body = strbuf_with_max(MAX_BYTES);
	struct pod_list *list = NULL;

	assert_int_equal(file_read_at(AT_FDCWD, path, &body), 0);
	assert_int_equal(pod_list_parse(body.data, body.len, &opts, &list), 0);
	return list;
}

static int read_block(const void *bytes, size_t len, size_t max_bytes, struct pod_list **ret_list)
{
	struct flat_reader reader = flat_reader(bytes, len);

	return pod_block_read(&reader, max_bytes, ret_list);
}

static void assert_lists_equal(const struct pod_list *a, const struct pod_list *b)
{
	assert_int_equal(a->nr_pods, b->nr_pods);
	assert_int_equal(a->nr_skipped, b->nr_skipped);
	assert_int_equal(a->nr_left_out, b->nr_left_out);
	for (size_t i = 0; i < a->nr_pods; i++) {
		assert_true(pod_is_equal(&a->pods[i], &b->pods[i]));
		assert_int_equal(a->pods[i].nr_containers, b->pods[i].nr_containers);
		for (size_t j = 0; j < a->pods[i].nr_containers; j++)
			assert_true(pod_container_is_equal(&a->pods[i].containers[j],
							   &b->pods[i].containers[j]));
	}
}

static void recorded_lists_are_read_as_they_were_written(void **state)
{
	const char *const paths[] = {
		FIXTURES_DIR "/kubelet/pods.json",
		FIXTURES_DIR "/kubelet/pods-1.36.json",
		pod_bodies_busy_node(),
	};
	(void)state;

	for (size_t i = 0; i < array_len(paths); i++) {
		_cleanup_(strbuf_done) struct strbuf block = strbuf_with_max(MAX_BYTES);
		_cleanup_(pod_list_freep) struct pod_list *list = parse_file(paths[i]);
		_cleanup_(pod_list_freep) struct pod_list *again = NULL;

		pod_block_append(&block, list);
		assert_int_equal(strbuf_error(&block), 0);
		assert_int_equal(read_block(block.data, block.len, MAX_BYTES, &again), 0);
		assert_lists_equal(list, again);
	}
}

/* A list of one pod, which has one label, attribute and container. */
struct one {
	struct pod_list list;
	struct pod pod;
	struct pod_attribute label, attribute;
	struct pod_container container;
};

static void make_one(struct one *one)
{
	*one = (struct one){
		.pod = { .name = "a",
			 .namespace = "b",
			 .uid = "u",
			 .node = "",
			 .start_time = "",
			 .workload_kind = "",
			 .workload_name = "",
			 .service_name = "s",
			 .service_namespace = "" },
		.label = { "key", "value" },
		.attribute = { "key", "value" },
		.container = { .name = "c", .id = ID, .image_name = "i", .image_tag = "" },
	};
	one->pod.labels = &one->label;
	one->pod.attributes = &one->attribute;
	one->pod.containers = &one->container;
	one->pod.nr_labels = one->pod.nr_attributes = one->pod.nr_containers = 1;
	one->list.pods = &one->pod;
	one->list.nr_pods = 1;
}

static int read_one(const struct one *one)
{
	_cleanup_(strbuf_done) struct strbuf block = strbuf_with_max(MAX_BYTES);
	_cleanup_(pod_list_freep) struct pod_list *list = NULL;

	pod_block_append(&block, &one->list);
	assert_int_equal(strbuf_error(&block), 0);
	return read_block(block.data, block.len, MAX_BYTES, &list);
}

static void texts_that_no_pod_has_are_refused(void **state)
{
	static char long_name[POD_NAME_MAX + 2], long_key[POD_KEY_MAX + 2];
	static char long_value[POD_VALUE_MAX + 2];
	struct one one;
	const struct {
		const char **where;
		const char *text;
		int result;
	} cases[] = {
		{ &one.pod.node, "n", 0 },
		{ &one.pod.node, long_name + 1, 0 },
		{ &one.label.key, long_key + 1, 0 },
		{ &one.label.value, long_value + 1, 0 },
		{ &one.container.name, "", 0 },

		{ &one.pod.name, "", -EBADMSG },
		{ &one.pod.namespace, "", -EBADMSG },
		{ &one.pod.uid, "", -EBADMSG },
		{ &one.pod.name, "\xff", -EBADMSG },
		{ &one.pod.node, long_name, -EBADMSG },
		{ &one.pod.start_time, "\xc3", -EBADMSG },
		{ &one.pod.workload_kind, long_name, -EBADMSG },
		{ &one.pod.workload_name, long_name, -EBADMSG },
		{ &one.pod.service_name, "\xed\xa0\x80", -EBADMSG },
		{ &one.pod.service_namespace, long_name, -EBADMSG },
		{ &one.label.key, long_key, -EBADMSG },
		{ &one.label.value, long_value, -EBADMSG },
		{ &one.attribute.key, "\x80", -EBADMSG },
		{ &one.attribute.value, long_value, -EBADMSG },
		{ &one.container.id, "", -EBADMSG },
		{ &one.container.id, ID "0", -EBADMSG },
		{ &one.container.id, "G" ID, -EBADMSG },
		{ &one.container.image_name, long_name, -EBADMSG },
		{ &one.container.image_tag, "\xff", -EBADMSG },
	};
	(void)state;

	memset(long_name, 'x', sizeof(long_name) - 1);
	memset(long_key, 'x', sizeof(long_key) - 1);
	memset(long_value, 'x', sizeof(long_value) - 1);
	for (size_t i = 0; i < array_len(cases); i++) {
		make_one(&one);
		*cases[i].where = cases[i].text;
		if (read_one(&one) != cases[i].result)
			fail_msg("case %zu is not %d", i, cases[i].result);
	}
}

static void more_of_a_kind_than_a_pod_has_is_refused(void **state)
{
	static struct pod_attribute attributes[POD_LABELS_MAX + 1];
	static struct pod_container containers[POD_CONTAINERS_MAX + 1];
	struct one one;
	(void)state;

	make_one(&one);
	for (size_t i = 0; i < array_len(attributes); i++)
		attributes[i] = one.label;
	for (size_t i = 0; i < array_len(containers); i++)
		containers[i] = one.container;
	const struct {
		size_t nr_labels, nr_attributes, nr_containers;
		int result;
	} cases[] = {
		{ POD_LABELS_MAX, POD_ATTRIBUTES_MAX, POD_CONTAINERS_MAX, 0 },
		{ 0, 0, 0, 0 },
		{ POD_LABELS_MAX + 1, 0, 0, -EBADMSG },
		{ 0, POD_ATTRIBUTES_MAX + 1, 0, -EBADMSG },
		{ 0, 0, POD_CONTAINERS_MAX + 1, -EBADMSG },
	};
	one.pod.labels = one.pod.attributes = attributes;
	one.pod.containers = containers;
	for (size_t i = 0; i < array_len(cases); i++) {
		one.pod.nr_labels = cases[i].nr_labels;
		one.pod.nr_attributes = cases[i].nr_attributes;
		one.pod.nr_containers = cases[i].nr_containers;
		assert_int_equal(read_one(&one), cases[i].result);
	}
}

static void counts_of_pods_that_are_not_there_take_no_memory(void **state)
{
	static const uint64_t counts[] = { 1, 1000, UINT32_MAX, UINT64_MAX / 64, UINT64_MAX };
	(void)state;

	for (size_t i = 0; i < array_len(counts); i++) {
		_cleanup_(strbuf_done) struct strbuf block = strbuf_with_max(MAX_BYTES);
		struct pod_list *list = NULL;

		flat_put_number(&block, 0);
		flat_put_number(&block, 0);
		flat_put_number(&block, counts[i]);
		assert_int_equal(read_block(block.data, block.len, MAX_BYTES, &list), -EBADMSG);
	}
}

static void a_list_over_its_memory_is_refused(void **state)
{
	_cleanup_(strbuf_done) struct strbuf block = strbuf_with_max(MAX_BYTES);
	_cleanup_(pod_list_freep) struct pod_list *list = parse_file(pod_bodies_busy_node());
	struct pod_list *again = NULL;
	(void)state;

	pod_block_append(&block, list);
	assert_int_equal(read_block(block.data, block.len, 4096, &again), -ENOSPC);
	assert_null(again);
}

static void check_list(const struct pod_list *list)
{
	for (size_t i = 0; i < list->nr_pods; i++) {
		const struct pod *pod = &list->pods[i];

		assert_true(pod->name[0] && pod->namespace[0] && pod->uid[0]);
		assert_true(utf8_is_valid(pod->name) && strlen(pod->name) <= POD_NAME_MAX);
		assert_true(pod->nr_labels <= POD_LABELS_MAX);
		assert_true(pod->nr_containers <= POD_CONTAINERS_MAX);
		for (size_t j = 0; j < pod->nr_containers; j++)
			assert_int_equal(strlen(pod->containers[j].id), strlen(ID));
	}
}

static void a_block_that_was_changed_is_refused_or_holds_what_it_may(void **state)
{
	_cleanup_(strbuf_done) struct strbuf block = strbuf_with_max(MAX_BYTES);
	_cleanup_(pod_list_freep) struct pod_list *list = parse_file(FIXTURES_DIR
								     "/kubelet/pods.json");
	static const unsigned char values[] = { 0, 1, 0x7f, 0x80, 0xff };
	unsigned int seed = 1;
	(void)state;

	pod_block_append(&block, list);
	for (size_t i = 0; i < NR_MUTATIONS; i++) {
		_cleanup_(pod_list_freep) struct pod_list *read = NULL;
		size_t at = (size_t)rand_r(&seed) % block.len;
		size_t len = i % 4 ? block.len : (size_t)rand_r(&seed) % block.len;
		char before = block.data[at];

		block.data[at] = (char)values[i % array_len(values)];
		if (read_block(block.data, len, MAX_BYTES, &read) == 0)
			check_list(read);
		block.data[at] = before;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(recorded_lists_are_read_as_they_were_written),
		cmocka_unit_test(texts_that_no_pod_has_are_refused),
		cmocka_unit_test(more_of_a_kind_than_a_pod_has_is_refused),
		cmocka_unit_test(counts_of_pods_that_are_not_there_take_no_memory),
		cmocka_unit_test(a_list_over_its_memory_is_refused),
		cmocka_unit_test(a_block_that_was_changed_is_refused_or_holds_what_it_may),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
