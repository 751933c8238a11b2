/* SPDX-License-Identifier: Apache-2.0 */
#include "k8s/pod_index.h"

#include "base/fileio.h"
#include "k8s/pod_table.h"

#include <fcntl.h>
#include <pthread.h>
#include <string.h>

#include "pod_list_text.h"
#include "unit.h"

#define MAX_BYTES ((size_t)2 << 20)
#define T0 (1000 * NSEC_PER_SEC)
#define UID_A "aaaaaaaa-2778-49ae-92ed-f9f23d29979f"
#define UID_B "bbbbbbbb-2778-49ae-92ed-f9f23d29979f"
#define HEX_60 "161f157008fcd435bc367b459d2cdd4af67bb71c4041411e75d9901d51b6"
#define ID_1 "0001" HEX_60
#define ID_2 "0002" HEX_60
#define ID_3 "0003" HEX_60
#define SANDBOX_ID "ffff" HEX_60

/* Pod "a" in namespace "x" with container "main"; the arguments are its UID and ID. */
#define POD(uid, id) POD_NAMED("x", "a", uid, id)
#define POD_NAMED(namespace, name, uid, id)                                                        \
	"{\"metadata\":{\"name\":\"" name                                                          \
	"\",\"namespace\":\"" namespace "\",\"uid\":\"" uid "\"},\"spec\":{\"containers\":[{}],"   \
					"\"nodeName\":\"n\"},\"status\":{"                         \
					"\"containerStatuses\":[{\"name\":\"main\",\"image\":\"i:" \
					"1\",\"containerID\":\"" id "\"}]}}"
#define CRI(id) "containerd://" id

static struct pod_index *new_index(size_t max_pods)
{
	struct pod_index *index = NULL;

	assert_int_equal(pod_index_new(max_pods, &index), 0);
	return index;
}

static const struct pod_list_opts list_opts = { .max_bytes = MAX_BYTES };

static int update(struct pod_index *index, const char *items, uint64_t now_ns)
{
	_cleanup_(strbuf_done) struct strbuf body = strbuf_with_max(MAX_BYTES);
	struct pod_list *list = NULL;

	strbuf_appendf(&body, "{\"kind\":\"PodList\",\"items\":[%s]}", items);
	assert_int_equal(pod_list_parse(body.data, body.len, &list_opts, &list), 0);
	return pod_index_update(index, list, now_ns);
}

static struct cgroup_owner container_of_pod(const char *uid, const char *id)
{
	struct cgroup_owner owner = { .kind = CGROUP_CONTAINER };

	snprintf(owner.pod_uid, sizeof(owner.pod_uid), "%s", uid);
	snprintf(owner.container_id, sizeof(owner.container_id), "%s", id);
	return owner;
}

/* What pod_index_find() says, as texts. */
struct found {
	char pod[POD_NAME_MAX + 1];
	char uid[POD_NAME_MAX + 1];
	char container[POD_NAME_MAX + 1];
	bool is_final;
};

static void copy_match(const struct pod_match *match, void *data)
{
	struct found *found = data;

	*found = (struct found){ .is_final = match->is_final };
	if (match->pod) {
		snprintf(found->pod, sizeof(found->pod), "%s", match->pod->name);
		snprintf(found->uid, sizeof(found->uid), "%s", match->pod->uid);
	}
	if (match->container)
		snprintf(found->container, sizeof(found->container), "%s", match->container->name);
	else if (match->is_sandbox)
		snprintf(found->container, sizeof(found->container), SANDBOX_NAME);
}

static struct found find_at(struct pod_index *index, const struct cgroup_owner *owner,
			    uint64_t seen_ns)
{
	struct found found;

	pod_index_find(index, owner, seen_ns, copy_match, &found);
	return found;
}

/* Looks a container up, as seen at T0, and compares what is found of it. */
static void assert_found(struct pod_index *index, const char *uid, const char *id, bool is_final,
			 const char *pod, const char *container)
{
	struct cgroup_owner owner = container_of_pod(uid, id);
	struct found found = find_at(index, &owner, T0);

	assert_int_equal(found.is_final, is_final);
	assert_string_equal(found.pod, pod);
	assert_string_equal(found.container, container);
}

