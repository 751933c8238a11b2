/* SPDX-License-Identifier: Apache-2.0 */
#include "store/event_detector.h"

#include "base/array.h"
#include "base/clock.h"
#include "base/text.h"
#include "store/event_group.h"
#include "store/event_subject.h"
#include "store/event_text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_OPEN 128
#define MAX_CHANGES 1024
#define FORGET_S 60 /* between two looks at silent subjects */
#define LEAP_S 60
/* A contributor to an event of the node has at least this share of the excess. */
#define NOTABLE_SHARE 0.2

/* What a signal's values are, what counts as an event even on a node that did nothing before, and
 * what an excess of one is worth in seconds per second. The floor is the larger one of two. */
struct rule {
	double step, floor, floor_per_cpu;
	double weight;
};

static const struct rule rules[EVENT_NR_KINDS] = {
	[EVENT_NODE_CPU] = { 0.01, 0.5, 0.04, 1 }, [EVENT_POD_CPU] = { 0.01, 0.4, 0, 1 },
	[EVENT_PROCESS_CPU] = { 0.01, 0.4, 0, 1 }, [EVENT_IRQ] = { 0.01, 0.2, 0.005, 1 },
	[EVENT_SOFTIRQ] = { 0.01, 0.3, 0.005, 1 }, [EVENT_STEAL] = { 0.01, 0.3, 0.02, 1 },
	[EVENT_RUN_QUEUE] = { 0.01, 1, 0.2, 1 },   [EVENT_THROTTLING] = { 0.01, 0.2, 0, 1 },
	[EVENT_MEMORY] = { 0.01, 0.1, 0, 1 },	   [EVENT_FORKS] = { 1, 100, 5, 0.01 },
	[EVENT_LOST] = { 1, 10, 0.5, 0.05 },
};

/* Signals of the node are the first subjects. */
enum {
	NODE_CPU,
	NODE_IRQ,
	NODE_SOFTIRQ,
	NODE_STEAL,
	NODE_RUN_QUEUE,
	NODE_MEMORY,
	NODE_FORKS,
	NODE_LOST,
	NODE_NR_SIGNALS
};

static const enum event_kind node_kinds[NODE_NR_SIGNALS] = {
	[NODE_CPU] = EVENT_NODE_CPU,	    [NODE_IRQ] = EVENT_IRQ,
	[NODE_SOFTIRQ] = EVENT_SOFTIRQ,	    [NODE_STEAL] = EVENT_STEAL,
	[NODE_RUN_QUEUE] = EVENT_RUN_QUEUE, [NODE_MEMORY] = EVENT_MEMORY,
	[NODE_FORKS] = EVENT_FORKS,	    [NODE_LOST] = EVENT_LOST,
};

struct event_detector {
	struct event_subjects subjects;
	struct event_groups groups;
	uint64_t last_s; /* the newest second; 0: none yet */
	uint64_t nr_seconds;
	uint64_t next_number;
	size_t nr_open;
	struct event_list changes;
	struct event_detector_stats stats;
};

void event_detector_free(struct event_detector *detector)
{
	if (!detector)
		return;
	event_subjects_done(&detector->subjects);
	event_list_done(&detector->changes);
	free(detector);
}

static struct event_subject_rule make_rule(const struct event_detector *detector,
					   enum event_kind kind)
{
	return (struct event_subject_rule){ rules[kind].step, rules[kind].floor,
					    detector->nr_seconds };
}

static int add_node_signals(struct event_detector *detector)
{
	for (size_t i = 0; i < NODE_NR_SIGNALS; i++) {
		const struct event_subject_rule rule = make_rule(detector, node_kinds[i]);
		size_t index;

		int r = event_subjects_add(&detector->subjects, node_kinds[i], "node", "", &rule,
					   &index);
		if (r < 0)
			return r;
	}
	return 0;
}

int event_detector_new(uint64_t first_number, struct event_detector **ret_detector)
{
	_cleanup_(event_detector_freep) struct event_detector *detector = calloc(1,
										 sizeof(*detector));

	if (!detector)
		return -ENOMEM;
	detector->next_number = first_number;
	int r = add_node_signals(detector);
	if (r < 0)
		return r;
	*ret_detector = take_ptr(detector);
	return 0;
}

/* Reporting. */

static struct event *find_change(struct event_detector *detector, uint64_t number)
{
	struct event_list *changes = &detector->changes;

