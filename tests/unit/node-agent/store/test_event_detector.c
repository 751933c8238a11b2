/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cleanup.h"
#include "base/clock.h"
#include "node_fixture.h"
#include "store/event_detector.h"
#include "torture.h"
#include "unit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define NR_PODS 120
#define DAY_S 3600 /* a short one, with an hour of events */

/* A program uses as much CPU time as ever, and ten times as many samples tell that. */
static void a_higher_frequency_is_no_event(void **state)
{
	(void)state;
	struct node node;

	node_init(&node);
	uint32_t web = node_add_labels(&node, "web-1", "nginx"),
		 job = node_add_labels(&node, NULL, "job");
	for (unsigned int i = 0; i < 240; i++) {
		node.hz = i < 120 || i > 150 ? NODE_HZ : 10 * NODE_HZ;
		node_use(&node, web, 0.5);
		node_use(&node, job, 0.75);
		node_pass(&node);
	}
	assert_int_equal(node_nr_all_events(&node), 0);
	node_done(&node);
}

static void a_pod_and_the_node_are_named(void **state)
{
	(void)state;
	struct node node;

	node_init(&node);
	uint32_t web = node_add_labels(&node, "web-1", "nginx"),
		 helper = node_add_labels(&node, "web-1", "sh"),
		 other = node_add_labels(&node, "db-0", "postgres");
	for (unsigned int i = 0; i < 120; i++) {
		node_use(&node, web, 0.05);
		node_use(&node, other, 0.5);
		node_pass(&node);
	}
	uint64_t first = node.second;
	for (unsigned int i = 0; i < 2; i++) {
		node_use(&node, web, 0.75);
		node_use(&node, helper, 0.25);
		node_use(&node, other, 0.5);
		node_pass(&node);
	}
	const struct event *event = node_find_event(&node, EVENT_POD_CPU);
	assert_true(event->is_open);
	for (unsigned int i = 0; i < 30; i++) {
		node_use(&node, web, 0.05);
		node_use(&node, other, 0.5);
		node_pass(&node);
	}
	event = node_find_event(&node, EVENT_POD_CPU);
	assert_false(event->is_open);
	assert_int_equal(event->first_s, first);
	assert_int_equal(event->end_s, first + 2);
	assert_string_equal(event->subject, "pod shop/web-1");
	assert_string_equal(event->selector, "{namespace=\"shop\",pod=\"web-1\"}");
	assert_string_equal(event->text,
			    "Pod shop/web-1 used up to 1.00 CPUs for 2 s, usually 0.05");
	assert_true(fabs(event->score - 0.95 * sqrt(2)) < 0.02);
	event = node_find_event(&node, EVENT_NODE_CPU);
	assert_string_equal(event->subject, "node");
	assert_string_equal(event->text,
			    "The node used up to 1.50 CPUs for 2 s, usually 0.55; CPU use "
			    "rose most in pod shop/web-1");
	assert_int_equal(node_nr_all_events(&node), 2);
	node_done(&node);
}

/* Where no kubelet tells its name. */
static void a_pod_without_a_name_has_its_uid(void **state)
{
	(void)state;
	struct node node;

	node_init(&node);
	const uint32_t pair[] = { node_add_string(&node, "k8s.pod.uid"),
				  node_add_string(&node, "1-2-3") };
	uint32_t words[LABELS_WORDS] = { 0 }, labels;
	assert_int_equal(dict_add(&node.dict, DICT_RESOURCES, pair, array_len(pair),
				  &words[LABELS_RESOURCE]),
			 0);
	assert_int_equal(dict_add(&node.dict, DICT_LABELS, words, LABELS_WORDS, &labels), 0);
	node_pass_many(&node, 100);
	node_use(&node, labels, 1);
	node_pass(&node);
	const struct event *event = node_find_event(&node, EVENT_POD_CPU);
	assert_string_equal(event->subject, "pod 1-2-3");
	assert_string_equal(event->selector, "{pod=\"1-2-3\"}");
	node_done(&node);
}

static void a_process_outside_pods_is_named(void **state)
{
	(void)state;
	struct node node;

	node_init(&node);
	uint32_t odd = node_add_labels(&node, NULL, "a\"b\n");
	node_pass_many(&node, 100);
	node_use(&node, odd, 1);
	node_pass(&node);
	const struct event *event = node_find_event(&node, EVENT_PROCESS_CPU);
	assert_string_equal(event->subject, "process a\"b\\x0a");
	assert_string_equal(event->selector, "{comm=\"a\\\"b\n\"}");
	assert_string_equal(event->text,
			    "Process a\"b\\x0a used up to 1.00 CPUs for 1 s, usually 0.00");
	node_done(&node);
}

