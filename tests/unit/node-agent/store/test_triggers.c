/* SPDX-License-Identifier: Apache-2.0 */
#include "store/triggers.h"

#include "base/cleanup.h"
#include "base/minmax.h"
#include "node_fixture.h"
#include "unit.h"

#include <stdio.h>
#include <string.h>

#define AROUND_S 20
#define PER_HOUR 3

/* A made node with one rule, and its last firing. */
struct scene {
	struct node node;
	struct trigger_rule rule;
	struct triggers triggers, vital_triggers;
	unsigned int nr_firings;
	struct trigger_firing last; /* `event` points to the following */
	struct event event;
	struct trigger_boost boost; /* that begins with a firing; empty: none */
	unsigned int nr_asked; /* for one */
};

static void note_firing(const struct trigger_firing *firing, void *data)
{
	struct scene *scene = data;

	scene->nr_firings++;
	scene->last = *firing;
	scene->event = *firing->event;
	scene->last.event = &scene->event;
}

static bool begin_boost(struct trigger_boost *ret_boost, void *data)
{
	struct scene *scene = data;

	scene->nr_asked++;
	*ret_boost = scene->boost;
	return scene->boost.frequency_hz > 0;
}

static void scene_init(struct scene *scene, const char *rule)
{
	_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(1024);
	struct triggers_opts opts = {
		.rules = &scene->rule,
		.nr_rules = 1,
		.around_s = AROUND_S,
		.max_per_hour = PER_HOUR,
		.notify = note_firing,
		.notify_data = scene,
		.begin_boost = begin_boost,
		.boost_data = scene,
	};

	scene->nr_firings = scene->nr_asked = 0;
	scene->boost = (struct trigger_boost){ 0 };
	assert_int_equal(trigger_rule_parse(rule, &message, &scene->rule), 0);
	node_init(&scene->node);
	triggers_init(&scene->triggers, &opts);
	scene->node.triggers = &scene->triggers;
	opts.of_vitals = true;
	triggers_init(&scene->vital_triggers, &opts);
	scene->node.vital_triggers = &scene->vital_triggers;
}

static void scene_done(struct scene *scene)
{
	triggers_done(&scene->triggers);
	triggers_done(&scene->vital_triggers);
	node_done(&scene->node);
}

/* Lets a program use so much CPU time for some seconds, and then be silent for others. */
static void burst(struct scene *scene, uint32_t labels, double cpus, unsigned int nr_high,
		  unsigned int nr_low)
{
	for (unsigned int i = 0; i < nr_high; i++) {
		node_use(&scene->node, labels, cpus);
		node_pass(&scene->node);
	}
	node_pass_many(&scene->node, nr_low);
}

static void a_pod_above_the_limit_is_an_event(void **state)
{
	(void)state;
	struct scene scene;

	scene_init(&scene, "pod-cpu > 150%");
	uint32_t web = node_add_labels(&scene.node, "web-1", "nginx"),
		 helper = node_add_labels(&scene.node, "web-1", "sh");
	node_pass_many(&scene.node, 5);
	uint64_t first = scene.node.second;
	for (unsigned int i = 0; i < 3; i++) {
		node_use(&scene.node, web, 1);
		node_use(&scene.node, helper, 0.8);
		node_pass(&scene.node);
	}
	assert_int_equal(scene.nr_firings, 1);
	assert_string_equal(scene.event.subject, "pod shop/web-1");
	assert_string_equal(scene.event.selector, "{namespace=\"shop\",pod=\"web-1\"}");
	assert_string_equal(scene.event.text,
			    "Trigger pod-cpu > 150%: pod shop/web-1 had up to 180% for 2 s");
	assert_int_equal(scene.last.pin_first_s, first - AROUND_S);
	assert_int_equal(scene.last.pin_end_s, first + 2 + AROUND_S);
	assert_true(node_find_event(&scene.node, EVENT_TRIGGER)->is_open);
	node_pass_many(&scene.node, 10);
	const struct event *event = node_find_event(&scene.node, EVENT_TRIGGER);
	assert_false(event->is_open);
	assert_int_equal(event->first_s, first);
	assert_int_equal(event->end_s, first + 3);
	assert_int_equal(event->number, scene.event.number);
	assert_int_equal(node_nr_events(&scene.node, EVENT_TRIGGER), 1);
	scene_done(&scene);
}

