/* SPDX-License-Identifier: Apache-2.0 */
/* An event: some seconds in which a node, a pod or a process behaved unusually. */
#ifndef STORE_EVENT_H
#define STORE_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum event_kind {
	EVENT_NODE_CPU, /* CPU time of the whole node */
	EVENT_POD_CPU, /* of a pod */
	EVENT_PROCESS_CPU, /* of all processes of one name, outside pods */
	EVENT_IRQ, /* CPU time of hardware interrupts */
	EVENT_SOFTIRQ,
	EVENT_STEAL, /* time that the hypervisor took */
	EVENT_RUN_QUEUE, /* time that runnable threads waited for a CPU */
	EVENT_THROTTLING, /* time that a CPU limit stopped a pod's or service's threads */
	EVENT_MEMORY, /* time that threads waited for memory (PSI) */
	EVENT_FORKS, /* new processes and threads */
	EVENT_LOST, /* samples that could not be taken or kept */
	EVENT_TRIGGER, /* a rule of the user (store/trigger_rule.h), not an unusual second */
	EVENT_NR_KINDS,
};

/* A pod's name has at most 253 bytes, its namespace 63. */
#define EVENT_SUBJECT_BYTES 336
#define EVENT_SELECTOR_BYTES 352
#define EVENT_TEXT_BYTES 768
/* Outside pods, Flamelet and its workers are one subject. Its events come last in any choice of the
 * worst events. */
#define EVENT_OWN_PROGRAM "flamelet"
#define EVENT_OWN_SUBJECT "process " EVENT_OWN_PROGRAM

struct event {
	/* Of the record, counted from 1. An event that was copied to another file keeps its number.
	 */
	uint64_t number;
	enum event_kind kind;
	bool is_open; /* it goes on, as far as the file knows */
	uint64_t first_s, end_s; /* Unix time; `end_s` is behind the last second */
	/* Mean excess over what is usual, in seconds of time per second, times the square root of
	 * the number of seconds. 0 of EVENT_TRIGGER. */
	double score;
	char subject[EVENT_SUBJECT_BYTES]; /* "node", "pod shop/web-1", "process postgres" */
	char selector[EVENT_SELECTOR_BYTES]; /* selects the subject's samples; "": all */
	char text[EVENT_TEXT_BYTES]; /* one sentence */
};

struct event_list {
	struct event *items; /* owned */
	size_t nr, cap;
};

void event_list_done(struct event_list *list);

/* Returns the word for a kind, such as "pod-cpu". */
const char *event_kind_name(enum event_kind kind);

/* Returns the kind with a name, or EVENT_NR_KINDS. */
enum event_kind event_kind_find(const char *name);

#endif