	for (size_t i = changes->nr; i-- > 0;)
		if (changes->items[i].number == number)
			return &changes->items[i];
	if (array_grow(changes->items, changes->cap, changes->nr + 1, MAX_CHANGES) < 0)
		return NULL;
	return &changes->items[changes->nr++];
}

static double score_of(enum event_kind kind, const struct event_burst *burst)
{
	return rules[kind].weight * burst->excess / sqrt((double)burst->nr_high);
}

/* Returns an event as a burst is now, without texts; NULL: there is no room. */
static struct event *put_event(struct event_detector *detector, uint64_t number,
			       enum event_kind kind, const struct event_burst *burst, bool is_open)
{
	struct event *event = find_change(detector, number);

	if (!event) {
		detector->stats.nr_events_dropped++;
		return NULL;
	}
	*event = (struct event){
		.number = number,
		.kind = kind,
		.is_open = is_open,
		.first_s = burst->first_s,
		.end_s = burst->end_s,
		.score = score_of(kind, burst),
	};
	return event;
}

static void report(struct event_detector *detector, const struct event_subject *subject,
		   bool is_open)
{
	const struct event_burst *burst = &subject->signal.burst;
	struct event *event = put_event(detector, subject->number, subject->kind, burst, is_open);

	if (!event)
		return;
	snprintf(event->subject, sizeof(event->subject), "%s", subject->name);
	snprintf(event->selector, sizeof(event->selector), "%s", subject->selector);
	event_text_write(event, burst, subject->contributor);
}

/* Returns the name of the pod or process whose CPU use is most above its usual one now, or NULL. */
static const char *find_contributor(const struct event_detector *detector, double min_excess)
{
	const char *name = NULL;

	for (size_t i = NODE_NR_SIGNALS; i < detector->subjects.nr; i++) {
		const struct event_subject *subject = &detector->subjects.items[i];
		double excess = subject->now - event_signal_usual(&subject->signal);

		if (subject->kind == EVENT_THROTTLING || excess < min_excess)
			continue;
		min_excess = excess;
		name = subject->name;
	}
	return name;
}

const char *event_detector_contributor(const struct event_detector *detector)
{
	double excess = detector->subjects.items[NODE_CPU].now -
			event_signal_usual(&detector->subjects.items[NODE_CPU].signal);

	return find_contributor(detector,
				fmax(NOTABLE_SHARE * excess, rules[EVENT_POD_CPU].floor / 2));
}

/* Without memory, the event has no contributor. */
static void note_contributor(const struct event_detector *detector, struct event_subject *subject)
{
	if (subject->kind != EVENT_NODE_CPU && subject->kind != EVENT_RUN_QUEUE)
		return;
	free(subject->contributor);
	subject->contributor = NULL;
	if (text_copy(event_detector_contributor(detector), &subject->contributor) < 0)
		subject->contributor = NULL;
}

static void report_group(struct event_detector *detector, const struct event_group *group,
			 bool is_open)
{
	struct event *event = put_event(detector, group->number, EVENT_PROCESS_CPU, &group->burst,
					is_open);

	if (!event)
		return;
	event_group_describe(group, event);
	event_text_write(event, &group->burst, NULL);
}

/* Ends the event of a group. Members whose bursts go on have no event any more. */
static void end_group(struct event_detector *detector, struct event_group *group)
{
	for (size_t i = NODE_NR_SIGNALS; i < detector->subjects.nr; i++) {
		struct event_subject *subject = &detector->subjects.items[i];

		if (subject->group != group)
			continue;
		subject->group = NULL;
		subject->number = 0;
	}
	report_group(detector, group, false);
	group->number = 0;
	detector->nr_open--;
}

/* The events of groups are reported once for each second, when all members have their values. */
static void follow_groups(struct event_detector *detector)
{
	for (size_t i = NODE_NR_SIGNALS; i < detector->subjects.nr; i++) {
		struct event_subject *subject = &detector->subjects.items[i];

		if (subject->group)
			event_group_add(subject->group, subject);
	}
	for (size_t i = 0; i < EVENT_GROUPS_MAX; i++) {
		struct event_group *group = &detector->groups.items[i];

		if (group->number == 0)
			continue;
		if (event_group_end_second(group, detector->last_s))
			report_group(detector, group, true);
		else
			end_group(detector, group);
	}
}