/* It begins when the rule fires, which is later than what it is about. The pin has all of it. */
static void a_firing_begins_a_boost(void **state)
{
	(void)state;
	const uint64_t begin_s = NODE_START + 7;
	struct scene scene;

	scene_init(&scene, "pod-cpu > 50%");
	scene.boost = (struct trigger_boost){ { begin_s, begin_s + 30 }, 190 };
	uint32_t web = node_add_labels(&scene.node, "web-1", "nginx");
	burst(&scene, web, 1, 2, 0);
	assert_int_equal(scene.nr_firings, 1);
	assert_int_equal(scene.last.boost.frequency_hz, 190);
	assert_int_equal(scene.last.pin_end_s, begin_s + 30);
	assert_string_equal(scene.event.text,
			    "Trigger pod-cpu > 50%: pod shop/web-1 had up to 100% for 2 s; sampled "
			    "at 190 Hz from 14:00:07 to 14:00:37 UTC");
	burst(&scene, web, 2, 3, 20);
	assert_int_equal(scene.nr_asked, 1);
	assert_string_equal(node_find_event(&scene.node, EVENT_TRIGGER)->text,
			    "Trigger pod-cpu > 50%: pod shop/web-1 had up to 200% for 5 s; sampled "
			    "at 190 Hz from 14:00:07 to 14:00:37 UTC");
	scene_done(&scene);
}

static void without_a_boost_nothing_is_said_of_it(void **state)
{
	(void)state;
	struct scene scene;

	scene_init(&scene, "pod-cpu > 50%");
	burst(&scene, node_add_labels(&scene.node, "web-1", "nginx"), 1, 2, 0);
	assert_int_equal(scene.nr_asked, 1);
	assert_int_equal(scene.last.boost.range.end_s, 0);
	assert_null(strstr(scene.event.text, "Hz"));
	scene_done(&scene);
}

static void it_fires_once_while_it_lasts(void **state)
{
	(void)state;
	struct scene scene;

	scene_init(&scene, "pod-cpu > 50%");
	uint32_t web = node_add_labels(&scene.node, "web-1", "nginx");
	burst(&scene, web, 1, 200, 0);
	for (unsigned int i = 0; i < 20; i++)
		burst(&scene, web, 1, 3, 9);
	assert_int_equal(scene.nr_firings, 1);
	node_pass_many(&scene.node, 10);
	burst(&scene, web, 1, 3, 0);
	assert_int_equal(scene.nr_firings, 2);
	scene_done(&scene);
}

static void a_single_high_second_is_none(void **state)
{
	(void)state;
	struct scene scene;

	scene_init(&scene, "pod-cpu > 50%");
	burst(&scene, node_add_labels(&scene.node, "web-1", "nginx"), 3, 1, 20);
	assert_int_equal(scene.nr_firings, 0);
	scene_done(&scene);
}

static void firings_are_half_a_minute_apart(void **state)
{
	(void)state;
	struct scene scene;

	scene_init(&scene, "pod-cpu > 50%");
	burst(&scene, node_add_labels(&scene.node, "web-1", "nginx"), 1, 3, 0);
	burst(&scene, node_add_labels(&scene.node, "web-2", "nginx"), 1, 3, 30);
	assert_int_equal(scene.nr_firings, 1);
	assert_int_equal(scene.triggers.stats.nr_suppressed, 1);
	burst(&scene, node_add_labels(&scene.node, "web-3", "nginx"), 1, 3, 0);
	assert_int_equal(scene.nr_firings, 2);
	assert_string_equal(scene.event.subject, "pod shop/web-3");
	scene_done(&scene);
}

static void an_hour_has_so_many_firings(void **state)
{
	(void)state;
	struct scene scene;

	scene_init(&scene, "pod-cpu > 50%");
	uint32_t web = node_add_labels(&scene.node, "web-1", "nginx");
	for (unsigned int i = 0; i < 3 * PER_HOUR; i++)
		burst(&scene, web, 1, 3, 57);
	assert_int_equal(scene.nr_firings, PER_HOUR);
	assert_int_equal(scene.triggers.stats.nr_suppressed, 2 * PER_HOUR);
	node_pass_many(&scene.node, 3600);
	burst(&scene, web, 1, 3, 0);
	assert_int_equal(scene.nr_firings, PER_HOUR + 1);
	scene_done(&scene);
}