static void check_all_fields(const struct pod_match *match, void *data)
{
	(void)data;
	assert_string_equal(match->pod->namespace, "x");
	assert_string_equal(match->pod->name, "a");
	assert_string_equal(match->pod->uid, UID_A);
	assert_string_equal(match->pod->node, "n");
	assert_string_equal(match->pod->workload_kind, "");
	assert_string_equal(match->pod->service_name, "a");
	assert_string_equal(match->pod->service_namespace, "x");
	assert_string_equal(match->container->name, "main");
	assert_string_equal(match->container->id, ID_1);
	assert_string_equal(match->container->image_name, "i");
	assert_string_equal(match->container->image_tag, "1");
	assert_true(match->is_final);
	assert_false(match->is_sandbox);
	assert_int_equal(match->seen_ns, T0);
}

static void a_known_container_has_all_its_names(void **state)
{
	_cleanup_(pod_index_freep) struct pod_index *index = new_index(10);
	struct cgroup_owner owner = container_of_pod(UID_A, ID_1);
	(void)state;

	assert_int_equal(update(index, POD(UID_A, CRI(ID_1)), T0), 0);
	pod_index_find(index, &owner, T0, check_all_fields, NULL);
}

static void what_is_unknown_is_not_final(void **state)
{
	_cleanup_(pod_index_freep) struct pod_index *index = new_index(10);
	(void)state;

	assert_found(index, UID_A, ID_1, false, "", "");
}

static void the_host_is_final_and_nobody(void **state)
{
	_cleanup_(pod_index_freep) struct pod_index *index = new_index(10);
	struct cgroup_owner owner = { .kind = CGROUP_HOST };
	struct found found = find_at(index, &owner, T0);
	(void)state;

	assert_true(found.is_final);
	assert_string_equal(found.pod, "");
}

static void a_pods_own_and_runtime_cgroups_are_the_pod(void **state)
{
	static const enum cgroup_kind kinds[] = { CGROUP_POD, CGROUP_RUNTIME };
	(void)state;

	for (size_t i = 0; i < array_len(kinds); i++) {
		_cleanup_(pod_index_freep) struct pod_index *index = new_index(10);
		struct cgroup_owner owner = container_of_pod(UID_A, "");

		owner.kind = kinds[i];
		assert_false(find_at(index, &owner, T0).is_final);
		assert_int_equal(update(index, POD(UID_A, CRI(ID_1)), T0), 0);

		struct found found = find_at(index, &owner, T0);
		assert_true(found.is_final);
		assert_string_equal(found.pod, "a");
		assert_string_equal(found.container, "");
	}
}

static void a_container_is_found_under_another_uid_or_none(void **state)
{
	_cleanup_(pod_index_freep) struct pod_index *index = new_index(10);
	struct cgroup_owner no_pod = container_of_pod("", ID_1);
	(void)state;

	assert_int_equal(update(index, POD(UID_A, CRI(ID_1)), T0), 0);
	assert_found(index, "fd38b59a72cca1ae5023bfe6af2d1fae", ID_1, true, "a", "main");

	no_pod.kind = CGROUP_CONTAINER_NO_POD;

	struct found found = find_at(index, &no_pod, T0);
	assert_true(found.is_final);
	assert_string_equal(found.uid, UID_A);
	assert_string_equal(found.container, "main");

	/* A user of the machine has made a cgroup with a container's ID for a name. */
	no_pod.is_users = true;
	found = find_at(index, &no_pod, T0);
	assert_true(found.is_final);
	assert_string_equal(found.uid, "");
	no_pod.is_users = false;

	no_pod.container_id[0] = 'e';
	found = find_at(index, &no_pod, T0);
	assert_true(found.is_final);
	assert_string_equal(found.uid, "");
}

static void a_container_without_its_id_yet_is_its_pod_and_not_final(void **state)
{
	_cleanup_(pod_index_freep) struct pod_index *index = new_index(10);
	(void)state;

	assert_int_equal(update(index, POD(UID_A, ""), T0 + 60 * NSEC_PER_SEC), 0);
	assert_found(index, UID_A, ID_1, false, "a", "");
	assert_int_equal(update(index, POD(UID_A, CRI(ID_1)), T0 + 61 * NSEC_PER_SEC), 0);
	assert_found(index, UID_A, ID_1, true, "a", "main");
}

static void the_sandbox_is_told_by_exclusion_after_a_while(void **state)
{
	_cleanup_(pod_index_freep) struct pod_index *index = new_index(10);
	(void)state;

	assert_int_equal(update(index, POD(UID_A, CRI(ID_1)), T0 - NSEC_PER_SEC), 0);
	assert_found(index, UID_A, SANDBOX_ID, false, "a", "");
	assert_int_equal(update(index, POD(UID_A, CRI(ID_1)), T0 + SANDBOX_AFTER_NS - 1), 0);
	assert_found(index, UID_A, SANDBOX_ID, false, "a", "");
	assert_int_equal(update(index, POD(UID_A, CRI(ID_1)), T0 + SANDBOX_AFTER_NS), 0);
	assert_found(index, UID_A, SANDBOX_ID, true, "a", SANDBOX_NAME);
	assert_found(index, UID_A, ID_1, true, "a", "main");
}

