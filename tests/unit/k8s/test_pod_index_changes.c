/* SPDX-License-Identifier: Apache-2.0 */
/* What an index tells of its changes, what its tombstones keep, and lists that only complete it. */
#include "k8s/pod_index.h"

#include "base/strbuf.h"
#include "k8s/pod_table.h"

#include <string.h>

#include "pod_bodies.h"
#include "pod_list_text.h"
#include "torture.h"
#include "unit.h"

#define MAX_BYTES ((size_t)16 << 20)
#define T0 (1000 * NSEC_PER_SEC)
#define SECOND NSEC_PER_SEC
#define UID_A "aaaaaaaa-2778-49ae-92ed-f9f23d29979f"
#define UID_B "bbbbbbbb-2778-49ae-92ed-f9f23d29979f"
#define UID_C "cccccccc-2778-49ae-92ed-f9f23d29979f"
#define HEX_60 "161f157008fcd435bc367b459d2cdd4af67bb71c4041411e75d9901d51b6"
#define ID_1 "0001" HEX_60
#define ID_2 "0002" HEX_60
#define ID_3 "0003" HEX_60
#define SANDBOX_ID "ffff" HEX_60

/* A pod whose metadata and whose container's status have more to say. */
#define POD_WITH(name, uid, id, metadata, status)                                                  \
	"{\"metadata\":{\"name\":\"" name "\",\"namespace\":\"x\",\"uid\":\"" uid "\"" metadata    \
	"},\"spec\":{\"containers\":[{}]},\"status\":{\"containerStatuses\":[{\"name\":\"main\""   \
	",\"image\":\"i:1\",\"containerID\":\"containerd://" id "\"" status "}]}}"
#define POD(name, uid, id) POD_WITH(name, uid, id, "", "")

static struct pod_index *new_index(size_t max_pods)
{
	struct pod_index *index = NULL;

	assert_int_equal(pod_index_new(max_pods, &index), 0);
	return index;
}

static struct pod_list *parse(const char *items)
{
	static const char *const annotations[] = { "team" };
	static const struct pod_list_opts opts = {
		.max_bytes = MAX_BYTES,
		.annotation_keys = annotations,
		.nr_annotation_keys = array_len(annotations),
	};
	_cleanup_(strbuf_done) struct strbuf body = strbuf_with_max(MAX_BYTES);
	struct pod_list *list = NULL;

	strbuf_appendf(&body, "{\"kind\":\"PodList\",\"items\":[%s]}", items);
	assert_int_equal(pod_list_parse(body.data, body.len, &opts, &list), 0);
	return list;
}

static int update(struct pod_index *index, const char *items, uint64_t now_ns)
{
	return pod_index_update(index, parse(items), now_ns);
}

/* As found in log directories. */
static int complete(struct pod_index *index, const char *items, uint64_t now_ns)
{
	struct pod_list *list = parse(items);

	for (size_t i = 0; i < list->nr_pods; i++) {
		list->pods[i].source = POD_FROM_LOGS;
		list->pods[i].has_all_ids = false;
	}
	return pod_index_complete(index, list, now_ns);
}

static struct cgroup_owner container_of_pod(const char *uid, const char *id)
{
	struct cgroup_owner owner = { .kind = CGROUP_CONTAINER };

	snprintf(owner.pod_uid, sizeof(owner.pod_uid), "%s", uid);
	snprintf(owner.container_id, sizeof(owner.container_id), "%s", id);
	return owner;
}

/* "pod/container", with "?" for what is not known and "!" behind what is final. */
static void describe(const struct pod_match *match, void *data)
{
	const char *container = match->container    ? match->container->name
				: match->is_sandbox ? SANDBOX_NAME
						    : "?";

	snprintf(data, 64, "%s/%s%s", match->pod ? match->pod->name : "?", container,
		 match->is_final ? "!" : "");
}

/* Looks a container up, as seen at T0. */
static void assert_found(struct pod_index *index, const char *uid, const char *id,
			 const char *expected)
{
	struct cgroup_owner owner = container_of_pod(uid, id);
	char text[64];

	pod_index_find(index, &owner, T0, describe, text);
	assert_string_equal(text, expected);
}

#define LABELS ",\"labels\":{\"app\":\"web\",\"tier\":\"1\"}"
#define ANNOTATIONS ",\"annotations\":{\"team\":\"blue\"}"
#define POD_A POD_WITH("a", UID_A, ID_1, LABELS ANNOTATIONS, ",\"restartCount\":1")
#define POD_B POD("b", UID_B, ID_2)