static void other_pods_do_not_count(void **state)
{
	(void)state;
	struct scene scene;

	scene_init(&scene, "pod-cpu of shop/web-* > 50%");
	burst(&scene, node_add_labels(&scene.node, "db-0", "postgres"), 3, 10, 20);
	burst(&scene, node_add_labels(&scene.node, NULL, "web-1"), 3, 10, 20);
	assert_int_equal(scene.nr_firings, 0);
	burst(&scene, node_add_labels(&scene.node, "web-7", "nginx"), 1, 3, 20);
	assert_int_equal(scene.nr_firings, 1);
	scene_done(&scene);
}

static void a_surge_is_compared_with_the_last_minutes(void **state)
{
	(void)state;
	struct scene scene;

	scene_init(&scene, "pod-cpu-surge > 3");
	uint32_t large = node_add_labels(&scene.node, "large", "java"),
		 small = node_add_labels(&scene.node, "small", "sh");
	burst(&scene, large, 2, 10, 0); /* nothing is usual yet */
	burst(&scene, large, 0.5, 120, 0);
	burst(&scene, large, 1, 20, 0); /* twice the usual */
	burst(&scene, small, 0.3, 20, 0); /* too little for an event */
	burst(&scene, large, 0.5, 60, 0);
	assert_int_equal(scene.nr_firings, 0);
	burst(&scene, large, 2, 2, 0);
	assert_int_equal(scene.nr_firings, 1);
	assert_string_equal(scene.event.text, "Trigger pod-cpu-surge > 3: pod shop/large had up to "
					      "4.0 times the usual for 2 s");
	scene_done(&scene);
}

static void a_node_names_who_used_its_cpus(void **state)
{
	(void)state;
	struct scene scene;

	scene_init(&scene, "node-cpu > 60%");
	burst(&scene, node_add_labels(&scene.node, "quiet", "sh"), 0.5, 100, 0);
	burst(&scene, node_add_labels(&scene.node, "batch", "cc1"), 3, 3, 0);
	assert_int_equal(scene.nr_firings, 1);
	assert_string_equal(scene.event.subject, "node");
	assert_string_equal(scene.event.text,
			    "Trigger node-cpu > 60%: the node had up to 75% for 2 s; "
			    "CPU use rose most in pod shop/batch");
	scene_done(&scene);
}

/* Lets a vital have a value for three seconds. Returns how often the rule fired. */
static unsigned int fire_by_vital(const char *rule, enum vital vital, uint64_t value)
{
	struct scene scene;

	scene_init(&scene, rule);
	node_pass_many(&scene.node, 5);
	for (unsigned int i = 0; i < 3; i++) {
		vitals_set(&scene.node.vitals, vital, value);
		node_pass(&scene.node);
	}
	scene_done(&scene);
	return scene.nr_firings;
}

static void the_node_has_rules_of_what_the_kernel_counts(void **state)
{
	(void)state;
	const uint64_t ms = 1000000;

	assert_int_equal(fire_by_vital("psi-memory > 10%", VITAL_PSI_MEMORY, 110 * ms), 1);
	assert_int_equal(fire_by_vital("psi-memory > 10%", VITAL_PSI_MEMORY, 90 * ms), 0);
	assert_int_equal(fire_by_vital("psi-cpu > 50%", VITAL_PSI_CPU, 600 * ms), 1);
	assert_int_equal(fire_by_vital("psi-io > 50%", VITAL_PSI_IO, 600 * ms), 1);
	assert_int_equal(fire_by_vital("run-queue > 4", VITAL_RUN_DELAY, 5000 * ms), 1);
	assert_int_equal(fire_by_vital("run-queue > 4", VITAL_RUN_DELAY, 3000 * ms), 0);
	assert_int_equal(fire_by_vital("irq > 30%", VITAL_IRQ, 400 * ms), 1);
	assert_int_equal(fire_by_vital("softirq > 30%", VITAL_SOFTIRQ, 400 * ms), 1);
	assert_int_equal(fire_by_vital("steal > 30%", VITAL_STEAL, 400 * ms), 1);
	assert_int_equal(fire_by_vital("forks > 100", VITAL_FORKS, 101), 1);
	assert_int_equal(fire_by_vital("forks > 100", VITAL_FORKS, 100), 0);
}