static void deleted_pods_are_found_until_they_expire(void **state)
{
	_cleanup_(pod_index_freep) struct pod_index *index = new_index(10);
	(void)state;

	/* They count from when they were missed: the kubelet may not have answered for an hour. */
	assert_int_equal(update(index, POD(UID_A, CRI(ID_1)), T0 - 4 * TOMBSTONE_NS), 0);
	assert_int_equal(update(index, "", T0), 0);
	assert_int_equal(pod_index_get_stats(index).nr_live, 0);
	assert_int_equal(update(index, "", T0 + TOMBSTONE_NS), 0);
	assert_found(index, UID_A, ID_1, true, "a", "main");
	assert_int_equal(update(index, "", T0 + TOMBSTONE_NS + 1), 0);
	assert_found(index, UID_A, ID_1, false, "", "");
}

static void an_empty_answer_after_a_kubelet_restart_harms_nothing(void **state)
{
	_cleanup_(pod_index_freep) struct pod_index *index = new_index(10);
	(void)state;

	assert_int_equal(update(index, POD(UID_A, CRI(ID_1)), T0), 0);
	assert_int_equal(update(index, "", T0 + 30 * NSEC_PER_SEC), 0);
	assert_found(index, UID_A, ID_1, true, "a", "main");
	assert_int_equal(update(index, POD(UID_A, CRI(ID_1)), T0 + 31 * NSEC_PER_SEC), 0);
	assert_int_equal(pod_index_get_stats(index).nr_live, 1);
	assert_found(index, UID_A, ID_1, true, "a", "main");
}

static void former_containers_of_a_live_pod_are_found_until_they_expire(void **state)
{
	_cleanup_(pod_index_freep) struct pod_index *index = new_index(10);
	(void)state;

	assert_int_equal(update(index, POD(UID_A, CRI(ID_1)), T0), 0);
	assert_int_equal(update(index, POD(UID_A, CRI(ID_2)), T0 + NSEC_PER_SEC), 0);
	assert_int_equal(update(index, POD(UID_A, CRI(ID_3)), T0 + 2 * NSEC_PER_SEC), 0);
	assert_found(index, UID_A, ID_1, true, "a", "main");
	assert_found(index, UID_A, ID_2, true, "a", "main");
	assert_found(index, UID_A, ID_3, true, "a", "main");
	assert_int_equal(update(index, POD(UID_A, CRI(ID_3)), T0 + NSEC_PER_SEC + TOMBSTONE_NS + 1),
			 0);
	assert_found(index, UID_A, ID_2, true, "a", "main");
	assert_found(index, UID_A, ID_1, true, "a", SANDBOX_NAME);
}

static void live_pods_go_before_tombstones(void **state)
{
	_cleanup_(pod_index_freep) struct pod_index *index = new_index(10);
	(void)state;

	assert_int_equal(update(index, POD_NAMED("x", "old", UID_A, CRI(ID_1)), T0), 0);
	assert_int_equal(update(index, POD_NAMED("x", "new", UID_B, CRI(ID_1)), T0 + 1), 0);
	assert_found(index, UID_A, ID_1, true, "new", "main");
	assert_int_equal(update(index, POD_NAMED("x", "newer", UID_B, CRI(ID_1)), T0 + 2), 0);
	assert_found(index, UID_B, ID_1, true, "newer", "main");
}

static void the_oldest_tombstones_make_room(void **state)
{
	_cleanup_(pod_index_freep) struct pod_index *index = new_index(2);
	(void)state;

	assert_int_equal(update(index, POD_NAMED("x", "a", UID_A, CRI(ID_1)), T0), 0);
	assert_int_equal(update(index, POD_NAMED("x", "b", UID_B, CRI(ID_2)), T0 + 1), 0);
	assert_found(index, UID_A, ID_1, true, "a", "main");
	assert_int_equal(update(index, POD_NAMED("x", "c", "uid-c", CRI(ID_3)), T0 + 2), 0);
	assert_found(index, UID_B, ID_2, true, "b", "main");
	assert_found(index, UID_A, ID_1, false, "", "");
}