static void flamelet_and_its_workers_are_one_process(void **state)
{
	(void)state;
	struct node node;

	node_init(&node);
	uint32_t agent = node_add_own_labels(&node, "flamelet");
	uint32_t worker = node_add_own_labels(&node, "rows-worker");
	node_pass_many(&node, 100);
	node_use(&node, agent, 0.3);
	node_use(&node, worker, 0.7);
	node_pass(&node);
	const struct event *event = node_find_event(&node, EVENT_PROCESS_CPU);
	assert_string_equal(event->subject, EVENT_OWN_SUBJECT);
	assert_string_equal(event->selector, "{process=\"flamelet\"}");
	assert_string_equal(event->text,
			    "Process flamelet used up to 1.00 CPUs for 1 s, usually 0.00");
	node_done(&node);
}

static void each_signal_of_the_node_has_its_sentence(void **state)
{
	(void)state;
	static const struct {
		enum event_kind kind;
		enum vital vital;
		uint64_t usual, peak;
		const char *text;
	} cases[] = {
		{ EVENT_IRQ, VITAL_IRQ, 20000000, 500000000,
		  "Hardware interrupts took up to 0.50 CPUs for 3 s, usually 0.02" },
		{ EVENT_SOFTIRQ, VITAL_SOFTIRQ, 100000000, 900000000,
		  "Software interrupts took up to 0.90 CPUs for 3 s, usually 0.10" },
		{ EVENT_STEAL, VITAL_STEAL, 0, 700000000,
		  "The hypervisor withheld up to 0.70 CPUs for 3 s, usually 0.00" },
		{ EVENT_RUN_QUEUE, VITAL_RUN_DELAY, 100000000, 3200000000,
		  "Up to 3.20 threads waited for a CPU for 3 s, usually 0.10" },
		{ EVENT_MEMORY, VITAL_PSI_MEMORY, 0, 350000000,
		  "Threads waited for memory up to 35 % of the time for 3 s, usually 0 %" },
		{ EVENT_FORKS, VITAL_FORKS, 5, 412,
		  "Up to 412 processes and threads per second were created for 3 s, usually 5" },
	};

	for (size_t i = 0; i < array_len(cases); i++) {
		struct node node;

		node_init(&node);
		for (unsigned int s = 0; s < 200; s++) {
			bool is_peak = s >= 100 && s < 103;

			vitals_set(&node.vitals, cases[i].vital,
				   is_peak ? cases[i].peak : cases[i].usual);
			node_pass(&node);
		}
		assert_int_equal(node_nr_events(&node, cases[i].kind), 1);
		assert_string_equal(node_find_event(&node, cases[i].kind)->text, cases[i].text);
		node_done(&node);
	}
}

static void throttling_and_lost_samples_are_events(void **state)
{
	(void)state;
	struct node node;

	node_init(&node);
	node.throttling = (struct second_throttling){
		.labels = node_add_labels(&node, "web-1", ""),
		.throttled_ns = 1800 * NSEC_PER_MSEC,
		.nr_seconds = 3,
	};
	node_pass_many(&node, 100);
	node.is_throttled = true;
	node.nr_lost = 120;
	node_pass(&node);
	assert_string_equal(node_find_event(&node, EVENT_THROTTLING)->text,
			    "Pod shop/web-1 lost up to 0.60 CPUs to its CPU limit for 1 s, usually "
			    "0.00");
	assert_string_equal(node_find_event(&node, EVENT_LOST)->text,
			    "Up to 120 samples per second were lost for 1 s, usually 0");
	node_done(&node);
}

static void vitals_that_the_kernel_lacks_make_no_events(void **state)
{
	(void)state;
	struct node node;
	struct store_second second = { 0 };

	node_init(&node);
	second.dict = &node.dict;
	for (unsigned int i = 0; i < 300; i++) {
		second.second = NODE_START + i;
		/* The values mean nothing. */
		second.vitals.values[VITAL_RUN_DELAY] = i < 200 ? 0 : UINT64_MAX;
		event_detector_add(node.detector, &second);
	}
	assert_int_equal(node_nr_all_events(&node), 0);
	node_done(&node);
}

/* What 120 pods and the machine's own programs do on an ordinary day, with the programs that run
 * each minute and each five minutes. */
