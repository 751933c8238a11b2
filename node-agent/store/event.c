/* SPDX-License-Identifier: Apache-2.0 */
#include "store/event.h"

#include <stdlib.h>
#include <string.h>

static const char *const names[EVENT_NR_KINDS] = {
	[EVENT_NODE_CPU] = "node-cpu",	     [EVENT_POD_CPU] = "pod-cpu",
	[EVENT_PROCESS_CPU] = "process-cpu", [EVENT_IRQ] = "irq",
	[EVENT_SOFTIRQ] = "softirq",	     [EVENT_STEAL] = "steal",
	[EVENT_RUN_QUEUE] = "run-queue",     [EVENT_THROTTLING] = "throttling",
	[EVENT_MEMORY] = "memory",	     [EVENT_FORKS] = "forks",
	[EVENT_LOST] = "lost-samples",	     [EVENT_TRIGGER] = "trigger",
};

const char *event_kind_name(enum event_kind kind)
{
	return names[kind];
}

enum event_kind event_kind_find(const char *name)
{
	enum event_kind kind = 0;

	while (kind < EVENT_NR_KINDS && strcmp(names[kind], name) != 0)
		kind++;
	return kind;
}

void event_list_done(struct event_list *list)
{
	free(list->items);
	*list = (struct event_list){ 0 };
}
