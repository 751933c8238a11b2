/* SPDX-License-Identifier: Apache-2.0 */
/* From the user's rules and the kubelet's list to what the kernel samples: a child burns CPU
 * time in a container's cgroup. */
#include "cgroup_scene.h"
#include "pipeline/cgroup_filter.h"

#include "base/clock.h"

#include <stdio.h>
#include <string.h>

#include "pod_list_text.h"
#include "unit.h"

#define MAX_BYTES 65536
#define MAX_PODS 10
#define POD_UID "43ef20e3-2778-49ae-92ed-f9f23d29979f"
#define CONTAINER_ID "9a4e161f157008fcd435bc367b459d2cdd4af67bb71c4041411e75d9901d51b6"
#define POD_DIR "/kubepods/burstable/pod" POD_UID
#define CONTAINER_DIR POD_DIR "/" CONTAINER_ID
#define OTHER_ID "0000161f157008fcd435bc367b459d2cdd4af67bb71c4041411e75d9901d51b6"
#define OTHER_DIR "/kubepods/pod00000000-2778-49ae-92ed-f9f23d29979f/" CONTAINER_ID

#define POD(labels, annotations)                                                                   \
	"{\"kind\":\"PodList\",\"items\":[{\"metadata\":{\"name\":\"web\",\"namespace\":\"shop\"," \
	"\"uid\":\"" POD_UID "\",\"labels\":{" labels "},\"annotations\":{" annotations "}},"      \
	"\"spec\":{\"containers\":[{\"name\":\"main\"}]},\"status\":{\"containerStatuses\":["      \
	"{\"name\":\"main\",\"containerID\":\"containerd://" CONTAINER_ID "\"}]}}]}"

struct scene {
	struct cgroup_scene base;
	struct pod_index *pods;
	struct identity *identity;
	struct selection *selection;
	struct cgroup_filter filter;
};

static struct selection *make_selection(const struct selection_rules *rules)
{
	_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(MAX_BYTES);
	struct selection *selection = NULL;

	assert_int_equal(selection_new(rules, &message, &selection), 0);
	return selection;
}

static void open_scene(struct scene *scene)
{
	assert_int_equal(pod_index_new(MAX_PODS, &scene->pods), 0);
	const struct identity_opts opts = { .cgroup_fs = scene->base.cgroups.fs,
					    .pods = scene->pods,
					    .host_name = "host-1" };
	assert_int_equal(identity_new(&opts, &scene->identity), 0);
	assert_int_equal(identity_learn_all(scene->identity), 0);
	scene->selection = make_selection(&(struct selection_rules){ 0 });
	cgroup_filter_init(&scene->filter, scene->base.source, scene->identity, scene->pods,
			   scene->selection);
}

static int set_up(void **state)
{
	static struct scene scene;

	scene = (struct scene){ 0 };
	cgroup_scene_start(&scene.base, NULL, CONTAINER_DIR);
	open_scene(&scene);
	*state = &scene;
	return 0;
}

static int tear_down(void **state)
{
	struct scene *scene = *state;

	cgroup_scene_stop(&scene->base);
	identity_free(scene->identity);
	pod_index_free(scene->pods);
	selection_free(scene->selection);
	return 0;
}

static void list_pods(const struct scene *scene, const char *body)
{
	const struct pod_list_opts opts = { .max_bytes = MAX_BYTES };
	struct pod_list *list = NULL;

	assert_int_equal(pod_list_parse(body, strlen(body), &opts, &list), 0);
	assert_int_equal(pod_index_update(scene->pods, list, clock_mono_ns()), 0);
}

static void select_by(struct scene *scene, const struct selection_rules *rules)
{
	struct selection *selection = make_selection(rules);

	cgroup_filter_select(&scene->filter, selection);
	selection_free(scene->selection);
	scene->selection = selection;
}

static void update_and_run(struct scene *scene)
{
	cgroup_filter_update(&scene->filter);
	cgroup_scene_run(&scene->base);
}

static void expect_sampled(struct scene *scene)
{
	update_and_run(scene);
	assert_true(scene->base.nr_samples > 20);
}

static void expect_excluded(struct scene *scene)
{
	update_and_run(scene);
	assert_int_equal(scene->base.nr_samples, 0);
	assert_true(scene->base.stats.bpf[STAT_EXCLUDED] > 20);
}

static void expect_undecided(struct scene *scene)
{
	update_and_run(scene);
	assert_int_equal(scene->base.nr_samples, 0);
	assert_true(scene->base.stats.bpf[STAT_UNDECIDED] > 20);
}

static void without_rules_unknown_pods_are_sampled(void **state)
{
	expect_sampled(*state);
}

static void a_pod_that_opts_out_is_excluded_without_rules_and_may_come_back(void **state)
{
	struct scene *scene = *state;

	list_pods(scene, POD("", "\"flamelet.dev/profile\":\"false\""));
	expect_excluded(scene);
	assert_int_equal(scene->filter.stats.nr_excluded, 2); /* and its container */
	list_pods(scene, POD("", ""));
	expect_sampled(scene);
	assert_int_equal(scene->base.stats.bpf[STAT_EXCLUDED], 0);
}