static void a_list_like_the_last_one_is_no_change(void **state)
{
	_cleanup_(pod_index_freep) struct pod_index *index = new_index(10);
	(void)state;

	uint64_t first = pod_index_generation(index);
	assert_int_equal(update(index, "", T0), 0);
	assert_int_equal(pod_index_generation(index), first);
	assert_int_equal(update(index, POD_A "," POD_B, T0), 0);
	uint64_t generation = pod_index_generation(index);
	assert_true(generation > first);
	assert_int_equal(update(index, POD_A "," POD_B, T0 + SECOND), 0);
	assert_int_equal(update(index, POD_B "," POD_A, T0 + 2 * SECOND), 0);
	assert_int_equal(pod_index_generation(index), generation);
	assert_found(index, UID_A, ID_1, "a/main!");
}

static void any_other_list_is_a_change(void **state)
{
	static const char *const lists[] = {
		"",
		POD_A,
		POD_B,
		POD_A "," POD_B "," POD("c", UID_C, ID_3),
		POD_A "," POD("b", UID_C, ID_2),
		POD_A "," POD("c", UID_B, ID_2),
		POD_A "," POD("b", UID_B, ID_3),
		POD_A "," POD("b", UID_B, ""),
		POD_A "," POD_WITH("b", UID_B, ID_2, "", ",\"restartCount\":1"),
		POD_A
		"," POD_WITH("b", UID_B, ID_2, "",
			     ",\"lastState\":{\"terminated\":{\"containerID\":\"x://" ID_3 "\"}}"),
		POD_B "," POD_WITH("a", UID_A, ID_1, LABELS, ",\"restartCount\":1"),
		POD_B "," POD_WITH("a", UID_A, ID_1, ANNOTATIONS, ",\"restartCount\":1"),
		POD_B "," POD_WITH("a", UID_A, ID_1,
				   ",\"labels\":{\"app\":\"web\",\"tier\":\"2\"}" ANNOTATIONS,
				   ",\"restartCount\":1"),
		POD_B
		"," POD_WITH("a", UID_A, ID_1,
			     LABELS ",\"annotations\":{\"team\":\"blue\",\"flamelet.dev/profile\":"
				    "\"false\"}",
			     ",\"restartCount\":1"),
	};
	(void)state;

	for (size_t i = 0; i < array_len(lists); i++) {
		_cleanup_(pod_index_freep) struct pod_index *index = new_index(10);

		assert_int_equal(update(index, POD_A "," POD_B, T0), 0);
		uint64_t generation = pod_index_generation(index);
		assert_int_equal(update(index, lists[i], T0 + SECOND), 0);
		if (pod_index_generation(index) == generation)
			fail_msg("no change: %s", lists[i]);
	}
}

static void the_end_of_a_tombstone_is_a_change(void **state)
{
	_cleanup_(pod_index_freep) struct pod_index *index = new_index(10);
	(void)state;

	assert_int_equal(update(index, POD_A "," POD_B, T0), 0);
	assert_int_equal(update(index, POD_A, T0 + SECOND), 0);
	uint64_t generation = pod_index_generation(index);
	assert_int_equal(update(index, POD_A, T0 + SECOND + TOMBSTONE_NS), 0);
	assert_int_equal(pod_index_generation(index), generation);
	assert_int_equal(update(index, POD_A, T0 + SECOND + TOMBSTONE_NS + 1), 0);
	assert_true(pod_index_generation(index) > generation);
	assert_found(index, UID_B, ID_2, "?/?");
	assert_int_equal(pod_index_get_stats(index).nr_pods, 1);
	assert_int_equal(pod_index_get_stats(index).nr_containers, 1);
}

static void an_answer_that_waits_for_the_next_list_holds_until_then(void **state)
{
	_cleanup_(pod_index_freep) struct pod_index *index = new_index(10);
	(void)state;

	assert_int_equal(update(index, POD_A, T0), 0);
	assert_found(index, UID_A, SANDBOX_ID, "a/?");
	uint64_t generation = pod_index_generation(index);
	assert_int_equal(update(index, POD_A, T0 + SANDBOX_AFTER_NS), 0);
	assert_true(pod_index_generation(index) > generation);
	assert_found(index, UID_A, SANDBOX_ID, "a/POD!");

	generation = pod_index_generation(index);
	assert_int_equal(update(index, POD_A, T0 + 2 * SANDBOX_AFTER_NS), 0);
	assert_int_equal(pod_index_generation(index), generation);
}