/* Returns the number of a new event; 0 if too many are open. */
static uint64_t open_event(struct event_detector *detector, enum event_kind kind)
{
	if (detector->nr_open == MAX_OPEN) {
		detector->stats.nr_events_dropped++;
		return 0;
	}
	detector->nr_open++;
	detector->stats.nr_events[kind]++;
	return detector->next_number++;
}

static void begin(struct event_detector *detector, struct event_subject *subject)
{
	struct event_group *group = event_group_takes(subject)
					    ? event_groups_find(&detector->groups, subject->service)
					    : NULL;

	subject->number = group && group->number > 0 ? group->number
						     : open_event(detector, subject->kind);
	if (subject->number == 0)
		return;
	if (group) {
		group->number = subject->number;
		event_group_join(group, subject);
		return;
	}
	note_contributor(detector, subject);
	report(detector, subject, true);
}

static void end(struct event_detector *detector, struct event_subject *subject)
{
	if (subject->number == 0)
		return;
	if (!subject->group) {
		report(detector, subject, false);
		detector->nr_open--;
	}
	subject->group = NULL;
	subject->number = 0;
	free(subject->contributor);
	subject->contributor = NULL;
}

static void follow(struct event_detector *detector, struct event_subject *subject,
		   enum event_step step)
{
	switch (step) {
	case EVENT_STEP_BEGINS:
		begin(detector, subject);
		return;
	case EVENT_STEP_PEAKS:
		note_contributor(detector, subject);
		break;
	case EVENT_STEP_ENDS:
		end(detector, subject);
		return;
	case EVENT_STEP_LASTS:
		break;
	case EVENT_STEP_NONE:
		return;
	}
	if (subject->number > 0 && !subject->group)
		report(detector, subject, true);
}

void event_detector_finish(struct event_detector *detector)
{
	for (size_t i = 0; i < detector->subjects.nr; i++) {
		struct event_subject *subject = &detector->subjects.items[i];

		if (event_signal_stop(&subject->signal))
			end(detector, subject);
	}
	for (size_t i = 0; i < EVENT_GROUPS_MAX; i++)
		if (detector->groups.items[i].number > 0)
			end_group(detector, &detector->groups.items[i]);
}

/* Values. */

static void push(struct event_detector *detector, struct event_subject *subject)
{
	enum event_step step;

	if (event_signal_push(&subject->signal, detector->last_s, subject->now, &step) < 0)
		detector->stats.nr_unwatched++;
	else
		follow(detector, subject, step);
}

/* Adds CPU time to its pod or process. */
static void add_group(struct event_detector *detector, const struct store_second *second,
		      const struct second_series *series, const struct second_group *group)
{
	const struct event_subject_rule rule = make_rule(detector, EVENT_POD_CPU);
	size_t index;

	int r = event_subjects_of_group(&detector->subjects, second->dict, group->labels, &rule,
					&index);
	if (r == 0)
		detector->subjects.items[index].now += (double)group->value *
						       (double)series->period /
						       (double)NSEC_PER_SEC;
	else if (r != -ENOENT)
		detector->stats.nr_unwatched++;
}

static void add_throttling(struct event_detector *detector, const struct store_second *second,
			   const struct second_throttling *throttling)
{
	const struct event_subject_rule rule = make_rule(detector, EVENT_THROTTLING);
	size_t index;

	int r = event_subjects_of_limit(&detector->subjects, second->dict, throttling->labels,
					&rule, &index);
	if (r == 0)
		detector->subjects.items[index].now += (double)throttling->throttled_ns /
						       (double)NSEC_PER_SEC /
						       (double)throttling->nr_seconds;
	else if (r != -ENOENT)
		detector->stats.nr_unwatched++;
}

static void add_groups(struct event_detector *detector, const struct store_second *second)
{
	event_subjects_set_dict(&detector->subjects, second->dict_generation);
	for (size_t i = 0; i < second->nr_series; i++) {
		const struct second_series *series = &second->series[i];

		for (size_t j = 0; series->type == PROFILE_CPU && j < series->nr_groups; j++)
			add_group(detector, second, series, &series->groups[j]);
	}
	for (size_t i = 0; i < second->nr_throttlings; i++)
		add_throttling(detector, second, &second->throttlings[i]);
	for (size_t i = NODE_NR_SIGNALS; i < detector->subjects.nr; i++)
		push(detector, &detector->subjects.items[i]);
	follow_groups(detector);
}

static double in_seconds(const struct vitals *vitals, enum vital vital)
{
	return (double)vitals->values[vital] / (double)NSEC_PER_SEC;
}