/* These last for one second. */
static void one_kill_or_late_tick_fires(void **state)
{
	(void)state;
	struct scene scene;

	scene_init(&scene, "oom-kills > 0");
	node_pass_many(&scene.node, 5);
	vitals_set(&scene.node.vitals, VITAL_OOM_KILLS, 1);
	node_pass(&scene.node);
	assert_int_equal(scene.nr_firings, 1);
	assert_string_equal(scene.event.text,
			    "Trigger oom-kills > 0: the node had up to 1 for 1 s");
	scene_done(&scene);
	scene_init(&scene, "tick-delay > 200ms");
	node_set_seconds(&scene.node, VITAL_TICK_DELAY, 0.15);
	node_pass(&scene.node);
	assert_int_equal(scene.nr_firings, 0);
	node_set_seconds(&scene.node, VITAL_TICK_DELAY, 0.25);
	node_pass(&scene.node);
	assert_string_equal(scene.event.text,
			    "Trigger tick-delay > 200ms: the node had up to 250 ms for 1 s");
	scene_done(&scene);
}

/* Passes the vitals of the next second, whose samples have no names yet. */
static void pass_vitals(struct scene *scene, enum vital vital, double seconds)
{
	struct store_second known = { .second = scene->node.second++ };

	vitals_set(&known.vitals, VITAL_USER, 0);
	vitals_set(&known.vitals, vital, (uint64_t)(seconds * 1e9));
	vitals_set(&known.vitals, VITAL_IDLE, 100000000);
	triggers_add(&scene->vital_triggers, &known, scene->node.detector);
}

static void what_the_kernel_counts_fires_at_once(void **state)
{
	(void)state;
	struct scene scene;

	scene_init(&scene, "psi-memory > 10%");
	scene.boost = (struct trigger_boost){ { NODE_START, NODE_START + 30 }, 190 };
	pass_vitals(&scene, VITAL_PSI_MEMORY, 0.5);
	assert_int_equal(scene.nr_firings, 0);
	pass_vitals(&scene, VITAL_PSI_MEMORY, 0.5);
	assert_int_equal(scene.nr_firings, 1);
	assert_int_equal(scene.nr_asked, 1);
	assert_true(node_find_event(&scene.node, EVENT_TRIGGER)->is_open);
	triggers_tell(&scene.vital_triggers, scene.node.second, scene.node.detector);
	assert_int_equal(scene.nr_firings, 1);
	scene_done(&scene);
}

/* The boost begins at once. Notifications wait until it is known who used the CPUs. */
static void who_used_the_cpus_is_told_later(void **state)
{
	(void)state;
	struct scene scene;

	scene_init(&scene, "node-cpu > 60%");
	scene.boost = (struct trigger_boost){ { NODE_START, NODE_START + 30 }, 190 };
	uint64_t first = scene.node.second;
	for (unsigned int i = 0; i < 4; i++)
		pass_vitals(&scene, VITAL_USER, 3);
	assert_int_equal(scene.nr_asked, 1);
	assert_int_equal(scene.nr_firings, 0);
	assert_int_equal(node_nr_events(&scene.node, EVENT_TRIGGER), 1);
	triggers_tell(&scene.vital_triggers, first, scene.node.detector);
	assert_int_equal(scene.nr_firings, 0);
	triggers_tell(&scene.vital_triggers, first + 1, scene.node.detector);
	assert_int_equal(scene.nr_firings, 1);
	assert_int_equal(scene.last.pin_end_s, max_u64(first + 2 + AROUND_S, NODE_START + 30));
	triggers_tell(&scene.vital_triggers, first + 2, scene.node.detector);
	assert_int_equal(scene.nr_firings, 1);
	scene_done(&scene);
}

static void a_firing_is_told_at_the_latest_at_the_end(void **state)
{
	(void)state;
	struct scene scene;

	scene_init(&scene, "node-cpu > 60%");
	for (unsigned int i = 0; i < 2; i++)
		pass_vitals(&scene, VITAL_USER, 3);
	triggers_finish(&scene.vital_triggers, scene.node.detector);
	assert_int_equal(scene.nr_firings, 1);
	assert_false(node_find_event(&scene.node, EVENT_TRIGGER)->is_open);
	scene_done(&scene);
}