static void check_pod_a(const struct pod_match *match, void *data)
{
	const struct pod *pod = match->pod;
	(void)data;

	assert_int_equal(pod->nr_labels, 2);
	assert_string_equal(pod->labels[0].key, "app");
	assert_string_equal(pod->labels[0].value, "web");
	assert_string_equal(pod->labels[1].key, "tier");
	assert_int_equal(pod->nr_attributes, 1);
	assert_string_equal(pod->attributes[0].key, "k8s.pod.annotation.team");
	assert_string_equal(pod->attributes[0].value, "blue");
	assert_int_equal(pod->nr_containers, 0);
	assert_string_equal(match->container->image_name, "i");
	assert_string_equal(match->container->image_tag, "1");
	assert_int_equal(match->container->restart_count, 1);
	assert_int_equal(match->seen_ns, T0);
}

static void a_tombstone_keeps_all_that_is_known(void **state)
{
	_cleanup_(pod_index_freep) struct pod_index *index = new_index(10);
	struct cgroup_owner owner = container_of_pod(UID_A, ID_1);
	(void)state;

	assert_int_equal(update(index, POD_A, T0), 0);
	pod_index_find(index, &owner, T0, check_pod_a, NULL);
	for (uint64_t i = 1; i < 4; i++) {
		assert_int_equal(update(index, i % 2 ? "" : POD_B, T0 + i), 0);
		pod_index_find(index, &owner, T0, check_pod_a, NULL);
	}
}

static void logs_add_pods_and_containers_and_take_nothing_away(void **state)
{
	_cleanup_(pod_index_freep) struct pod_index *index = new_index(10);
	(void)state;

	assert_int_equal(update(index, POD_A "," POD("gone", UID_C, ID_3), T0), 0);
	assert_int_equal(update(index, POD_A, T0), 0);
	assert_int_equal(
		complete(index, POD_B "," POD("other", UID_A, SANDBOX_ID) "," POD("c", UID_C, ID_1),
			 T0 + 2 * TOMBSTONE_NS),
		0);
	assert_found(index, UID_A, ID_1, "a/main!");
	assert_found(index, UID_B, ID_2, "b/main");
	assert_found(index, UID_A, SANDBOX_ID, "a/main!");
	assert_found(index, UID_C, ID_3, "gone/main!");
	assert_int_equal(pod_index_get_stats(index).nr_live, 2);
	assert_int_equal(pod_index_get_stats(index).nr_pods, 3);
}

static void logs_without_news_are_no_change(void **state)
{
	_cleanup_(pod_index_freep) struct pod_index *index = new_index(10);
	(void)state;

	assert_int_equal(update(index, POD_A, T0), 0);
	uint64_t generation = pod_index_generation(index);
	assert_int_equal(complete(index, "", T0), 0);
	assert_int_equal(complete(index, POD("other", UID_A, ID_1), T0 + SECOND), 0);
	assert_int_equal(pod_index_generation(index), generation);
	assert_int_equal(complete(index, POD_B, T0 + SECOND), 0);
	assert_int_equal(pod_index_generation(index), generation + 1);
	assert_int_equal(complete(index, POD_B, T0 + SECOND), 0);
	assert_int_equal(pod_index_generation(index), generation + 1);
}

static void a_pod_of_the_logs_is_replaced_by_the_kubelets(void **state)
{
	_cleanup_(pod_index_freep) struct pod_index *index = new_index(10);
	(void)state;

	assert_int_equal(complete(index, POD("log", UID_A, ID_1) "," POD("log", UID_C, ID_3), T0),
			 0);
	assert_found(index, UID_A, ID_1, "log/main");
	assert_int_equal(update(index, POD_A, T0 + SECOND), 0);
	assert_found(index, UID_A, ID_1, "a/main!");
	assert_found(index, UID_C, ID_3, "log/main");
	assert_int_equal(pod_index_get_stats(index).nr_live, 1);
	assert_int_equal(update(index, POD_A, T0 + SECOND + TOMBSTONE_NS + 1), 0);
	assert_found(index, UID_C, ID_3, "?/?");
}

