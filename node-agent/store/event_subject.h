/* SPDX-License-Identifier: Apache-2.0 */
/* The pods, processes and limits that can have events, and a signal for each. A subject that was
 * silent for a while is forgotten. */
#ifndef STORE_EVENT_SUBJECT_H
#define STORE_EVENT_SUBJECT_H

#include "base/err.h"
#include "base/htable.h"
#include "store/dict.h"
#include "store/event.h"
#include "store/event_signal.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct event_group;

struct event_subject {
	enum event_kind kind;
	char *name; /* owned; as in struct event, and printable */
	char *selector; /* owned; the same */
	struct event_signal signal;
	double now; /* sum of the values of this second */
	uint64_t number; /* of the event that goes on; 0: none */
	char *contributor; /* owned; of that event; NULL: not known */
	/* Of processes: the service of the first one. NULL: their events join no others. */
	char *service; /* owned */
	struct event_group *group; /* borrowed; that has the event; NULL: none */
	double grouped_excess; /* what the group has of it */
};

struct event_subjects {
	struct event_subject *items; /* owned */
	size_t nr, cap;
	struct htable index; /* by kind and name */
	/* Subjects of label sets: number + 1, or 0 for those that were not looked up. */
	uint32_t *of_labels; /* owned */
	size_t nr_of_labels, cap_of_labels;
	uint64_t generation; /* of the dictionary that the label sets are in */
};

/* What a subject is made with. */
struct event_subject_rule {
	double step, floor; /* of its signal */
	uint64_t nr_zeros; /* seconds before its first one */
};

void event_subjects_done(struct event_subjects *subjects);

/* Finds or adds a subject by its name. Errors: -ENOSPC there are too many, -ENOMEM. */
int event_subjects_add(struct event_subjects *subjects, enum event_kind kind, const char *name,
		       const char *selector, const struct event_subject_rule *rule,
		       size_t *ret_index) must_check;

/* Finds or adds the pod that used CPU time under a label set, or else the processes of its name.
 * Errors: -ENOENT it has neither; those of event_subjects_add(). */
int event_subjects_of_group(struct event_subjects *subjects, const struct dict *dict,
			    uint32_t labels, const struct event_subject_rule *rule,
			    size_t *ret_index) must_check;

/* Finds or adds the pod, service or cgroup whose CPU limit was reached. Errors: the same. */
int event_subjects_of_limit(struct event_subjects *subjects, const struct dict *dict,
			    uint32_t labels, const struct event_subject_rule *rule,
			    size_t *ret_index) must_check;

/* Tells which dictionary the label sets of groups are in from now on. */
void event_subjects_set_dict(struct event_subjects *subjects, uint64_t generation);

/* Forgets subjects that were silent for long, except the first ones. Numbers of subjects
 * change. */
void event_subjects_forget(struct event_subjects *subjects, size_t nr_first);

#endif