static void do_ordinary_things(struct node *node, const uint32_t pods[NR_PODS], uint32_t scraper,
			       uint32_t cron, unsigned int second)
{
	double day = 1 + sin(second * 2 * 3.14159265 / DAY_S);

	for (size_t i = 0; i < NR_PODS; i++) {
		double mean = 0.02 + (i % 10 == 0 ? 0.1 * day : 0), cpus = 0;

		for (unsigned int sample = 0; sample < NODE_HZ; sample++)
			cpus += (node_random_part(node) < mean) / (double)NODE_HZ;
		node_use(node, pods[i], cpus);
	}
	node_use(node, scraper, second % 15 == 0 ? 0.7 : 0);
	node_use(node, cron, second % 300 < 3 ? 1 : 0);
	node_set_seconds(node, VITAL_SOFTIRQ, 0.05 + 0.02 * node_random_part(node));
	node_set_seconds(node, VITAL_RUN_DELAY, 0.2 * node_random_part(node) * day);
	vitals_set(&node->vitals, VITAL_FORKS, (uint64_t)(20 * node_random_part(node)));
}

static void an_ordinary_day_of_a_full_node_is_nearly_silent(void **state)
{
	(void)state;
	struct node node;
	uint32_t pods[NR_PODS];
	char name[32];

	node_init(&node);
	for (size_t i = 0; i < NR_PODS; i++) {
		snprintf(name, sizeof(name), "web-%zu", i);
		pods[i] = node_add_labels(&node, name, "java");
	}
	uint32_t scraper = node_add_labels(&node, "metrics", "exporter"),
		 cron = node_add_labels(&node, NULL, "cron");
	for (unsigned int i = 0; i < DAY_S; i++) {
		do_ordinary_things(&node, pods, scraper, cron, i);
		node_pass(&node);
		event_detector_forget_changes(node.detector);
	}
	/* The job of every five minutes is new three times, of its process and of the node. */
	assert_in_range(node_nr_all_events(&node), 3, 8);
	assert_in_range(node_nr_events(&node, EVENT_POD_CPU), 0, 1);
	uint64_t before = node_nr_all_events(&node);
	do_ordinary_things(&node, pods, scraper, cron, 100);
	node_use(&node, pods[77], 0.9);
	node_pass(&node);
	assert_true(node_nr_all_events(&node) > before);
	assert_string_equal(node_find_event(&node, EVENT_POD_CPU)->subject, "pod shop/web-77");
	assert_int_equal(event_detector_get_stats(node.detector).nr_unwatched, 0);
	node_done(&node);
}

static void numbers_of_label_sets_may_change(void **state)
{
	(void)state;
	struct node node;
	struct dict other;

	node_init(&node);
	uint32_t web = node_add_labels(&node, "web-1", "nginx");
	node_use(&node, web, 0.05);
	node_pass_many(&node, 100);
	/* A new file of the record has a new dictionary. */
	other = node.dict;
	assert_int_equal(dict_init(&node.dict), 0);
	assert_int_equal(node_add_labels(&node, "db-0", "postgres"), web);
	const struct second_group group = { web, NODE_HZ };
	const struct second_series series = { .type = PROFILE_CPU,
					      .period = NSEC_PER_SEC / NODE_HZ,
					      .groups = &group,
					      .nr_groups = 1 };
	const struct store_second second = { .second = node.second,
					     .dict = &node.dict,
					     .dict_generation = 1,
					     .series = &series,
					     .nr_series = 1 };
	event_detector_add(node.detector, &second);
	assert_string_equal(node_find_event(&node, EVENT_POD_CPU)->subject, "pod shop/db-0");
	dict_done(&other);
	node_done(&node);
}

static void a_clock_that_leaps_ends_events(void **state)
{
	(void)state;
	static const int64_t leaps[] = { 4000, -4000 };

	for (size_t i = 0; i < array_len(leaps); i++) {
		struct node node;

		node_init(&node);
		uint32_t web = node_add_labels(&node, "web-1", "nginx");
		node_pass_many(&node, 100);
		node_use(&node, web, 2);
		node_pass(&node);
		assert_true(node_find_event(&node, EVENT_POD_CPU)->is_open);
		node.second += (uint64_t)leaps[i];
		node_use(&node, web, 2);
		node_pass(&node);
		const struct event_list *changes = event_detector_changes(node.detector);
		assert_int_equal(changes->items[0].first_s, NODE_START + 100);
		assert_int_equal(changes->items[0].end_s, NODE_START + 101);
		assert_false(changes->items[0].is_open);
		node_done(&node);
	}
}