static void for_the_pods_of_logs_the_oldest_tombstones_make_room(void **state)
{
	_cleanup_(pod_index_freep) struct pod_index *index = new_index(2);
	(void)state;

	assert_int_equal(update(index, POD_B, T0), 0);
	assert_int_equal(update(index, POD_A, T0 + SECOND), 0);
	assert_int_equal(complete(index, POD("log", UID_C, ID_3), T0 + 2 * SECOND), 0);
	assert_found(index, UID_A, ID_1, "a/main!");
	assert_found(index, UID_C, ID_3, "log/main");
	assert_found(index, UID_B, ID_2, "?/?");
	assert_int_equal(complete(index, POD("log", "uid-d", SANDBOX_ID), T0 + 2 * SECOND),
			 -ENOSPC);
	assert_found(index, UID_A, ID_1, "a/main!");
	assert_found(index, "uid-d", SANDBOX_ID, "?/?");
}

static void a_uid_or_an_id_that_is_listed_twice_is_the_first_ones(void **state)
{
	_cleanup_(pod_index_freep) struct pod_index *index = new_index(10);
	(void)state;

	assert_int_equal(update(index,
				POD("first", UID_A, ID_1) "," POD("second", UID_A, ID_2) "," POD(
					"third", UID_B, ID_1),
				T0),
			 0);
	assert_found(index, UID_A, ID_1, "first/main!");
	assert_found(index, UID_A, ID_2, "first/main!");
	assert_found(index, UID_B, ID_1, "first/main!");
	assert_int_equal(pod_index_get_stats(index).nr_live, 2);
}

static void want_of_memory_leaves_the_index_as_it_was(void **state)
{
	int (*const changes[])(struct pod_index * index, struct pod_list * list,
			       uint64_t now_ns) = {
		pod_index_update,
		pod_index_complete,
	};
	(void)state;

	for (size_t i = 0; i < array_len(changes); i++) {
		bool has_failed = true;

		for (unsigned int n = 1; has_failed; n++) {
			_cleanup_(pod_index_freep) struct pod_index *index = new_index(10);

			assert_int_equal(update(index, POD_A, T0), 0);
			uint64_t generation = pod_index_generation(index);
			struct pod_list *list = parse(POD_B);
			torture_begin(n);
			int r = changes[i](index, list, T0 + SECOND);
			has_failed = torture_end();
			assert_int_equal(r, has_failed ? -ENOMEM : 0);
			assert_int_equal(pod_index_generation(index), generation + !has_failed);
			assert_found(index, UID_A, ID_1, "a/main!");
			assert_found(index, UID_B, ID_2, has_failed ? "?/?" : "b/main!");
		}
	}
}

#define NR_MANY 5000

static void feed_reader(const char *bytes, size_t len, void *data)
{
	assert_int_equal(pod_list_reader_feed(data, bytes, len), 0);
}

static struct pod_list *make_many(size_t nr_pods)
{
	static const struct pod_list_opts opts = { .max_bytes = MAX_BYTES };
	_cleanup_(pod_list_reader_freep) struct pod_list_reader *reader = NULL;
	struct pod_list *list = NULL;

	assert_int_equal(pod_list_reader_new(&opts, &reader), 0);
	pod_bodies_make(nr_pods, feed_reader, reader);
	assert_int_equal(pod_list_reader_finish(reader, &list), 0);
	return list;
}

static void many_pods_take_little_memory(void **state)
{
	_cleanup_(pod_index_freep) struct pod_index *index = new_index(2 * NR_MANY);
	(void)state;

	assert_int_equal(pod_index_update(index, make_many(NR_MANY), T0), 0);
	size_t live_bytes = pod_index_get_stats(index).nr_bytes;
	assert_true(live_bytes < (size_t)4 << 20);
	assert_int_equal(update(index, "", T0 + SECOND), 0);
	assert_int_equal(pod_index_get_stats(index).nr_pods, NR_MANY);
	assert_true(pod_index_get_stats(index).nr_bytes <= live_bytes + ((size_t)1 << 20));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_list_like_the_last_one_is_no_change),
		cmocka_unit_test(any_other_list_is_a_change),
		cmocka_unit_test(the_end_of_a_tombstone_is_a_change),
		cmocka_unit_test(an_answer_that_waits_for_the_next_list_holds_until_then),
		cmocka_unit_test(a_tombstone_keeps_all_that_is_known),
		cmocka_unit_test(logs_add_pods_and_containers_and_take_nothing_away),
		cmocka_unit_test(logs_without_news_are_no_change),
		cmocka_unit_test(a_pod_of_the_logs_is_replaced_by_the_kubelets),
		cmocka_unit_test(for_the_pods_of_logs_the_oldest_tombstones_make_room),
		cmocka_unit_test(a_uid_or_an_id_that_is_listed_twice_is_the_first_ones),
		cmocka_unit_test(want_of_memory_leaves_the_index_as_it_was),
		cmocka_unit_test(many_pods_take_little_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
