/* SPDX-License-Identifier: Apache-2.0 */
#include "k8s/pod_list_reader.h"

#include "base/fileio.h"
#include "k8s/pod_reader.h"

#include <fcntl.h>
#include <malloc.h>
#include <string.h>

#include "pod_bodies.h"
#include "pod_list_text.h"
#include "torture.h"
#include "unit.h"

#define BODY_MAX_BYTES ((size_t)2 << 20)
#define LIST_MAX_BYTES ((size_t)1 << 20)
#define UID "43ef20e3-2778-49ae-92ed-f9f23d29979f"
#define ID "9a4e161f157008fcd435bc367b459d2cdd4af67bb71c4041411e75d9901d51b6"
#define ID_2 "5cc219b0fd923c5bcdee0c9d5ca24ec9de5d9a35da006dfb35f80bad54553508"

static const struct pod_list_opts list_opts = { .max_bytes = LIST_MAX_BYTES };

static struct pod_list *parse_file(const char *path)
{
	_cleanup_(strbuf_done) struct strbuf body = strbuf_with_max(BODY_MAX_BYTES);
	struct pod_list *list = NULL;

	assert_int_equal(file_read_at(AT_FDCWD, path, &body), 0);
	assert_int_equal(pod_list_parse(body.data, body.len, &list_opts, &list), 0);
	return list;
}

static int parse_text(const char *text, struct pod_list **ret_list)
{
	return pod_list_parse(text, strlen(text), &list_opts, ret_list);
}

/* Parses a list of the one item given. */
static struct pod_list *parse_item(const char *item)
{
	_cleanup_(strbuf_done) struct strbuf body = strbuf_with_max(BODY_MAX_BYTES);
	struct pod_list *list = NULL;

	strbuf_appendf(&body, "{\"kind\":\"PodList\",\"items\":[%s]}", item);
	assert_int_equal(pod_list_parse(body.data, body.len, &list_opts, &list), 0);
	return list;
}

struct recorded_case {
	const char *path;
	size_t nr_pods;
	size_t nr_containers;
	size_t nr_with_all_ids;
};

static void recorded_bodies_give_all_their_pods_and_containers(void **state)
{
	const struct recorded_case cases[] = {
		{ FIXTURES_DIR "/kubelet/pods.json", 2, 5, 2 },
		{ pod_bodies_busy_node(), 102, 5, 2 },
		{ FIXTURES_DIR "/kubelet/pods-1.35.json", 18, 21, 16 },
		{ FIXTURES_DIR "/kubelet/pods-1.36.json", 14, 18, 12 },
		{ FIXTURES_DIR "/kubelet/apipods-1.36.json", 14, 18, 12 },
	};
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		_cleanup_(pod_list_freep) struct pod_list *list = parse_file(cases[i].path);
		size_t nr_containers = 0;
		size_t nr_with_all_ids = 0;

		for (size_t j = 0; j < list->nr_pods; j++) {
			nr_containers += list->pods[j].nr_containers;
			nr_with_all_ids += list->pods[j].has_all_ids;
		}
		assert_int_equal(list->nr_pods, cases[i].nr_pods);
		assert_int_equal(list->nr_skipped, 0);
		assert_int_equal(nr_containers, cases[i].nr_containers);
		assert_int_equal(nr_with_all_ids, cases[i].nr_with_all_ids);
	}
}

struct pod_case {
	const char *name;
	const char *uid;
	const char *workload_kind;
	const char *workload_name;
	const char *service_name;
	size_t nr_containers;
};

static const struct pod *find_pod(const struct pod_list *list, const char *name)
{
	for (size_t i = 0; i < list->nr_pods; i++)
		if (strcmp(list->pods[i].name, name) == 0)
			return &list->pods[i];
	fail_msg("no pod %s", name);
	return NULL;
}

