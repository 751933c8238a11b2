/* SPDX-License-Identifier: Apache-2.0 */
/* Joins events that are one to a user: a build starts dozens of programs one after the other, none
 * of which ran before. Events of such programs in the same service become one event, as long as the
 * next one begins within some seconds. A group of one program is that program's event. */
#ifndef STORE_EVENT_GROUP_H
#define STORE_EVENT_GROUP_H

#include "base/err.h"
#include "store/event.h"
#include "store/event_subject.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EVENT_GROUPS_MAX 8
#define EVENT_GROUP_MEMBERS_MAX 24
#define EVENT_MEMBER_BYTES 64 /* of a name of 15 bytes, escaped */
#define EVENT_SERVICE_BYTES 128

/* A program of a group. */
struct event_member {
	char name[EVENT_MEMBER_BYTES]; /* "cc1plus" */
	double excess; /* as in struct event_burst */
};

struct event_group {
	uint64_t number; /* of its event; 0: the group is free */
	char service[EVENT_SERVICE_BYTES];
	char subject[EVENT_SUBJECT_BYTES], selector[EVENT_SELECTOR_BYTES]; /* of the first member */
	struct event_burst burst; /* of all members together */
	struct event_member members[EVENT_GROUP_MEMBERS_MAX];
	size_t nr_members; /* also those for which there is no room */
	/* Of the current second: */
	double now; /* sum of the values of members whose events go on */
	bool is_high;
	size_t nr_active; /* events that go on */
};

struct event_groups {
	struct event_group items[EVENT_GROUPS_MAX];
};

/* Returns whether an event of the subject is one of a program that did not run before. */
bool event_group_takes(const struct event_subject *subject);

/* Finds the group that an event joins, or else a free one, whose number is 0. NULL: there is
 * none. */
struct event_group *event_groups_find(struct event_groups *groups, const char *service);

/* Lets the event of a subject that has just begun join a group. */
void event_group_join(struct event_group *group, struct event_subject *subject);

/* Adds the current second of a subject whose event is part of the group. */
void event_group_add(struct event_group *group, struct event_subject *subject);

/* Ends a second. Returns whether the event of the group goes on. */
bool event_group_end_second(struct event_group *group, uint64_t second);

/* Fills in the subject and the selector. */
void event_group_describe(const struct event_group *group, struct event *event);

#endif
