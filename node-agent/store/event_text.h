/* SPDX-License-Identifier: Apache-2.0 */
/* The sentence that describes an event to people. */
#ifndef STORE_EVENT_TEXT_H
#define STORE_EVENT_TEXT_H

#include "store/event.h"
#include "store/event_signal.h"

/* Writes event->text, from its other members, what was measured, and what used the CPUs most at the
 * peak ("pod shop/web-1"), if that is known, else NULL. A text that is too long is truncated. */
void event_text_write(struct event *event, const struct event_burst *burst,
		      const char *contributor);

#endif