static void recorded_pods_have_workload_and_service(void **state)
{
	static const struct pod_case cases[] = {
		{ "web-5b5cc55988-mjsx8", "43ef20e3-2778-49ae-92ed-f9f23d29979f", "Deployment",
		  "web", "web-svc", 1 },
		{ "ds-lwmg2", "4fc92629-e0af-479c-9258-03ce28f3f3ce", "DaemonSet", "ds", "ds", 1 },
		{ "db-0", "53b9c234-2cc3-4782-a38f-6a0b9af5244f", "StatefulSet", "db", "db", 1 },
		{ "tick-29920538-9g9tq", "ef2bf765-7d26-4c92-a7f3-1e94a84a79c5", "CronJob", "tick",
		  "tick", 1 },
		{ "once-wnl4h", "fbac3eb9-3e12-4c8c-a638-350644029be0", "Job", "once", "once", 1 },
		{ "static-node-1", "fd38b59a72cca1ae5023bfe6af2d1fae", "", "", "static-node-1", 1 },
		{ "multi", "e196c52d-0dd5-407c-aae0-653b986ab020", "", "", "multi", 4 },
		{ "crash", "6ab78a94-1921-4023-a531-adb0f32069f2", "", "", "crash", 2 },
		{ "pulling", "79e70e5a-07da-481d-b47c-588463f1a9f5", "", "", "pulling", 0 },
	};
	_cleanup_(pod_list_freep) struct pod_list *list = parse_file(FIXTURES_DIR
								     "/kubelet/pods-1.36.json");
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		const struct pod *pod = find_pod(list, cases[i].name);

		assert_string_equal(pod->uid, cases[i].uid);
		assert_string_equal(pod->node, "node-1");
		assert_string_equal(pod->workload_kind, cases[i].workload_kind);
		assert_string_equal(pod->workload_name, cases[i].workload_name);
		assert_string_equal(pod->service_name, cases[i].service_name);
		assert_string_equal(pod->service_namespace, pod->namespace);
		assert_int_equal(pod->nr_containers, cases[i].nr_containers);
	}
}

static void init_sidecar_and_ephemeral_containers_are_listed(void **state)
{
	static const struct pod_container expected[] = {
		{ "main", "5c38c32b0ef950a665e58b45f568b6be71b300b074ce41cc65e0030706a4551e",
		  "local.test/bb", "1", 0 },
		{ "init", "973c37b139e93cd37eee48ecceff6162afd6711299148d4925e41e4ad916a813",
		  "local.test/bb", "1", 0 },
		{ "sidecar", "64548a8ee7bec44049b6ec12ee078b1de5060de3288f212717d1adbd32c6aafb",
		  "local.test/bb", "1", 0 },
		{ "dbg", "f90ce8eeb28dc565c49363949c273a35ed5190e687d8244a978432b8cf91d421",
		  "local.test/bb", "1", 0 },
	};
	_cleanup_(pod_list_freep) struct pod_list *list = parse_file(FIXTURES_DIR
								     "/kubelet/pods-1.36.json");
	const struct pod *pod = find_pod(list, "multi");
	(void)state;

	assert_int_equal(pod->nr_containers, array_len(expected));
	for (size_t i = 0; i < array_len(expected); i++) {
		assert_string_equal(pod->containers[i].name, expected[i].name);
		assert_string_equal(pod->containers[i].id, expected[i].id);
		assert_string_equal(pod->containers[i].image_name, expected[i].image_name);
		assert_string_equal(pod->containers[i].image_tag, expected[i].image_tag);
		assert_int_equal(pod->containers[i].restart_count, expected[i].restart_count);
	}
	assert_true(pod->has_all_ids);
}

static void a_restarted_container_has_its_last_id_too(void **state)
{
	_cleanup_(pod_list_freep) struct pod_list *list = parse_file(FIXTURES_DIR
								     "/kubelet/pods.json");
	const struct pod *pod = find_pod(list, "crash-node-1");
	(void)state;

	assert_int_equal(pod->nr_containers, 2);
	assert_string_equal(pod->containers[0].name, "c");
	assert_string_equal(pod->containers[0].id,
			    "107458ae6100b45c61f1e7f3f2f472f1a51e839c0faa3dc379d023d3c9ceb7e6");
	assert_string_equal(pod->containers[1].name, "c");
	assert_string_equal(pod->containers[1].id,
			    "61b4e219453c9af1d67a3b2dcf3800210e62d8faadbf81ae5fc461ea8ff05119");
}

