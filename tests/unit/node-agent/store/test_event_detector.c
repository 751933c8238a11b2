/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cleanup.h"
#include "base/clock.h"
#include "store/event_detector.h"
#include "torture.h"
#include "unit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define START UINT64_C(1795528800)
#define HZ 20
#define NR_CPUS 4
#define NR_PODS 120
#define DAY_S 3600 /* a short one, with an hour of events */
#define MAX_GROUPS 300

/* A node of four CPUs: what it does in the next second. */
struct node {
	struct dict dict;
	struct event_detector *detector;
	uint64_t second;
	uint64_t random;
	struct vitals vitals;
	struct second_group groups[MAX_GROUPS];
	size_t nr_groups;
	struct second_throttling throttling;
	bool is_throttled;
	uint64_t nr_lost;
};

static void node_init(struct node *node)
{
	*node = (struct node){ .second = START, .random = 88172645463325252U };
	assert_int_equal(dict_init(&node->dict), 0);
	assert_int_equal(event_detector_new(1, &node->detector), 0);
}

static void node_done(struct node *node)
{
	event_detector_free(node->detector);
	dict_done(&node->dict);
}

static uint32_t add_string(struct node *node, const char *text)
{
	uint32_t id;

	assert_int_equal(dict_add_string(&node->dict, text, &id), 0);
	return id;
}

/* A label set of a process, in a pod of the namespace "shop" unless that is NULL. */
static uint32_t add_labels(struct node *node, const char *pod, const char *comm)
{
	uint32_t words[LABELS_WORDS] = { [LABELS_PROCESS_COMM] = add_string(node, comm) }, id;

	if (pod) {
		const uint32_t pairs[] = { add_string(node, "k8s.namespace.name"),
					   add_string(node, "shop"),
					   add_string(node, "k8s.pod.name"),
					   add_string(node, pod) };
		assert_int_equal(dict_add(&node->dict, DICT_RESOURCES, pairs, array_len(pairs),
					  &words[LABELS_RESOURCE]),
				 0);
	}
	assert_int_equal(dict_add(&node->dict, DICT_LABELS, words, LABELS_WORDS, &id), 0);
	return id;
}

/* A label set of a process of Flamelet, outside pods. */
static uint32_t add_own_labels(struct node *node, const char *comm)
{
	const uint32_t process[PROCESS_WORDS] = { [PROCESS_NAME] = add_string(node, "flamelet") };
	uint32_t words[LABELS_WORDS] = { [LABELS_PROCESS_COMM] = add_string(node, comm) }, id;

	assert_int_equal(dict_add(&node->dict, DICT_PROCESSES, process, PROCESS_WORDS,
				  &words[LABELS_PROCESS]),
			 0);
	assert_int_equal(dict_add(&node->dict, DICT_LABELS, words, LABELS_WORDS, &id), 0);
	return id;
}

/* In this second, a program uses so much CPU time. */
static void use(struct node *node, uint32_t labels, double cpus)
{
	uint64_t value = (uint64_t)(cpus * HZ + 0.5);

	assert_true(node->nr_groups < MAX_GROUPS);
	if (value > 0)
		node->groups[node->nr_groups++] = (struct second_group){ labels, value };
}

static void set_seconds(struct node *node, enum vital vital, double seconds)
{
	vitals_set(&node->vitals, vital, (uint64_t)(fmax(seconds, 0) * 1e9));
}

/* A second of a node on which nothing happens besides what use() and `vitals` already say. */
static void pass(struct node *node)
{
	const struct second_series series = {
		.type = PROFILE_CPU,
		.period = NSEC_PER_SEC / HZ,
		.groups = node->groups,
		.nr_groups = node->nr_groups,
	};
	struct store_second second = {
		.second = node->second++,
		.dict = &node->dict,
		.series = &series,
		.nr_series = 1,
		.throttlings = &node->throttling,
		.nr_throttlings = node->is_throttled,
		.nr_lost = node->nr_lost,
	};
	double used = 0;

	for (size_t i = 0; i < node->nr_groups; i++)
		used += (double)node->groups[i].value / HZ;
	for (enum vital vital = 0; vital < VITAL_NR; vital++)
		if (!vitals_has(&node->vitals, vital))
			vitals_set(&node->vitals, vital, 0);
	if (node->vitals.values[VITAL_USER] == 0)
		set_seconds(node, VITAL_USER, used);
	set_seconds(node, VITAL_IDLE, NR_CPUS - used);
	second.vitals = node->vitals;
	event_detector_add(node->detector, &second);
	node->nr_groups = 0;
	node->vitals = (struct vitals){ 0 };
	node->is_throttled = false;
	node->nr_lost = 0;
}

