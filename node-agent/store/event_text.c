/* SPDX-License-Identifier: Apache-2.0 */
#include "store/event_text.h"

#include <inttypes.h>
#include <stdio.h>

/* [SUBJECT]BEFORE peak AFTER for seconds, usually usual UNIT: "Pod shop/web-1 used up to 0.98 CPUs
 * for 2 s, usually 0.03". */
static const struct phrase {
	bool names_subject;
	const char *before, *after, *unit;
	double scale;
	int decimals;
} phrases[EVENT_NR_KINDS] = {
	[EVENT_NODE_CPU] = { false, "The node used up to ", " CPUs", "", 1, 2 },
	[EVENT_POD_CPU] = { true, " used up to ", " CPUs", "", 1, 2 },
	[EVENT_PROCESS_CPU] = { true, " used up to ", " CPUs", "", 1, 2 },
	[EVENT_IRQ] = { false, "Hardware interrupts took up to ", " CPUs", "", 1, 2 },
	[EVENT_SOFTIRQ] = { false, "Software interrupts took up to ", " CPUs", "", 1, 2 },
	[EVENT_STEAL] = { false, "The hypervisor withheld up to ", " CPUs", "", 1, 2 },
	[EVENT_RUN_QUEUE] = { false, "Up to ", " threads waited for a CPU", "", 1, 2 },
	[EVENT_THROTTLING] = { true, " lost up to ", " CPUs to its CPU limit", "", 1, 2 },
	[EVENT_MEMORY] = { false, "Threads waited for memory up to ", " % of the time", " %", 100,
			   0 },
	[EVENT_FORKS] = { false, "Up to ", " processes and threads per second were created", "", 1,
			  0 },
	[EVENT_LOST] = { false, "Up to ", " samples per second were lost", "", 1, 0 },
};

void event_text_write(struct event *event, const struct event_burst *burst, const char *contributor)
{
	const struct phrase *phrase = &phrases[event->kind];
	const char *subject = phrase->names_subject ? event->subject : "";

	snprintf(event->text, sizeof(event->text),
		 "%s%s%.*f%s for %" PRIu64 " s, usually %.*f%s%s%s", subject, phrase->before,
		 phrase->decimals, phrase->scale * burst->peak, phrase->after,
		 burst->end_s - burst->first_s, phrase->decimals, phrase->scale * burst->usual,
		 phrase->unit, contributor ? "; CPU use rose most in " : "",
		 contributor ? contributor : "");
	if (event->text[0] >= 'a' && event->text[0] <= 'z')
		event->text[0] = (char)(event->text[0] - 'a' + 'A');
}