static void live_pods_beyond_the_limit_are_refused(void **state)
{
	_cleanup_(pod_index_freep) struct pod_index *index = new_index(1);
	(void)state;

	assert_int_equal(update(index,
				POD_NAMED("x", "a", UID_A, CRI(ID_1)) "," POD_NAMED("x", "b", UID_B,
										    CRI(ID_2)),
				T0),
			 -ENOSPC);
	assert_int_equal(pod_index_get_stats(index).nr_live, 1);
	assert_found(index, UID_A, ID_1, true, "a", "main");
	assert_found(index, UID_B, ID_2, false, "", "");
}

static void load_fixture(struct pod_index *index, const char *path, uint64_t now_ns)
{
	_cleanup_(strbuf_done) struct strbuf body = strbuf_with_max(MAX_BYTES);
	struct pod_list *list = NULL;

	assert_int_equal(file_read_at(AT_FDCWD, path, &body), 0);
	assert_int_equal(pod_list_parse(body.data, body.len, &list_opts, &list), 0);
	assert_int_equal(pod_index_update(index, list, now_ns), 0);
}

/* The pods of a node and its cgroups, both recorded in the same minute. */
static void every_cgroup_of_a_recorded_node_is_attributed(void **state)
{
	_cleanup_(pod_index_freep) struct pod_index *index = new_index(200);
	_cleanup_(strbuf_done) struct strbuf paths = strbuf_with_max(MAX_BYTES);
	size_t nr_named = 0, nr_sandboxes = 0, nr_open = 0;
	(void)state;

	load_fixture(index, FIXTURES_DIR "/kubelet/pods-1.36.json", T0);
	assert_int_equal(file_read_at(AT_FDCWD, FIXTURES_DIR "/kubelet/cgroups-1.36.txt", &paths),
			 0);
	for (char *line = paths.data, *end; (end = strchr(line, '\n')); line = end + 1) {
		struct cgroup_owner owner;

		*end = '\0';
		cgroup_path_parse(line, &owner);
		struct found found = find_at(index, &owner, 0);
		if (owner.kind != CGROUP_HOST)
			assert_string_not_equal(found.pod, "");
		if (owner.kind != CGROUP_CONTAINER)
			continue;
		nr_open += !found.is_final;
		nr_sandboxes += strcmp(found.container, SANDBOX_NAME) == 0;
		nr_named += found.container[0] && strcmp(found.container, SANDBOX_NAME) != 0;
	}
	assert_int_equal(nr_named, 10);
	assert_int_equal(nr_sandboxes, 9);
	assert_int_equal(nr_open, 2); /* sandboxes of the two pods whose image does not exist */
}

static void *update_often(void *data)
{
	for (uint64_t i = 0; i < 200; i++)
		assert_int_equal(update(data, POD(UID_A, CRI(ID_1)), T0 + i), 0);
	return NULL;
}

static void lookups_and_updates_may_run_at_the_same_time(void **state)
{
	_cleanup_(pod_index_freep) struct pod_index *index = new_index(10);
	pthread_t thread;
	(void)state;

	assert_int_equal(update(index, POD(UID_A, CRI(ID_1)), T0), 0);
	assert_int_equal(pthread_create(&thread, NULL, update_often, index), 0);
	for (size_t i = 0; i < 2000; i++)
		assert_found(index, UID_A, ID_1, true, "a", "main");
	assert_int_equal(pthread_join(thread, NULL), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_known_container_has_all_its_names),
		cmocka_unit_test(what_is_unknown_is_not_final),
		cmocka_unit_test(the_host_is_final_and_nobody),
		cmocka_unit_test(a_pods_own_and_runtime_cgroups_are_the_pod),
		cmocka_unit_test(a_container_is_found_under_another_uid_or_none),
		cmocka_unit_test(a_container_without_its_id_yet_is_its_pod_and_not_final),
		cmocka_unit_test(the_sandbox_is_told_by_exclusion_after_a_while),
		cmocka_unit_test(deleted_pods_are_found_until_they_expire),
		cmocka_unit_test(an_empty_answer_after_a_kubelet_restart_harms_nothing),
		cmocka_unit_test(former_containers_of_a_live_pod_are_found_until_they_expire),
		cmocka_unit_test(live_pods_go_before_tombstones),
		cmocka_unit_test(the_oldest_tombstones_make_room),
		cmocka_unit_test(live_pods_beyond_the_limit_are_refused),
		cmocka_unit_test(every_cgroup_of_a_recorded_node_is_attributed),
		cmocka_unit_test(lookups_and_updates_may_run_at_the_same_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