static void pass_many(struct node *node, unsigned int nr)
{
	for (unsigned int i = 0; i < nr; i++)
		pass(node);
}

static double random_part(struct node *node)
{
	node->random ^= node->random << 13;
	node->random ^= node->random >> 7;
	node->random ^= node->random << 17;
	return (double)(node->random >> 11) / 9007199254740992.0;
}

static uint64_t nr_events(const struct node *node, enum event_kind kind)
{
	return event_detector_get_stats(node->detector).nr_events[kind];
}

static uint64_t nr_all_events(const struct node *node)
{
	uint64_t nr = 0;

	for (enum event_kind kind = 0; kind < EVENT_NR_KINDS; kind++)
		nr += nr_events(node, kind);
	return nr;
}

/* The newest event of a kind. */
static const struct event *find_event(const struct node *node, enum event_kind kind)
{
	const struct event_list *changes = event_detector_changes(node->detector);
	const struct event *found = NULL;

	for (size_t i = 0; i < changes->nr; i++)
		if (changes->items[i].kind == kind)
			found = &changes->items[i];
	assert_non_null(found);
	return found;
}

static void a_pod_and_the_node_are_named(void **state)
{
	(void)state;
	struct node node;

	node_init(&node);
	uint32_t web = add_labels(&node, "web-1", "nginx"),
		 helper = add_labels(&node, "web-1", "sh"),
		 other = add_labels(&node, "db-0", "postgres");
	for (unsigned int i = 0; i < 120; i++) {
		use(&node, web, 0.05);
		use(&node, other, 0.5);
		pass(&node);
	}
	uint64_t first = node.second;
	for (unsigned int i = 0; i < 2; i++) {
		use(&node, web, 0.75);
		use(&node, helper, 0.25);
		use(&node, other, 0.5);
		pass(&node);
	}
	const struct event *event = find_event(&node, EVENT_POD_CPU);
	assert_true(event->is_open);
	for (unsigned int i = 0; i < 30; i++) {
		use(&node, web, 0.05);
		use(&node, other, 0.5);
		pass(&node);
	}
	event = find_event(&node, EVENT_POD_CPU);
	assert_false(event->is_open);
	assert_int_equal(event->first_s, first);
	assert_int_equal(event->end_s, first + 2);
	assert_string_equal(event->subject, "pod shop/web-1");
	assert_string_equal(event->selector, "{namespace=\"shop\",pod=\"web-1\"}");
	assert_string_equal(event->text,
			    "Pod shop/web-1 used up to 1.00 CPUs for 2 s, usually 0.05");
	assert_true(fabs(event->score - 0.95 * sqrt(2)) < 0.02);
	event = find_event(&node, EVENT_NODE_CPU);
	assert_string_equal(event->subject, "node");
	assert_string_equal(event->text,
			    "The node used up to 1.50 CPUs for 2 s, usually 0.55; CPU use "
			    "rose most in pod shop/web-1");
	assert_int_equal(nr_all_events(&node), 2);
	node_done(&node);
}

/* Where no kubelet tells its name. */
static void a_pod_without_a_name_has_its_uid(void **state)
{
	(void)state;
	struct node node;

	node_init(&node);
	const uint32_t pair[] = { add_string(&node, "k8s.pod.uid"), add_string(&node, "1-2-3") };
	uint32_t words[LABELS_WORDS] = { 0 }, labels;
	assert_int_equal(dict_add(&node.dict, DICT_RESOURCES, pair, array_len(pair),
				  &words[LABELS_RESOURCE]),
			 0);
	assert_int_equal(dict_add(&node.dict, DICT_LABELS, words, LABELS_WORDS, &labels), 0);
	pass_many(&node, 100);
	use(&node, labels, 1);
	pass(&node);
	const struct event *event = find_event(&node, EVENT_POD_CPU);
	assert_string_equal(event->subject, "pod 1-2-3");
	assert_string_equal(event->selector, "{pod=\"1-2-3\"}");
	node_done(&node);
}

