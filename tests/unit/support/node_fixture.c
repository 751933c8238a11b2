/* SPDX-License-Identifier: Apache-2.0 */
#include "node_fixture.h"

#include "base/clock.h"
#include "unit.h"

#include <math.h>

void node_init(struct node *node)
{
	*node = (struct node){ .second = NODE_START, .random = 88172645463325252U, .hz = NODE_HZ };
	assert_int_equal(dict_init(&node->dict), 0);
	assert_int_equal(event_detector_new(1, &node->detector), 0);
}

void node_done(struct node *node)
{
	event_detector_free(node->detector);
	dict_done(&node->dict);
}

uint32_t node_add_string(struct node *node, const char *text)
{
	uint32_t id;

	assert_int_equal(dict_add_string(&node->dict, text, &id), 0);
	return id;
}

uint32_t node_add_labels(struct node *node, const char *pod, const char *comm)
{
	uint32_t words[LABELS_WORDS] = { [LABELS_PROCESS_COMM] = node_add_string(node, comm) }, id;

	if (pod) {
		const uint32_t pairs[] = { node_add_string(node, "k8s.namespace.name"),
					   node_add_string(node, "shop"),
					   node_add_string(node, "k8s.pod.name"),
					   node_add_string(node, pod) };
		assert_int_equal(dict_add(&node->dict, DICT_RESOURCES, pairs, array_len(pairs),
					  &words[LABELS_RESOURCE]),
				 0);
	}
	assert_int_equal(dict_add(&node->dict, DICT_LABELS, words, LABELS_WORDS, &id), 0);
	return id;
}

uint32_t node_add_own_labels(struct node *node, const char *comm)
{
	const uint32_t process[PROCESS_WORDS] = { [PROCESS_NAME] = node_add_string(node,
										   "flamelet") };
	uint32_t words[LABELS_WORDS] = { [LABELS_PROCESS_COMM] = node_add_string(node, comm) }, id;

	assert_int_equal(dict_add(&node->dict, DICT_PROCESSES, process, PROCESS_WORDS,
				  &words[LABELS_PROCESS]),
			 0);
	assert_int_equal(dict_add(&node->dict, DICT_LABELS, words, LABELS_WORDS, &id), 0);
	return id;
}

void node_use(struct node *node, uint32_t labels, double cpus)
{
	uint64_t value = (uint64_t)(cpus * node->hz + 0.5);

	assert_true(node->nr_groups < NODE_MAX_GROUPS);
	if (value > 0)
		node->groups[node->nr_groups++] = (struct second_group){ labels, value };
}

void node_set_seconds(struct node *node, enum vital vital, double seconds)
{
	vitals_set(&node->vitals, vital, (uint64_t)(fmax(seconds, 0) * 1e9));
}

void node_pass(struct node *node)
{
	const struct second_series series = {
		.type = PROFILE_CPU,
		.period = NSEC_PER_SEC / node->hz,
		.groups = node->groups,
		.nr_groups = node->nr_groups,
		.cpus = node->cpus,
		.nr_cpus = node->nr_cpus,
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
		used += (double)node->groups[i].value / node->hz;
	for (enum vital vital = 0; vital < VITAL_NR; vital++)
		if (!vitals_has(&node->vitals, vital))
			vitals_set(&node->vitals, vital, 0);
	if (node->vitals.values[VITAL_USER] == 0)
		node_set_seconds(node, VITAL_USER, used);
	node_set_seconds(node, VITAL_IDLE, NODE_NR_CPUS - used);
	second.vitals = node->vitals;
	if (node->vital_triggers)
		triggers_add(node->vital_triggers, &second, node->detector);
	event_detector_add(node->detector, &second);
	if (node->triggers)
		triggers_add(node->triggers, &second, node->detector);
	if (node->vital_triggers)
		triggers_tell(node->vital_triggers, second.second, node->detector);
	node->nr_groups = 0;
	node->vitals = (struct vitals){ 0 };
	node->is_throttled = false;
	node->nr_lost = 0;
	node->nr_cpus = 0;
}

void node_pass_many(struct node *node, unsigned int nr)
{
	for (unsigned int i = 0; i < nr; i++)
		node_pass(node);
}

double node_random_part(struct node *node)
{
	node->random ^= node->random << 13;
	node->random ^= node->random >> 7;
	node->random ^= node->random << 17;
	return (double)(node->random >> 11) / 9007199254740992.0;
}

uint64_t node_nr_events(const struct node *node, enum event_kind kind)
{
	return event_detector_get_stats(node->detector).nr_events[kind];
}

uint64_t node_nr_all_events(const struct node *node)
{
	uint64_t nr = 0;

	for (enum event_kind kind = 0; kind < EVENT_NR_KINDS; kind++)
		nr += node_nr_events(node, kind);
	return nr;
}

const struct event *node_find_event(const struct node *node, enum event_kind kind)
{
	const struct event_list *changes = event_detector_changes(node->detector);
	const struct event *found = NULL;

	for (size_t i = 0; i < changes->nr; i++)
		if (changes->items[i].kind == kind)
			found = &changes->items[i];
	assert_non_null(found);
	return found;
}