static void a_mirror_pod_has_no_workload(void **state)
{
	_cleanup_(pod_list_freep) struct pod_list *list = parse_file(FIXTURES_DIR
								     "/kubelet/apipods-1.36.json");
	const struct pod *pod = find_pod(list, "static-node-1");
	(void)state;

	assert_string_equal(pod->uid, "b254a05b-0d6a-4ec1-b4d6-d14f487cdfcc");
	assert_string_equal(pod->workload_kind, "");
	assert_string_equal(pod->service_name, "static-node-1");
}

static void lists_without_pods_are_empty(void **state)
{
	static const char *const bodies[] = {
		"{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"metadata\":{},\"items\":null}\n",
		"{\"kind\":\"PodList\",\"items\":[]}",
		" {\"items\":[],\"kind\":\"List\"} \r\n\t",
	};
	(void)state;

	for (size_t i = 0; i < array_len(bodies); i++) {
		_cleanup_(pod_list_freep) struct pod_list *list = NULL;

		assert_int_equal(parse_text(bodies[i], &list), 0);
		assert_int_equal(list->nr_pods, 0);
		assert_int_equal(list->nr_skipped, 0);
	}
}

static void what_is_no_pod_list_is_refused(void **state)
{
	static const char *const bodies[] = {
		"",
		" ",
		"null",
		"[]",
		"\"PodList\"",
		"{}",
		"{\"kind\":\"PodList\"}",
		"{\"kind\":\"PodList\",\"items\":{}}",
		"{\"kind\":\"PodList\",\"items\":\"none\"}",
		"{\"kind\":\"PodList\",\"items\":[]",
		"{\"kind\":\"PodList\",\"items\":[]}}",
		"{\"kind\":\"PodList\",\"items\":[]} x",
		"{\"kind\":\"Status\",\"items\":[]}",
		"{\"kind\":7,\"items\":[]}",
		"{\"items\":[]}",
		"Unauthorized",
		"\x01\xff{\"kind\":\"PodList\",\"items\":[]}",
	};
	(void)state;

	for (size_t i = 0; i < array_len(bodies); i++) {
		struct pod_list *list = NULL;

		if (parse_text(bodies[i], &list) != -EBADMSG)
			fail_msg("accepted %s", bodies[i]);
		assert_null(list);
	}
}

static void every_cut_of_a_recorded_body_is_refused(void **state)
{
	_cleanup_(strbuf_done) struct strbuf body = strbuf_with_max(BODY_MAX_BYTES);
	(void)state;

	assert_int_equal(file_read_at(AT_FDCWD, FIXTURES_DIR "/kubelet/pods.json", &body), 0);
	size_t last_brace = (size_t)(strrchr(body.data, '}') - body.data);
	for (size_t len = 0; len <= last_brace; len++) {
		struct pod_list *list = NULL;

		assert_int_equal(pod_list_parse(body.data, len, &list_opts, &list), -EBADMSG);
	}
}

static void items_that_cannot_be_identified_are_counted(void **state)
{
	static const char *const items[] = {
		"null",
		"7",
		"\"pod\"",
		"[]",
		"{}",
		"{\"metadata\":null}",
		"{\"metadata\":[\"name\",\"uid\"]}",
		"{\"metadata\":{\"name\":\"a\",\"namespace\":\"b\"}}",
		"{\"metadata\":{\"name\":\"a\",\"uid\":\"" UID "\"}}",
		"{\"metadata\":{\"namespace\":\"b\",\"uid\":\"" UID "\"}}",
		"{\"metadata\":{\"name\":1,\"namespace\":\"b\",\"uid\":\"" UID "\"}}",
		"{\"metadata\":{\"name\":\"\",\"namespace\":\"b\",\"uid\":\"" UID "\"}}",
		"{\"metadata\":{\"name\":\"\xff\",\"namespace\":\"b\",\"uid\":\"" UID "\"}}",
	};
	(void)state;

	for (size_t i = 0; i < array_len(items); i++) {
		_cleanup_(pod_list_freep) struct pod_list *list = parse_item(items[i]);

		assert_int_equal(list->nr_pods, 0);
		assert_int_equal(list->nr_skipped, 1);
	}
}

#define METADATA "\"metadata\":{\"name\":\"a\",\"namespace\":\"b\",\"uid\":\"" UID "\"}"