static void memory_that_vanishes_fires(void **state)
{
	(void)state;
	struct scene scene;
	uint64_t available = UINT64_C(8) << 30;

	scene_init(&scene, "memory-growth > 100M");
	for (unsigned int i = 0; i < 10; i++) {
		available -= i < 5 ? (uint64_t)50 << 20 : (uint64_t)150 << 20;
		vitals_set(&scene.node.vitals, VITAL_MEMORY_AVAILABLE, available);
		node_pass(&scene.node);
		assert_int_equal(scene.nr_firings, i > 5);
	}
	assert_string_equal(scene.event.text, "Trigger memory-growth > 100M: the node had up to "
					      "157.3 MB per second for 2 s");
	scene_done(&scene);
}

static void one_busy_cpu_is_named(void **state)
{
	(void)state;
	struct scene scene;

	scene_init(&scene, "cpu > 90%");
	for (unsigned int i = 0; i < 3; i++) {
		scene.node.cpus[0] = (struct second_cpu){ 1, NODE_HZ / 2 };
		scene.node.cpus[1] = (struct second_cpu){ 3, NODE_HZ };
		scene.node.nr_cpus = 2;
		node_pass(&scene.node);
	}
	assert_int_equal(scene.nr_firings, 1);
	assert_string_equal(scene.event.subject, "CPU 3");
	scene_done(&scene);
}

static void a_limit_that_throttles_a_pod_fires(void **state)
{
	(void)state;
	struct scene scene;

	scene_init(&scene, "throttling of shop/web-1 > 40%");
	uint32_t web = node_add_labels(&scene.node, "web-1", "");
	for (unsigned int i = 0; i < 2; i++) {
		scene.node.throttling = (struct second_throttling){ .labels = web,
								    .throttled_ns = 500000000,
								    .nr_seconds = 1 };
		scene.node.is_throttled = true;
		node_pass(&scene.node);
	}
	assert_int_equal(scene.nr_firings, 1);
	assert_string_equal(scene.event.subject, "pod shop/web-1");
	scene_done(&scene);
}

static void a_leap_of_the_clock_ends_events(void **state)
{
	(void)state;
	struct scene scene;

	scene_init(&scene, "pod-cpu > 50%");
	uint32_t web = node_add_labels(&scene.node, "web-1", "nginx");
	burst(&scene, web, 1, 3, 0);
	scene.node.second += 1000;
	burst(&scene, web, 1, 1, 0);
	assert_false(node_find_event(&scene.node, EVENT_TRIGGER)->is_open);
	scene_done(&scene);
}

static void subjects_without_room_are_counted(void **state)
{
	(void)state;
	struct scene scene;
	uint32_t labels[NODE_MAX_GROUPS];
	char pod[32];

	scene_init(&scene, "pod-cpu > 1%");
	for (unsigned int i = 0; i < NODE_MAX_GROUPS; i++) {
		snprintf(pod, sizeof(pod), "web-%u", i);
		labels[i] = node_add_labels(&scene.node, pod, "nginx");
	}
	for (unsigned int i = 0; i < NODE_MAX_GROUPS; i++)
		node_use(&scene.node, labels[i], 1);
	node_pass(&scene.node);
	assert_true(scene.triggers.stats.nr_unwatched > 0);
	scene_done(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_pod_above_the_limit_is_an_event),
		cmocka_unit_test(a_firing_begins_a_boost),
		cmocka_unit_test(without_a_boost_nothing_is_said_of_it),
		cmocka_unit_test(it_fires_once_while_it_lasts),
		cmocka_unit_test(a_single_high_second_is_none),
		cmocka_unit_test(firings_are_half_a_minute_apart),
		cmocka_unit_test(an_hour_has_so_many_firings),
		cmocka_unit_test(other_pods_do_not_count),
		cmocka_unit_test(a_surge_is_compared_with_the_last_minutes),
		cmocka_unit_test(a_node_names_who_used_its_cpus),
		cmocka_unit_test(the_node_has_rules_of_what_the_kernel_counts),
		cmocka_unit_test(one_kill_or_late_tick_fires),
		cmocka_unit_test(what_the_kernel_counts_fires_at_once),
		cmocka_unit_test(who_used_the_cpus_is_told_later),
		cmocka_unit_test(a_firing_is_told_at_the_latest_at_the_end),
		cmocka_unit_test(memory_that_vanishes_fires),
		cmocka_unit_test(one_busy_cpu_is_named),
		cmocka_unit_test(a_limit_that_throttles_a_pod_fires),
		cmocka_unit_test(a_leap_of_the_clock_ends_events),
		cmocka_unit_test(subjects_without_room_are_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
