/* SPDX-License-Identifier: Apache-2.0 */
#include "store/event_group.h"

#include "node_fixture.h"
#include "unit.h"

#include <math.h>
#include <stdio.h>

/* A label set of a process in a service, outside pods. */
static uint32_t add_service_labels(struct node *node, const char *service, const char *comm)
{
	const uint32_t pair[] = { node_add_string(node, "service.name"),
				  node_add_string(node, service) };
	uint32_t words[LABELS_WORDS] = { [LABELS_PROCESS_COMM] = node_add_string(node, comm) }, id;

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
		node_use(&node, daemon, 0.5);
		node_pass(&node);
	}
	uint64_t first = node.second;
	for (unsigned int i = 0; i < 60; i++) {
		node_use(&node, daemon, i == 30 ? 1.5 : 0.5);
		if (i % 12 < 5) /* cc1plus twice as much */
			node_use(&node, add_service_labels(&node, "ci.service", programs[i / 12]),
				 i / 12 == 1 ? 2 : 1);
		if (i == 20)
			node_use(&node, other, 1);
		node_pass(&node);
	}
	assert_int_equal(node_nr_events(&node, EVENT_PROCESS_CPU), 3);
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
	node_pass_many(&node, 100);
	node_use(&node, node_add_labels(&node, NULL, "one"), 1);
	node_pass_many(&node, 25);
	assert_false(node_find_event(&node, EVENT_PROCESS_CPU)->is_open);
	node_use(&node, node_add_labels(&node, NULL, "other"), 1);
	node_pass(&node);
	assert_int_equal(node_nr_events(&node, EVENT_PROCESS_CPU), 2);
	assert_string_equal(node_find_event(&node, EVENT_PROCESS_CPU)->subject, "process other");
	node_done(&node);
}

/* A build that takes an hour ends, and so do the events of it. */
static void a_long_build_is_cut(void **state)
{
	(void)state;
	struct node node;
	char name[16];

	node_init(&node);
	node_pass_many(&node, 100);
	for (unsigned int i = 0; i < 900; i++) {
		snprintf(name, sizeof(name), "test_%u", i / 10);
		node_use(&node, node_add_labels(&node, NULL, name), 1);
		node_pass(&node);
	}
	assert_in_range(node_nr_events(&node, EVENT_PROCESS_CPU), 3, 4);
	node_pass_many(&node, 30);
	const struct event_list *changes = event_detector_changes(node.detector);
	for (size_t i = 0; i < changes->nr; i++) {
		assert_false(changes->items[i].is_open);
		assert_in_range(changes->items[i].end_s - changes->items[i].first_s, 1, 300);
	}
	node_done(&node);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_build_is_one_event),
		cmocka_unit_test(programs_apart_are_events_of_their_own),
		cmocka_unit_test(a_long_build_is_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