static void parts_of_a_wrong_type_are_as_if_missing(void **state)
{
	static const char *const items[] = {
		"{" METADATA "}",
		"{" METADATA ",\"spec\":[],\"status\":[]}",
		"{" METADATA ",\"spec\":\"x\",\"status\":\"y\"}",
		"{" METADATA ",\"status\":{\"containerStatuses\":null}}",
		"{" METADATA ",\"status\":{\"containerStatuses\":[null,1,\"x\",[],{}]}}",
		"{" METADATA ",\"status\":{\"containerStatuses\":[{\"containerID\":7}]}}",
		"{" METADATA ",\"status\":{\"containerStatuses\":[{\"containerID\":\"\"}]}}",
		"{" METADATA ",\"status\":{\"containerStatuses\":[{\"containerID\":\"" ID "\"}]}}",
		"{" METADATA ",\"status\":{\"containerStatuses\":[{\"containerID\":\"x://\"}]}}",
		"{" METADATA ",\"status\":{\"containerStatuses\":[{\"containerID\":\"x://" ID
		"0\"}]}}",
		"{" METADATA ",\"status\":{\"containerStatuses\":[{\"lastState\":[]}]}}",
		"{" METADATA ",\"status\":{\"containerStatuses\":[{\"lastState\":"
		"{\"terminated\":{\"containerID\":null}}}]}}",
	};
	(void)state;

	for (size_t i = 0; i < array_len(items); i++) {
		_cleanup_(pod_list_freep) struct pod_list *list = parse_item(items[i]);

		assert_int_equal(list->nr_pods, 1);
		assert_string_equal(list->pods[0].service_name, "a");
		assert_string_equal(list->pods[0].node, "");
		assert_int_equal(list->pods[0].nr_containers, 0);
		assert_false(list->pods[0].has_all_ids);
	}
}

static void a_pod_has_all_ids_when_each_container_of_its_spec_has_one(void **state)
{
	_cleanup_(pod_list_freep) struct pod_list *partly = parse_item(
		"{" METADATA ",\"spec\":{\"containers\":[{},{}]},\"status\":"
		"{\"containerStatuses\":[{\"containerID\":\"x://" ID
		"\"},{\"lastState\":{\"terminated\":{\"containerID\":\"x://" ID_2 "\"}}}]}}");
	_cleanup_(pod_list_freep) struct pod_list *wholly = parse_item(
		"{" METADATA ",\"spec\":{\"containers\":[{},{}]},\"status\":"
		"{\"containerStatuses\":[{\"containerID\":\"x://" ID
		"\"},{\"containerID\":\"x://" ID_2 "\"}]}}");
	(void)state;

	assert_int_equal(partly->pods[0].nr_containers, 2);
	assert_false(partly->pods[0].has_all_ids);
	assert_int_equal(wholly->pods[0].nr_containers, 2);
	assert_true(wholly->pods[0].has_all_ids);
}

#define X32 "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
#define X252 X32 X32 X32 X32 X32 X32 X32 "xxxxxxxxxxxxxxxxxxxxxxxxxxxx"

static void names_are_cut_at_the_limit_or_where_utf8_ends(void **state)
{
	static const struct {
		const char *name;
		const char *kept;
	} cases[] = {
		{ X252 "yz", X252 "y" },
		{ X252 "\xc3\xa9", X252 },
		{ "a\xc3\xa9z", "a\xc3\xa9z" },
		{ "a\xf0\x9f\x98\x80z", "a\xf0\x9f\x98\x80z" },
		{ "a\\ud83d\\ude00z", "a\xf0\x9f\x98\x80z" },
		{ "a\\u0000z", "a" },
		{ "a\xffz", "a" },
		{ "a\x80z", "a" },
		{ "a\xc0\x80z", "a" },
		{ "a\xc1\xbfz", "a" },
		{ "a\xe0\x9f\xbfz", "a" },
		{ "a\xed\xa0\x80z", "a" },
		{ "a\xf0\x8f\xbf\xbfz", "a" },
		{ "a\xf4\x90\x80\x80z", "a" },
		{ "a\xf5\x80\x80\x80z", "a" },
		{ "a\xe2\x82", "a" },
		{ "a\xe2z\x82", "a" },
	};
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		_cleanup_(strbuf_done) struct strbuf item = strbuf_with_max(4096);
		strbuf_appendf(&item,
			       "{\"metadata\":{\"name\":\"%s\",\"namespace\":\"b\",\"uid\":\"u\"}}",
			       cases[i].name);
		_cleanup_(pod_list_freep) struct pod_list *list = parse_item(item.data);

		assert_int_equal(list->nr_pods, 1);
		assert_string_equal(list->pods[0].name, cases[i].kept);
	}
}

