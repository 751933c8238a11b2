/* SPDX-License-Identifier: Apache-2.0 */
/* A made node for the detector of events, second by second. */
#ifndef TESTS_UNIT_NODE_FIXTURE_H
#define TESTS_UNIT_NODE_FIXTURE_H

#include "store/dict.h"
#include "store/event_detector.h"
#include "store/second.h"
#include "store/triggers.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NODE_START UINT64_C(1795528800)
#define NODE_HZ 20
#define NODE_NR_CPUS 4
#define NODE_MAX_GROUPS 300

/* A node of four CPUs: what it does in the next second. */
struct node {
	struct dict dict;
	struct event_detector *detector;
	uint64_t second;
	uint64_t random;
	uint32_t hz; /* of the samples; NODE_HZ at first */
	struct vitals vitals;
	struct second_group groups[NODE_MAX_GROUPS];
	size_t nr_groups;
	struct second_throttling throttling;
	bool is_throttled;
	uint64_t nr_lost;
	struct second_cpu cpus[NODE_NR_CPUS];
	size_t nr_cpus;
	/* Borrowed; see each second, or the vitals of each; NULL: none. */
	struct triggers *triggers, *vital_triggers;
};

void node_init(struct node *node);
void node_done(struct node *node);

uint32_t node_add_string(struct node *node, const char *text);

/* Adds a label set of a process, in a pod of the namespace "shop" unless that is NULL. */
uint32_t node_add_labels(struct node *node, const char *pod, const char *comm);

/* Adds a label set of a process of Flamelet, outside pods. */
uint32_t node_add_own_labels(struct node *node, const char *comm);

/* In this second, a program uses so much CPU time. */
void node_use(struct node *node, uint32_t labels, double cpus);
void node_set_seconds(struct node *node, enum vital vital, double seconds);

/* Ends a second, or several. Nothing happens in it besides what node_use() and `vitals` say. */
void node_pass(struct node *node);
void node_pass_many(struct node *node, unsigned int nr);

/* Returns a random number from 0 to 1. */
double node_random_part(struct node *node);

/* Return how many events have begun. */
uint64_t node_nr_events(const struct node *node, enum event_kind kind);
uint64_t node_nr_all_events(const struct node *node);

/* Returns the newest event of a kind; fails the test if there is none. */
const struct event *node_find_event(const struct node *node, enum event_kind kind);

#endif