static void with_rules_an_unknown_pod_is_undecided_until_it_is_known(void **state)
{
	static const char *const namespaces[] = { "kube-system" };
	const struct selection_rules rules = { .excluded_namespaces = { namespaces, 1 } };
	struct scene *scene = *state;

	select_by(scene, &rules);
	expect_undecided(scene);
	list_pods(scene, POD("", ""));
	expect_sampled(scene);
}

/* The agent has not even seen it: what all pods are below says so. */
static void with_rules_a_new_pod_is_undecided_from_its_birth(void **state)
{
	static const char *const namespaces[] = { "kube-system" };
	const struct selection_rules rules = { .excluded_namespaces = { namespaces, 1 } };
	struct scene *scene = *state;

	select_by(scene, &rules);
	cgroup_filter_update(&scene->filter);
	cgroup_scene_move(&scene->base, OTHER_DIR);
	expect_undecided(scene);
}

static void a_namespace_is_excluded_and_a_change_of_rules_counts_at_once(void **state)
{
	static const char *const namespaces[] = { "shop" };
	const struct selection_rules exclusion = { .excluded_namespaces = { namespaces, 1 } };
	const struct selection_rules inclusion = { .namespaces = { namespaces, 1 } };
	struct scene *scene = *state;

	list_pods(scene, POD("", ""));
	select_by(scene, &exclusion);
	expect_excluded(scene);
	select_by(scene, &inclusion);
	expect_sampled(scene);
	assert_int_equal(scene->base.nr_others, 0);
	select_by(scene, &(struct selection_rules){ 0 });
	expect_sampled(scene);
	assert_int_equal(scene->base.stats.bpf[STAT_EXCLUDED], 0);
}

static void labels_that_change_change_the_verdict(void **state)
{
	static const char *const selectors[] = { "app=web" };
	const struct selection_rules rules = { .selectors = { selectors, 1 } };
	struct scene *scene = *state;

	select_by(scene, &rules);
	list_pods(scene, POD("\"app\":\"db\"", ""));
	expect_excluded(scene);
	list_pods(scene, POD("\"app\":\"web\"", ""));
	expect_sampled(scene);
}

static void a_container_is_excluded_by_its_name(void **state)
{
	static const char *const containers[] = { "main" };
	const struct selection_rules rules = { .excluded_containers = { containers, 1 } };
	struct scene *scene = *state;

	list_pods(scene, POD("", ""));
	select_by(scene, &rules);
	expect_excluded(scene);
	cgroup_scene_move(&scene->base, CONTAINER_DIR "/container/deeper");
	expect_excluded(scene);
}

/* The agent cannot know whether it is the excluded container before it has seen it. */
static void a_container_not_seen_yet_is_undecided_where_containers_are_excluded(void **state)
{
	static const char *const containers[] = { "proxy" };
	const struct selection_rules rules = { .excluded_containers = { containers, 1 } };
	struct scene *scene = *state;

	list_pods(scene, POD("", ""));
	select_by(scene, &rules);
	expect_sampled(scene);
	cgroup_scene_move(&scene->base, POD_DIR "/" OTHER_ID);
	expect_undecided(scene);
}

static void with_rules_a_new_pod_of_a_node_in_a_container_is_undecided(void **state)
{
	static const char *const namespaces[] = { "kube-system" };
	const struct selection_rules rules = { .excluded_namespaces = { namespaces, 1 } };
	struct scene *scene = *state;

	cgroup_scene_move(&scene->base, "/docker/" OTHER_ID "/kubepods");
	assert_int_equal(identity_learn_all(scene->identity), 0);
	select_by(scene, &rules);
	cgroup_scene_move(&scene->base, "/docker/" OTHER_ID OTHER_DIR);
	expect_undecided(scene);
}

static void nobody_nests_out_of_an_exclusion(void **state)
{
	static const char *const namespaces[] = { "shop" };
	const struct selection_rules rules = { .excluded_namespaces = { namespaces, 1 } };
	struct scene *scene = *state;

	list_pods(scene, POD("", ""));
	select_by(scene, &rules);
	cgroup_scene_move(&scene->base, CONTAINER_DIR "/a/b/c/d/e/f/g/h/i/j/k/l/m/n/o/p/q/r/s/t/u/"
						      "v/w/x/y/z");
	expect_undecided(scene);
}

static void a_verdict_that_found_no_room_is_tried_again(void **state)
{
	struct scene *scene = *state;
	uint64_t id = UINT64_C(1) << 60;

	while (sample_source_set_cgroup(scene->base.source, id, CGROUP_WANTED) == 0)
		id++;
	list_pods(scene, POD("", "\"flamelet.dev/profile\":\"false\""));
	cgroup_filter_update(&scene->filter);
	assert_int_equal(scene->filter.stats.nr_excluded, 0);
	assert_int_equal(scene->filter.stats.nr_refused, 2);
	while (id-- > UINT64_C(1) << 60)
		sample_source_forget_cgroup(scene->base.source, id);
	select_by(scene, &(struct selection_rules){ 0 });
	expect_excluded(scene);
}

