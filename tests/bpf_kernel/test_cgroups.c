/* SPDX-License-Identifier: Apache-2.0 */
/* Verdicts and events of cgroups in the running kernel, in the hierarchy that identifies
 * samples, and in that of v1's memory controller. */
#include "cgroup_scene.h"

#include <stdio.h>
#include <string.h>

#include "unit.h"

#define V1_MEMORY "/sys/fs/cgroup/memory"
#define INNER "/pod/container/inner"
#define MAX_EVENTS 64

/* The child is in INNER, below "/pod" and "/pod/container". */
struct scene {
	struct cgroup_scene base;
	uint64_t pod, container, inner; /* ids */
};

static void set_up_scene(struct scene *scene, const char *root)
{
	scene->inner = cgroup_scene_start(&scene->base, root, INNER);
	assert_int_equal(cgroup_fs_id(scene->base.cgroups.fs, "/pod", &scene->pod), 0);
	assert_int_equal(cgroup_fs_id(scene->base.cgroups.fs, "/pod/container", &scene->container),
			 0);
}

static int set_up(void **state)
{
	static struct scene scene;

	set_up_scene(&scene, NULL);
	*state = &scene;
	return 0;
}

static int tear_down(void **state)
{
	struct scene *scene = *state;

	cgroup_scene_stop(&scene->base);
	return 0;
}

static void judge(struct scene *scene, uint64_t id, enum cgroup_verdict verdict)
{
	assert_int_equal(sample_source_set_cgroup(scene->base.source, id, verdict), 0);
}

static void without_a_default_verdicts_do_not_count(void **state)
{
	struct scene *scene = *state;

	judge(scene, scene->inner, CGROUP_EXCLUDED);
	cgroup_scene_run(&scene->base);
	assert_true(scene->base.nr_samples > 20);
	assert_int_equal(scene->base.cgroup_id, scene->inner);
	assert_int_equal(scene->base.stats.bpf[STAT_EXCLUDED], 0);
}

static void an_excluded_cgroup_is_not_sampled_and_counted(void **state)
{
	struct scene *scene = *state;

	judge(scene, scene->inner, CGROUP_EXCLUDED);
	sample_source_set_cgroup_default(scene->base.source, CGROUP_WANTED);
	cgroup_scene_run(&scene->base);
	assert_int_equal(scene->base.nr_samples, 0);
	assert_true(scene->base.stats.bpf[STAT_EXCLUDED] > 20);
}

static void what_is_undecided_is_not_sampled_and_counted_apart(void **state)
{
	struct scene *scene = *state;

	judge(scene, scene->pod, CGROUP_UNDECIDED);
	sample_source_set_cgroup_default(scene->base.source, CGROUP_WANTED);
	cgroup_scene_run(&scene->base);
	assert_int_equal(scene->base.nr_samples, 0);
	assert_int_equal(scene->base.stats.bpf[STAT_EXCLUDED], 0);
	assert_true(scene->base.stats.bpf[STAT_UNDECIDED] > 20);
}

static void a_verdict_holds_for_what_is_below(void **state)
{
	struct scene *scene = *state;

	judge(scene, scene->pod, CGROUP_WANTED);
	sample_source_set_cgroup_default(scene->base.source, CGROUP_EXCLUDED);
	cgroup_scene_run(&scene->base);
	assert_true(scene->base.nr_samples > 20);
	assert_int_equal(scene->base.nr_others, 0);
	assert_int_equal(scene->base.cgroup_id, scene->inner);
}

static void the_nearest_verdict_counts(void **state)
{
	struct scene *scene = *state;

	judge(scene, scene->pod, CGROUP_WANTED);
	judge(scene, scene->container, CGROUP_EXCLUDED);
	sample_source_set_cgroup_default(scene->base.source, CGROUP_WANTED);
	cgroup_scene_run(&scene->base);
	assert_int_equal(scene->base.nr_samples, 0);

	/* … and a change counts at once. */
	sample_source_forget_cgroup(scene->base.source, scene->container);
	cgroup_scene_run(&scene->base);
	assert_true(scene->base.nr_samples > 20);
}

static void there_is_room_for_many_verdicts_but_not_for_any_number(void **state)
{
	struct scene *scene = *state;
	uint64_t id = UINT64_C(1) << 40;

	for (uint32_t i = 0; i < MAX_CGROUP_VERDICTS; i++)
		judge(scene, id++, CGROUP_WANTED);
	assert_int_equal(sample_source_set_cgroup(scene->base.source, id, CGROUP_WANTED), -ENOSPC);
	sample_source_forget_cgroup(scene->base.source, id - 1);
	judge(scene, id, CGROUP_WANTED);
}

struct events {
	struct cgroup_event items[MAX_EVENTS];
	size_t nr;
};

/* Leaves out the cgroups of others, which come and go at the same time. */
static void keep_event(const struct cgroup_event *event, void *data)
{
	struct events *events = data;

	char own[32];

	snprintf(own, sizeof(own), "/flamelet-test-%d/", getpid());
	if (strstr(event->path, own) && events->nr < MAX_EVENTS)
		memcpy(&events->items[events->nr++], event,
		       offsetof(struct cgroup_event, path) + event->path_bytes);
}