static void a_process_outside_pods_is_named(void **state)
{
	(void)state;
	struct node node;

	node_init(&node);
	uint32_t odd = add_labels(&node, NULL, "a\"b\n");
	pass_many(&node, 100);
	use(&node, odd, 1);
	pass(&node);
	const struct event *event = find_event(&node, EVENT_PROCESS_CPU);
	assert_string_equal(event->subject, "process a\"b\\x0a");
	assert_string_equal(event->selector, "{comm=\"a\\\"b\n\"}");
	assert_string_equal(event->text,
			    "Process a\"b\\x0a used up to 1.00 CPUs for 1 s, usually 0.00");
	node_done(&node);
}

/* A label set of a process in a service, outside pods. */
static uint32_t add_service_labels(struct node *node, const char *service, const char *comm)
{
	const uint32_t pair[] = { add_string(node, "service.name"), add_string(node, service) };
	uint32_t words[LABELS_WORDS] = { [LABELS_PROCESS_COMM] = add_string(node, comm) }, id;

	assert_int_equal(dict_add(&node->dict, DICT_RESOURCES, pair, array_len(pair),
				  &words[LABELS_RESOURCE]),
			 0);
	assert_int_equal(dict_add(&node->dict, DICT_LABELS, words, LABELS_WORDS, &id), 0);
	return id;
}

/* One program after the other, with pauses. */
static void a_build_is_one_event(void **state)
{
	(void)state;
	static const char *const programs[] = { "cmake", "cc1plus", "x86_64.ld", "as", "ar" };
	struct node node;

	node_init(&node);
	uint32_t daemon = add_service_labels(&node, "ci.service", "daemon");
	uint32_t other = add_service_labels(&node, "backup.service", "tar");
	for (unsigned int i = 0; i < 100; i++) {
		use(&node, daemon, 0.5);
		pass(&node);
	}
	uint64_t first = node.second;
	for (unsigned int i = 0; i < 60; i++) {
		use(&node, daemon, i == 30 ? 1.5 : 0.5);
		if (i % 12 < 5) /* cc1plus twice as much */
			use(&node, add_service_labels(&node, "ci.service", programs[i / 12]),
			    i / 12 == 1 ? 2 : 1);
		if (i == 20)
			use(&node, other, 1);
		pass(&node);
	}
	assert_int_equal(nr_events(&node, EVENT_PROCESS_CPU), 3);
	const struct event_list *changes = event_detector_changes(node.detector);
	for (size_t i = 0; i < changes->nr; i++) {
		const struct event *event = &changes->items[i];

		if (event->first_s != first || event->kind != EVENT_PROCESS_CPU)
			continue;
		assert_string_equal(event->subject,
				    "processes cc1plus, cmake, x86_64.ld and 2 more");
		assert_string_equal(event->selector, "{comm=~\"cmake|cc1plus|x86_64.ld|as|ar\"}");
		assert_string_equal(event->text,
				    "Processes cc1plus, cmake, x86_64.ld and 2 more used up to "
				    "2.00 CPUs for 53 s, usually 0.00");
		assert_true(event->is_open);
		assert_true(fabs(event->score - 30 / sqrt(25)) < 0.02);
		node_done(&node);
		return;
	}
	fail_msg("there is no event of the build");
}

static void programs_apart_are_events_of_their_own(void **state)
{
	(void)state;
	struct node node;

	node_init(&node);
	pass_many(&node, 100);
	use(&node, add_labels(&node, NULL, "one"), 1);
	pass_many(&node, 25);
	assert_false(find_event(&node, EVENT_PROCESS_CPU)->is_open);
	use(&node, add_labels(&node, NULL, "other"), 1);
	pass(&node);
	assert_int_equal(nr_events(&node, EVENT_PROCESS_CPU), 2);
	assert_string_equal(find_event(&node, EVENT_PROCESS_CPU)->subject, "process other");
	node_done(&node);
}

