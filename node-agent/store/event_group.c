/* SPDX-License-Identifier: Apache-2.0 */
#include "store/event_group.h"

#include "base/cleanup.h"
#include "base/minmax.h"
#include "base/strbuf.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define QUIET_S (2 * EVENT_QUIET_S) /* the events themselves end after half of it */
#define NAMED 3
#define NOUN "process "

bool event_group_takes(const struct event_subject *subject)
{
	return subject->kind == EVENT_PROCESS_CPU && subject->service &&
	       subject->signal.burst.usual < subject->signal.step / 2;
}

struct event_group *event_groups_find(struct event_groups *groups, const char *service)
{
	struct event_group *free_one = NULL;

	for (size_t i = 0; i < EVENT_GROUPS_MAX; i++) {
		struct event_group *group = &groups->items[i];

		if (group->number > 0 && strcmp(group->service, service) == 0)
			return group;
		if (group->number == 0 && !free_one)
			free_one = group;
	}
	if (free_one) {
		*free_one = (struct event_group){ 0 };
		snprintf(free_one->service, sizeof(free_one->service), "%s", service);
	}
	return free_one;
}

static const char *program_of(const struct event_subject *subject)
{
	const char *name = subject->name;

	return strncmp(name, NOUN, strlen(NOUN)) == 0 ? name + strlen(NOUN) : name;
}

static struct event_member *find_member(struct event_group *group, const char *name)
{
	size_t nr = min_u64(group->nr_members, EVENT_GROUP_MEMBERS_MAX);

	for (size_t i = 0; i < nr; i++)
		if (strncmp(group->members[i].name, name, EVENT_MEMBER_BYTES - 1) == 0)
			return &group->members[i];
	return NULL;
}

static struct event_member *get_member(struct event_group *group, const char *name)
{
	struct event_member *member = find_member(group, name);

	if (member)
		return member;
	if (group->nr_members++ >= EVENT_GROUP_MEMBERS_MAX)
		return NULL;
	member = &group->members[group->nr_members - 1];
	snprintf(member->name, sizeof(member->name), "%s", name);
	return member;
}

/* Adds what the subject's burst has gained. */
static void add_excess(struct event_group *group, struct event_subject *subject,
		       struct event_member *member)
{
	double gained = subject->signal.burst.excess - subject->grouped_excess;

	subject->grouped_excess = subject->signal.burst.excess;
	group->burst.excess += gained;
	if (member)
		member->excess += gained;
}

void event_group_join(struct event_group *group, struct event_subject *subject)
{
	const struct event_burst *burst = &subject->signal.burst;
	bool is_first = group->nr_members == 0;

	subject->grouped_excess = 0;
	add_excess(group, subject, get_member(group, program_of(subject)));
	if (is_first) {
		group->burst = *burst;
		snprintf(group->subject, sizeof(group->subject), "%s", subject->name);
		snprintf(group->selector, sizeof(group->selector), "%s", subject->selector);
	}
	subject->group = group;
	group->burst.first_s = min_u64(group->burst.first_s, burst->first_s);
}

void event_group_add(struct event_group *group, struct event_subject *subject)
{
	group->nr_active++;
	group->now += subject->now;
	group->is_high = group->is_high || subject->signal.burst.end_s > group->burst.end_s;
	add_excess(group, subject, find_member(group, program_of(subject)));
}

bool event_group_end_second(struct event_group *group, uint64_t second)
{
	struct event_burst *burst = &group->burst;
	bool goes_on = second < burst->end_s + QUIET_S && second + 1 < burst->first_s + EVENT_MAX_S;

	if (group->is_high) {
		burst->end_s = second + 1;
		burst->nr_high++;
	}
	burst->peak = fmax(burst->peak, group->now);
	if (group->nr_active == 0 && !goes_on)
		return false;
	group->now = 0;
	group->is_high = false;
	group->nr_active = 0;
	return second + 1 < burst->first_s + EVENT_MAX_S;
}

static void describe_one(const struct event_group *group, struct event *event)
{
	snprintf(event->subject, sizeof(event->subject), "%s", group->subject);
	snprintf(event->selector, sizeof(event->selector), "%s", group->selector);
}

/* Finds the members with the greatest excess. Returns how many there are, up to NAMED. */
static size_t find_largest(const struct event_group *group,
			   const struct event_member *ret_largest[static NAMED])
{
	size_t nr = min_u64(group->nr_members, EVENT_GROUP_MEMBERS_MAX), nr_found = 0;

	for (size_t i = 0; i < nr; i++) {
		size_t at = nr_found;

		while (at > 0 && ret_largest[at - 1]->excess < group->members[i].excess)
			at--;
		if (at == NAMED)
			continue;
		nr_found = min_u64(nr_found + 1, NAMED);
		for (size_t j = nr_found - 1; j > at; j--)
			ret_largest[j] = ret_largest[j - 1];
		ret_largest[at] = &group->members[i];
	}
	return nr_found;
}

/* Makes a selector of all names. What has a meaning in an expression stands for any byte there. */
static void select_members(const struct event_group *group, struct event *event)
{
	_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max(sizeof(event->selector) - 1);

	strbuf_append_str(&text, "{comm=~\"");
	for (size_t i = 0; i < group->nr_members && i < EVENT_GROUP_MEMBERS_MAX; i++) {
		strbuf_append_str(&text, i > 0 ? "|" : "");
		for (const char *c = group->members[i].name; *c; c++) {
			bool has_meaning = strchr(".[]()*+?^$|{}\\\"", *c);

			strbuf_append(&text, has_meaning ? "." : c, 1);
		}
	}
	strbuf_append_str(&text, "\"}");
	bool is_whole = group->nr_members <= EVENT_GROUP_MEMBERS_MAX && strbuf_error(&text) == 0;
	snprintf(event->selector, sizeof(event->selector), "%s", is_whole ? strbuf_str(&text) : "");
}

static void describe_all(const struct event_group *group, struct event *event)
{
	_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max(sizeof(event->subject) - 1);
	const struct event_member *largest[NAMED];
	size_t nr = find_largest(group, largest);

	strbuf_append_str(&text, "processes ");
	for (size_t i = 0; i < nr; i++)
		strbuf_appendf(&text, "%s%s", i > 0 ? ", " : "", largest[i]->name);
	if (group->nr_members > nr)
		strbuf_appendf(&text, " and %zu more", group->nr_members - nr);
	snprintf(event->subject, sizeof(event->subject), "%s", strbuf_str(&text));
	select_members(group, event);
}

void event_group_describe(const struct event_group *group, struct event *event)
{
	if (group->nr_members > 1)
		describe_all(group, event);
	else
		describe_one(group, event);
}