/* Its own verdict is enough: others need theirs. */
static void a_container_that_makes_many_cgroups_leaves_room_for_verdicts(void **state)
{
	struct scene *scene = *state;
	struct cgroup_event event = { .kind = CGROUP_BORN, .path_bytes = 100 };

	list_pods(scene, POD("", "\"flamelet.dev/profile\":\"false\""));
	for (uint64_t i = 1; i <= 2 * MAX_CGROUP_VERDICTS; i++) {
		event.id = i << 40;
		snprintf(event.path, sizeof(event.path), CONTAINER_DIR "/%llu",
			 (unsigned long long)i);
		identity_follow(scene->identity, &event);
	}
	cgroup_filter_update(&scene->filter);
	assert_int_equal(scene->filter.stats.nr_refused, 0);
	assert_true(scene->filter.stats.nr_excluded <= MAX_CGROUP_VERDICTS / 2 + 2);
	expect_excluded(scene);
}

/* It has no samples, so that nothing else would ask for its identity. */
static void an_undecided_container_is_asked_for_while_it_is_young(void **state)
{
	static const char *const containers[] = { "main" };
	const struct selection_rules rules = { .containers = { containers, 1 } };
	struct scene *scene = *state;
	uint64_t now_ns = clock_mono_ns();

	cgroup_filter_update(&scene->filter);
	assert_false(cgroup_filter_is_waiting(&scene->filter, now_ns));
	select_by(scene, &rules);
	cgroup_filter_update(&scene->filter);
	assert_true(cgroup_filter_is_waiting(&scene->filter, now_ns));
	assert_false(cgroup_filter_is_waiting(&scene->filter, now_ns + 61 * NSEC_PER_SEC));
	list_pods(scene, POD("", ""));
	cgroup_filter_update(&scene->filter);
	assert_false(cgroup_filter_is_waiting(&scene->filter, now_ns));
}

static void a_cgroup_is_included_by_its_path_with_all_below(void **state)
{
	static const char *const paths[] = { "/kubepods/burstable" };
	const struct selection_rules rules = { .cgroups = { paths, 1 } };
	struct scene *scene = *state;

	select_by(scene, &rules);
	expect_sampled(scene);
	assert_int_equal(scene->base.nr_others, 0);
}

/* Removing the verdicts of dead cgroups makes room for those of new ones. */
static void the_dead_give_their_verdicts_back(void **state)
{
	static const char *const namespaces[] = { "shop" };
	const struct selection_rules rules = { .excluded_namespaces = { namespaces, 1 } };
	struct scene *scene = *state;
	struct cgroup_event event = { .kind = CGROUP_BORN, .path = CONTAINER_DIR };

	list_pods(scene, POD("", ""));
	select_by(scene, &rules);
	for (uint64_t i = 0; i < MAX_CGROUP_VERDICTS + 4000; i += 4000) {
		for (event.id = i << 20; event.id < (i + 4000) << 20; event.id += 1 << 20) {
			event.kind = CGROUP_BORN;
			identity_follow(scene->identity, &event);
		}
		cgroup_filter_update(&scene->filter);
		for (event.id = i << 20; event.id < (i + 4000) << 20; event.id += 1 << 20) {
			event.kind = CGROUP_DIED;
			identity_follow(scene->identity, &event);
		}
		cgroup_filter_update(&scene->filter);
	}
	assert_int_equal(scene->filter.stats.nr_refused, 0);
	expect_excluded(scene);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(without_rules_unknown_pods_are_sampled),
		TEST(a_pod_that_opts_out_is_excluded_without_rules_and_may_come_back),
		TEST(with_rules_an_unknown_pod_is_undecided_until_it_is_known),
		TEST(with_rules_a_new_pod_is_undecided_from_its_birth),
		TEST(a_namespace_is_excluded_and_a_change_of_rules_counts_at_once),
		TEST(labels_that_change_change_the_verdict),
		TEST(a_container_is_excluded_by_its_name),
		TEST(a_container_not_seen_yet_is_undecided_where_containers_are_excluded),
		TEST(with_rules_a_new_pod_of_a_node_in_a_container_is_undecided),
		TEST(nobody_nests_out_of_an_exclusion),
		TEST(a_verdict_that_found_no_room_is_tried_again),
		TEST(a_container_that_makes_many_cgroups_leaves_room_for_verdicts),
		TEST(an_undecided_container_is_asked_for_while_it_is_young),
		TEST(a_cgroup_is_included_by_its_path_with_all_below),
		TEST(the_dead_give_their_verdicts_back),
	};

	if (geteuid() != 0) {
		fputs("SKIP: loading BPF programs needs root\n", stderr);
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