/* A build that takes an hour ends, and so do the events of it. */
static void a_long_build_is_cut(void **state)
{
	(void)state;
	struct node node;
	char name[16];

	node_init(&node);
	pass_many(&node, 100);
	for (unsigned int i = 0; i < 900; i++) {
		snprintf(name, sizeof(name), "test_%u", i / 10);
		use(&node, add_labels(&node, NULL, name), 1);
		pass(&node);
	}
	assert_in_range(nr_events(&node, EVENT_PROCESS_CPU), 3, 4);
	pass_many(&node, 30);
	const struct event_list *changes = event_detector_changes(node.detector);
	for (size_t i = 0; i < changes->nr; i++) {
		assert_false(changes->items[i].is_open);
		assert_in_range(changes->items[i].end_s - changes->items[i].first_s, 1, 300);
	}
	node_done(&node);
}

static void flamelet_and_its_workers_are_one_process(void **state)
{
	(void)state;
	struct node node;

	node_init(&node);
	uint32_t agent = add_own_labels(&node, "flamelet");
	uint32_t worker = add_own_labels(&node, "rows-worker");
	pass_many(&node, 100);
	use(&node, agent, 0.3);
	use(&node, worker, 0.7);
	pass(&node);
	const struct event *event = find_event(&node, EVENT_PROCESS_CPU);
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
			pass(&node);
		}
		assert_int_equal(nr_events(&node, cases[i].kind), 1);
		assert_string_equal(find_event(&node, cases[i].kind)->text, cases[i].text);
		node_done(&node);
	}
}

static void throttling_and_lost_samples_are_events(void **state)
{
	(void)state;
	struct node node;

	node_init(&node);
	node.throttling = (struct second_throttling){
		.labels = add_labels(&node, "web-1", ""),
		.throttled_ns = 600 * NSEC_PER_MSEC,
	};
	pass_many(&node, 100);
	node.is_throttled = true;
	node.nr_lost = 120;
	pass(&node);
	assert_string_equal(find_event(&node, EVENT_THROTTLING)->text,
			    "Pod shop/web-1 lost up to 0.60 CPUs to its CPU limit for 1 s, usually "
			    "0.00");
	assert_string_equal(find_event(&node, EVENT_LOST)->text,
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
		second.second = START + i;
		/* The values mean nothing. */
		second.vitals.values[VITAL_RUN_DELAY] = i < 200 ? 0 : UINT64_MAX;
		event_detector_add(node.detector, &second);
	}
	assert_int_equal(nr_all_events(&node), 0);
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

		for (unsigned int sample = 0; sample < HZ; sample++)
			cpus += (random_part(node) < mean) / (double)HZ;
		use(node, pods[i], cpus);
	}
	use(node, scraper, second % 15 == 0 ? 0.7 : 0);
	use(node, cron, second % 300 < 3 ? 1 : 0);
	set_seconds(node, VITAL_SOFTIRQ, 0.05 + 0.02 * random_part(node));
	set_seconds(node, VITAL_RUN_DELAY, 0.2 * random_part(node) * day);
	vitals_set(&node->vitals, VITAL_FORKS, (uint64_t)(20 * random_part(node)));
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
		pods[i] = add_labels(&node, name, "java");
	}
	uint32_t scraper = add_labels(&node, "metrics", "exporter"),
		 cron = add_labels(&node, NULL, "cron");
	for (unsigned int i = 0; i < DAY_S; i++) {
		do_ordinary_things(&node, pods, scraper, cron, i);
		pass(&node);
		event_detector_forget_changes(node.detector);
	}
	/* The job of every five minutes is new three times, of its process and of the node. */
	assert_in_range(nr_all_events(&node), 3, 8);
	assert_in_range(nr_events(&node, EVENT_POD_CPU), 0, 1);
	uint64_t before = nr_all_events(&node);
	do_ordinary_things(&node, pods, scraper, cron, 100);
	use(&node, pods[77], 0.9);
	pass(&node);
	assert_true(nr_all_events(&node) > before);
	assert_string_equal(find_event(&node, EVENT_POD_CPU)->subject, "pod shop/web-77");
	assert_int_equal(event_detector_get_stats(node.detector).nr_unwatched, 0);
	node_done(&node);
}