static void expect_event(const struct cgroup_event *event, enum cgroup_event_kind kind, uint64_t id,
			 const char *end)
{
	size_t len = strlen(event->path);

	assert_int_equal(event->kind, kind);
	assert_int_equal(event->id, id);
	assert_int_equal(event->path[0], '/');
	assert_true(len > strlen(end));
	assert_string_equal(event->path + len - strlen(end), end);
}

static void cgroups_are_told_when_they_come_and_go(void **state)
{
	static struct events events;
	struct scene *scene = *state;
	uint64_t id = cgroup_fixture_make(&scene->base.cgroups, "/pod/new");

	cgroup_fixture_remove(&scene->base.cgroups, "/pod/new");
	events.nr = 0;
	sample_source_poll_cgroups(scene->base.source, keep_event, &events);
	assert_int_equal(events.nr, 2);
	expect_event(&events.items[0], CGROUP_BORN, id, "/pod/new");
	expect_event(&events.items[1], CGROUP_DIED, id, "/pod/new");
	assert_true(events.items[0].time_ns <= events.items[1].time_ns);
	sample_source_get_stats(scene->base.source, &scene->base.stats);
	assert_true(scene->base.stats.follows_cgroups);
	assert_true(scene->base.stats.nr_cgroups >= 2);

	sample_source_poll_cgroups(scene->base.source, keep_event, &events);
	assert_int_equal(events.nr, 2);
}

/* 1024 bytes are what the kernel has of a path. */
static void a_path_that_is_too_long_is_cut(void **state)
{
	static struct events events;
	struct scene *scene = *state;
	char path[2000] = "";
	size_t len = 0;

	while (len < 1200) {
		memset(path + len, 'x', 200);
		path[len] = '/';
		len += 200;
		path[len] = '\0';
		cgroup_fixture_make(&scene->base.cgroups, path);
	}
	events.nr = 0;
	sample_source_poll_cgroups(scene->base.source, keep_event, &events);
	assert_int_equal(events.nr, 6);
	for (size_t i = 0; i < events.nr; i++)
		assert_true(strlen(events.items[i].path) < CGROUP_PATH_MAX);
	assert_true(events.items[0].path_bytes > 200);
}

static void more_cgroups_than_the_ring_has_room_for_are_counted(void **state)
{
	static struct events events;
	struct scene *scene = *state;
	char path[300] = "/pod/";

	memset(path + 5, 'y', 200);
	for (int i = 0; i < 1000; i++) {
		cgroup_fixture_make(&scene->base.cgroups, path);
		cgroup_fixture_remove(&scene->base.cgroups, path);
	}
	events.nr = 0;
	sample_source_poll_cgroups(scene->base.source, keep_event, &events);
	sample_source_get_stats(scene->base.source, &scene->base.stats);
	assert_int_equal(events.nr, MAX_EVENTS);
	assert_true(scene->base.stats.bpf[STAT_CGROUP_EVENT_LOST] > 100);
	assert_true(scene->base.stats.nr_cgroups + scene->base.stats.bpf[STAT_CGROUP_EVENT_LOST] >=
		    2000);
}

static void v1_hosts_have_the_ids_and_events_of_the_memory_controller(void **state)
{
	static struct events events;
	struct scene scene = { 0 };
	void *scene_state = &scene;

	(void)state;
	if (access(V1_MEMORY "/cgroup.procs", W_OK) < 0)
		skip();
	set_up_scene(&scene, V1_MEMORY);
	judge(&scene, scene.pod, CGROUP_WANTED);
	sample_source_set_cgroup_default(scene.base.source, CGROUP_EXCLUDED);
	cgroup_scene_run(&scene.base);
	assert_true(scene.base.nr_samples > 20);
	assert_int_equal(scene.base.nr_others, 0);
	assert_int_equal(scene.base.cgroup_id, scene.inner);

	uint64_t id = cgroup_fixture_make(&scene.base.cgroups, "/pod/new");
	sample_source_poll_cgroups(scene.base.source, keep_event, &events);
	assert_int_equal(events.nr, 1);
	expect_event(&events.items[0], CGROUP_BORN, id, "/pod/new");
	tear_down(&scene_state);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(without_a_default_verdicts_do_not_count),
		TEST(an_excluded_cgroup_is_not_sampled_and_counted),
		TEST(what_is_undecided_is_not_sampled_and_counted_apart),
		TEST(a_verdict_holds_for_what_is_below),
		TEST(the_nearest_verdict_counts),
		TEST(there_is_room_for_many_verdicts_but_not_for_any_number),
		TEST(cgroups_are_told_when_they_come_and_go),
		TEST(a_path_that_is_too_long_is_cut),
		TEST(more_cgroups_than_the_ring_has_room_for_are_counted),
		cmocka_unit_test(v1_hosts_have_the_ids_and_events_of_the_memory_controller),
	};

	if (geteuid() != 0) {
		fputs("SKIP: loading BPF programs needs root\n", stderr);
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