static void changes_are_told_once(void **state)
{
	(void)state;
	struct node node;

	node_init(&node);
	uint32_t web = node_add_labels(&node, "web-1", "nginx");
	node_pass_many(&node, 100);
	node_use(&node, web, 0.45);
	node_pass(&node);
	assert_int_equal(event_detector_changes(node.detector)->nr, 1);
	event_detector_forget_changes(node.detector);
	node_use(&node, web, 0.45);
	node_pass(&node);
	assert_int_equal(event_detector_changes(node.detector)->nr, 1);
	assert_int_equal(node_find_event(&node, EVENT_POD_CPU)->number, 1);
	event_detector_forget_changes(node.detector);
	event_detector_finish(node.detector);
	assert_false(node_find_event(&node, EVENT_POD_CPU)->is_open);
	event_detector_forget_changes(node.detector);
	node_pass_many(&node, 20);
	assert_int_equal(event_detector_changes(node.detector)->nr, 0);
	node_done(&node);
}

static void more_subjects_than_there_is_room_for_are_counted(void **state)
{
	(void)state;
	struct node node;
	char name[32];

	node_init(&node);
	for (unsigned int i = 0; i < 6000; i++) {
		snprintf(name, sizeof(name), "process-%u", i);
		node_use(&node, node_add_labels(&node, NULL, name), 0.05);
		if (i % 200 == 0)
			node_pass(&node);
	}
	node_pass(&node);
	assert_in_range(event_detector_get_stats(node.detector).nr_unwatched, 1500, 2500);
	/* They are forgotten. */
	node_pass_many(&node, 700);
	uint64_t before = event_detector_get_stats(node.detector).nr_unwatched;
	node_use(&node, node_add_labels(&node, NULL, "late"), 0.05);
	node_pass(&node);
	assert_int_equal(event_detector_get_stats(node.detector).nr_unwatched, before);
	node_done(&node);
}

static void only_so_many_events_go_on_at_once(void **state)
{
	(void)state;
	struct node node;
	char name[32];

	node_init(&node);
	node_pass_many(&node, 100);
	for (unsigned int i = 0; i < 200; i++) {
		snprintf(name, sizeof(name), "pod-%u", i);
		node_use(&node, node_add_labels(&node, name, "sh"), 1);
	}
	node_pass(&node);
	assert_int_equal(node_nr_all_events(&node), 128);
	assert_in_range(event_detector_get_stats(node.detector).nr_events_dropped, 72, 73);
	node_pass_many(&node, 20);
	const struct event_list *changes = event_detector_changes(node.detector);
	for (size_t i = 0; i < changes->nr; i++)
		assert_false(changes->items[i].is_open);
	node_done(&node);
}

static void memory_may_be_short(void **state)
{
	(void)state;
	struct node node;
	bool has_failed;
	unsigned int n = 1;

	node_init(&node);
	uint32_t web = node_add_labels(&node, "web-1", "nginx"),
		 tool = node_add_labels(&node, NULL, "tool");
	do {
		event_detector_free(node.detector);
		node.detector = NULL;
		torture_begin(n++);
		int r = event_detector_new(1, &node.detector);
		for (unsigned int i = 0; r == 0 && i < 70; i++) {
			node_use(&node, web, i < 65 ? 0.1 : 2);
			node_use(&node, tool, i < 65 ? 0.1 : 2);
			node_pass(&node);
		}
		has_failed = torture_end();
		if (r < 0)
			assert_int_equal(r, -ENOMEM);
		assert_true(has_failed || node_nr_all_events(&node) == 3);
		node.nr_groups = 0;
	} while (has_failed);
	node_done(&node);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_higher_frequency_is_no_event),
		cmocka_unit_test(a_pod_and_the_node_are_named),
		cmocka_unit_test(a_pod_without_a_name_has_its_uid),
		cmocka_unit_test(a_process_outside_pods_is_named),
		cmocka_unit_test(flamelet_and_its_workers_are_one_process),
		cmocka_unit_test(each_signal_of_the_node_has_its_sentence),
		cmocka_unit_test(throttling_and_lost_samples_are_events),
		cmocka_unit_test(vitals_that_the_kernel_lacks_make_no_events),
		cmocka_unit_test(an_ordinary_day_of_a_full_node_is_nearly_silent),
		cmocka_unit_test(numbers_of_label_sets_may_change),
		cmocka_unit_test(a_clock_that_leaps_ends_events),
		cmocka_unit_test(changes_are_told_once),
		cmocka_unit_test(more_subjects_than_there_is_room_for_are_counted),
		cmocka_unit_test(only_so_many_events_go_on_at_once),
		cmocka_unit_test(memory_may_be_short),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