static void numbers_of_label_sets_may_change(void **state)
{
	(void)state;
	struct node node;
	struct dict other;

	node_init(&node);
	uint32_t web = add_labels(&node, "web-1", "nginx");
	use(&node, web, 0.05);
	pass_many(&node, 100);
	/* A new file of the record has a new dictionary. */
	other = node.dict;
	assert_int_equal(dict_init(&node.dict), 0);
	assert_int_equal(add_labels(&node, "db-0", "postgres"), web);
	const struct second_group group = { web, HZ };
	const struct second_series series = {
		.type = PROFILE_CPU, .period = NSEC_PER_SEC / HZ, .groups = &group, .nr_groups = 1
	};
	const struct store_second second = { .second = node.second,
					     .dict = &node.dict,
					     .dict_generation = 1,
					     .series = &series,
					     .nr_series = 1 };
	event_detector_add(node.detector, &second);
	assert_string_equal(find_event(&node, EVENT_POD_CPU)->subject, "pod shop/db-0");
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
		uint32_t web = add_labels(&node, "web-1", "nginx");
		pass_many(&node, 100);
		use(&node, web, 2);
		pass(&node);
		assert_true(find_event(&node, EVENT_POD_CPU)->is_open);
		node.second += (uint64_t)leaps[i];
		use(&node, web, 2);
		pass(&node);
		const struct event_list *changes = event_detector_changes(node.detector);
		assert_int_equal(changes->items[0].first_s, START + 100);
		assert_int_equal(changes->items[0].end_s, START + 101);
		assert_false(changes->items[0].is_open);
		node_done(&node);
	}
}

static void changes_are_told_once(void **state)
{
	(void)state;
	struct node node;

	node_init(&node);
	uint32_t web = add_labels(&node, "web-1", "nginx");
	pass_many(&node, 100);
	use(&node, web, 0.45);
	pass(&node);
	assert_int_equal(event_detector_changes(node.detector)->nr, 1);
	event_detector_forget_changes(node.detector);
	use(&node, web, 0.45);
	pass(&node);
	assert_int_equal(event_detector_changes(node.detector)->nr, 1);
	assert_int_equal(find_event(&node, EVENT_POD_CPU)->number, 1);
	event_detector_forget_changes(node.detector);
	event_detector_finish(node.detector);
	assert_false(find_event(&node, EVENT_POD_CPU)->is_open);
	event_detector_forget_changes(node.detector);
	pass_many(&node, 20);
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
		use(&node, add_labels(&node, NULL, name), 0.05);
		if (i % 200 == 0)
			pass(&node);
	}
	pass(&node);
	assert_in_range(event_detector_get_stats(node.detector).nr_unwatched, 1500, 2500);
	/* They are forgotten. */
	pass_many(&node, 700);
	uint64_t before = event_detector_get_stats(node.detector).nr_unwatched;
	use(&node, add_labels(&node, NULL, "late"), 0.05);
	pass(&node);
	assert_int_equal(event_detector_get_stats(node.detector).nr_unwatched, before);
	node_done(&node);
}

static void only_so_many_events_go_on_at_once(void **state)
{
	(void)state;
	struct node node;
	char name[32];

	node_init(&node);
	pass_many(&node, 100);
	for (unsigned int i = 0; i < 200; i++) {
		snprintf(name, sizeof(name), "pod-%u", i);
		use(&node, add_labels(&node, name, "sh"), 1);
	}
	pass(&node);
	assert_int_equal(nr_all_events(&node), 128);
	assert_in_range(event_detector_get_stats(node.detector).nr_events_dropped, 72, 73);
	pass_many(&node, 20);
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
	uint32_t web = add_labels(&node, "web-1", "nginx"), tool = add_labels(&node, NULL, "tool");
	do {
		event_detector_free(node.detector);
		node.detector = NULL;
		torture_begin(n++);
		int r = event_detector_new(1, &node.detector);
		for (unsigned int i = 0; r == 0 && i < 70; i++) {
			use(&node, web, i < 65 ? 0.1 : 2);
			use(&node, tool, i < 65 ? 0.1 : 2);
			pass(&node);
		}
		has_failed = torture_end();
		if (r < 0)
			assert_int_equal(r, -ENOMEM);
		assert_true(has_failed || nr_all_events(&node) == 3);
		node.nr_groups = 0;
	} while (has_failed);
	node_done(&node);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_pod_and_the_node_are_named),
		cmocka_unit_test(a_pod_without_a_name_has_its_uid),
		cmocka_unit_test(a_process_outside_pods_is_named),
		cmocka_unit_test(a_build_is_one_event),
		cmocka_unit_test(programs_apart_are_events_of_their_own),
		cmocka_unit_test(a_long_build_is_cut),
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