static void nesting_beyond_reason_is_refused(void **state)
{
	static char body[200000];
	struct pod_list *list = NULL;
	(void)state;

	memset(body, '[', sizeof(body));
	assert_int_equal(pod_list_parse(body, sizeof(body), &list_opts, &list), -EBADMSG);
}

static void a_list_over_its_budget_is_refused(void **state)
{
	_cleanup_(strbuf_done) struct strbuf body = strbuf_with_max(BODY_MAX_BYTES);
	static const struct pod_list_opts small = { .max_bytes = 1000 };
	struct pod_list *list = NULL;
	(void)state;

	assert_int_equal(file_read_at(AT_FDCWD, pod_bodies_busy_node(), &body), 0);
	assert_int_equal(pod_list_parse(body.data, body.len, &small, &list), -ENOSPC);
	assert_null(list);
}

/* Reads a recorded body in pieces of `step` bytes. */
static struct pod_list *read_in_pieces(const struct strbuf *body, size_t step)
{
	_cleanup_(pod_list_reader_freep) struct pod_list_reader *reader = NULL;
	struct pod_list *list = NULL;

	assert_int_equal(pod_list_reader_new(&list_opts, &reader), 0);
	for (size_t at = 0; at < body->len; at += step) {
		size_t len = body->len - at < step ? body->len - at : step;

		assert_int_equal(pod_list_reader_feed(reader, body->data + at, len), 0);
	}
	assert_int_equal(pod_list_reader_finish(reader, &list), 0);
	return list;
}

static void a_body_may_come_in_pieces_of_any_size(void **state)
{
	static const size_t steps[] = { 1, 2, 1000, 16384 };
	_cleanup_(strbuf_done) struct strbuf body = strbuf_with_max(BODY_MAX_BYTES);
	(void)state;

	assert_int_equal(file_read_at(AT_FDCWD, FIXTURES_DIR "/kubelet/pods-1.36.json", &body), 0);
	_cleanup_(pod_list_freep) struct pod_list *whole = read_in_pieces(&body, body.len);
	for (size_t i = 0; i < array_len(steps); i++) {
		_cleanup_(pod_list_freep) struct pod_list *list = read_in_pieces(&body, steps[i]);

		assert_int_equal(list->nr_pods, whole->nr_pods);
		for (size_t j = 0; j < list->nr_pods; j++) {
			assert_true(pod_is_equal(&list->pods[j], &whole->pods[j]));
			assert_int_equal(list->pods[j].nr_containers, whole->pods[j].nr_containers);
		}
	}
}

static void after_an_error_all_that_follows_fails_alike(void **state)
{
	_cleanup_(pod_list_reader_freep) struct pod_list_reader *reader = NULL;
	struct pod_list *list = NULL;
	(void)state;

	assert_int_equal(pod_list_reader_new(&list_opts, &reader), 0);
	assert_int_equal(pod_list_reader_feed(reader, "[", 1), -EBADMSG);
	assert_int_equal(pod_list_reader_feed(reader, "{\"items\":[],\"kind\":\"List\"}", 26),
			 -EBADMSG);
	assert_int_equal(pod_list_reader_finish(reader, &list), -EBADMSG);
	assert_null(list);
}

static void a_pod_over_its_limit_is_skipped_and_the_others_are_listed(void **state)
{
	_cleanup_(strbuf_done) struct strbuf body = strbuf_with_max(2 * POD_ITEM_MAX_BYTES);
	_cleanup_(pod_list_freep) struct pod_list *list = NULL;
	(void)state;

	strbuf_append_str(&body, "{\"kind\":\"PodList\",\"items\":[{" METADATA "},{" METADATA
				 ",\"spec\":\"");
	memset(strbuf_extend(&body, POD_ITEM_MAX_BYTES), 'x', POD_ITEM_MAX_BYTES);
	strbuf_append_str(&body, "\"},{" METADATA "}]}");
	assert_int_equal(strbuf_error(&body), 0);
	assert_int_equal(pod_list_parse(body.data, body.len, &list_opts, &list), 0);
	assert_int_equal(list->nr_pods, 2);
	assert_int_equal(list->nr_skipped, 1);
}