/* Pushes a value of the node, if the kernel has it. */
static void push_node(struct event_detector *detector, size_t signal, bool is_known, double value,
		      double nr_cpus)
{
	struct event_subject *subject = &detector->subjects.items[signal];
	const struct rule *rule = &rules[subject->kind];

	subject->now = value;
	subject->signal.floor = fmax(rule->floor, rule->floor_per_cpu * nr_cpus);
	if (is_known)
		push(detector, subject);
}

static void push_vital(struct event_detector *detector, size_t signal, const struct vitals *vitals,
		       enum vital vital, double nr_cpus)
{
	double value = vital_info(vital)->unit == VITAL_NS ? in_seconds(vitals, vital)
							   : (double)vitals->values[vital];

	push_node(detector, signal, vitals_has(vitals, vital), value, nr_cpus);
}

static void add_node(struct event_detector *detector, const struct store_second *second)
{
	const struct vitals *vitals = &second->vitals;
	double busy = in_seconds(vitals, VITAL_USER) + in_seconds(vitals, VITAL_SYSTEM) +
		      in_seconds(vitals, VITAL_IRQ) + in_seconds(vitals, VITAL_SOFTIRQ);
	double nr_cpus = busy + in_seconds(vitals, VITAL_STEAL) + in_seconds(vitals, VITAL_IDLE) +
			 in_seconds(vitals, VITAL_IOWAIT);

	push_node(detector, NODE_CPU, vitals_has(vitals, VITAL_USER), busy, nr_cpus);
	push_vital(detector, NODE_IRQ, vitals, VITAL_IRQ, nr_cpus);
	push_vital(detector, NODE_SOFTIRQ, vitals, VITAL_SOFTIRQ, nr_cpus);
	push_vital(detector, NODE_STEAL, vitals, VITAL_STEAL, nr_cpus);
	push_vital(detector, NODE_RUN_QUEUE, vitals, VITAL_RUN_DELAY, nr_cpus);
	push_vital(detector, NODE_MEMORY, vitals, VITAL_PSI_MEMORY, nr_cpus);
	push_vital(detector, NODE_FORKS, vitals, VITAL_FORKS, nr_cpus);
	push_node(detector, NODE_LOST, true, (double)second->nr_lost, nr_cpus);
}

/* Returns whether the second comes after the last one. */
static bool begin_second(struct event_detector *detector, uint64_t second)
{
	if (second == detector->last_s)
		return false;
	if (second < detector->last_s || second > detector->last_s + LEAP_S)
		event_detector_finish(detector);
	detector->last_s = second;
	for (size_t i = 0; i < detector->subjects.nr; i++)
		detector->subjects.items[i].now = 0;
	return true;
}

void event_detector_add(struct event_detector *detector, const struct store_second *second)
{
	if (!begin_second(detector, second->second))
		return;
	add_groups(detector, second);
	add_node(detector, second);
	detector->nr_seconds++;
	if (detector->nr_seconds % FORGET_S == 0)
		event_subjects_forget(&detector->subjects, NODE_NR_SIGNALS);
}

void event_detector_visit(const struct event_detector *detector, enum event_kind kind,
			  event_value_visit visit, void *data)
{
	for (size_t i = 0; i < detector->subjects.nr; i++) {
		const struct event_subject *subject = &detector->subjects.items[i];
		const struct event_value value = {
			.subject = subject->name,
			.selector = subject->selector,
			.value = subject->now,
			.usual = event_signal_usual(&subject->signal),
			.floor = subject->signal.floor,
			.is_known = subject->signal.nr_seconds >= EVENT_WARM_UP_S,
		};

		if (subject->kind == kind)
			visit(&value, data);
	}
}

int event_detector_put(struct event_detector *detector, struct event *event)
{
	uint64_t number = event->number > 0 ? event->number : detector->next_number;
	struct event *change = find_change(detector, number);

	if (!change) {
		detector->stats.nr_events_dropped++;
		return -ENOSPC;
	}
	if (event->number == 0) {
		event->number = detector->next_number++;
		detector->stats.nr_events[event->kind]++;
	}
	*change = *event;
	return 0;
}

const struct event_list *event_detector_changes(const struct event_detector *detector)
{
	return &detector->changes;
}

void event_detector_forget_changes(struct event_detector *detector)
{
	detector->changes.nr = 0;
}

struct event_detector_stats event_detector_get_stats(const struct event_detector *detector)
{
	return detector->stats;
}