#define NR_MANY 5000
#define MANY_MAX_BYTES ((size_t)4 << 20)
#define HEAP_MAX_BYTES (MANY_MAX_BYTES + ((size_t)3 << 20))

/* A reader, and the most heap that was in use while it read. */
struct measured {
	struct pod_list_reader *reader;
	size_t before;
	size_t peak;
};

static size_t heap_in_use(void)
{
	struct mallinfo2 info = mallinfo2();

	return info.uordblks + info.hblkhd;
}

static void feed_measured(const char *bytes, size_t len, void *data)
{
	struct measured *measured = data;

	assert_int_equal(pod_list_reader_feed(measured->reader, bytes, len), 0);
	size_t in_use = heap_in_use() - measured->before;
	if (in_use > measured->peak)
		measured->peak = in_use;
}

/* About fifty megabytes, whose JSON tree would be seven times as large. */
static void the_memory_for_a_large_list_is_that_of_what_is_kept(void **state)
{
	static const struct pod_list_opts opts = { .max_bytes = MANY_MAX_BYTES };
	_cleanup_(pod_list_freep) struct pod_list *list = NULL;
	struct measured measured = { .before = heap_in_use() };
	(void)state;

	assert_int_equal(pod_list_reader_new(&opts, &measured.reader), 0);
	size_t len = pod_bodies_make(NR_MANY, feed_measured, &measured);
	assert_true(len > (size_t)45 << 20);
	assert_int_equal(pod_list_reader_finish(measured.reader, &list), 0);
	pod_list_reader_free(measured.reader);
	assert_int_equal(list->nr_pods, NR_MANY);
	assert_int_equal(list->nr_skipped, 0);
	assert_true(list->arena.nr_bytes < MANY_MAX_BYTES);
	assert_true(measured.peak < HEAP_MAX_BYTES);
}

static void reading_fails_cleanly_for_want_of_memory(void **state)
{
	_cleanup_(strbuf_done) struct strbuf body = strbuf_with_max(BODY_MAX_BYTES);
	bool has_failed = true;
	(void)state;

	assert_int_equal(file_read_at(AT_FDCWD, FIXTURES_DIR "/kubelet/pods-1.36.json", &body), 0);
	for (unsigned int n = 1; has_failed; n++) {
		_cleanup_(pod_list_freep) struct pod_list *list = NULL;

		torture_begin(n);
		int r = pod_list_parse(body.data, body.len, &list_opts, &list);
		has_failed = torture_end();
		assert_int_equal(r, has_failed ? -ENOMEM : 0);
		assert_int_equal(list != NULL, r == 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(recorded_bodies_give_all_their_pods_and_containers),
		cmocka_unit_test(recorded_pods_have_workload_and_service),
		cmocka_unit_test(init_sidecar_and_ephemeral_containers_are_listed),
		cmocka_unit_test(a_restarted_container_has_its_last_id_too),
		cmocka_unit_test(a_mirror_pod_has_no_workload),
		cmocka_unit_test(lists_without_pods_are_empty),
		cmocka_unit_test(what_is_no_pod_list_is_refused),
		cmocka_unit_test(every_cut_of_a_recorded_body_is_refused),
		cmocka_unit_test(items_that_cannot_be_identified_are_counted),
		cmocka_unit_test(parts_of_a_wrong_type_are_as_if_missing),
		cmocka_unit_test(a_pod_has_all_ids_when_each_container_of_its_spec_has_one),
		cmocka_unit_test(names_are_cut_at_the_limit_or_where_utf8_ends),
		cmocka_unit_test(nesting_beyond_reason_is_refused),
		cmocka_unit_test(a_list_over_its_budget_is_refused),
		cmocka_unit_test(a_body_may_come_in_pieces_of_any_size),
		cmocka_unit_test(after_an_error_all_that_follows_fails_alike),
		cmocka_unit_test(a_pod_over_its_limit_is_skipped_and_the_others_are_listed),
		cmocka_unit_test(the_memory_for_a_large_list_is_that_of_what_is_kept),
		cmocka_unit_test(reading_fails_cleanly_for_want_of_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
