/* SPDX-License-Identifier: Apache-2.0 */
#include "store/trigger_pins.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/strbuf.h"
#include "store/event_reader.h"
#include "store/pin_dir.h"

#include <stdio.h>
#include <string.h>

#define MESSAGE_BYTES 4096

void trigger_pins_add(struct trigger_pins *pins, const struct trigger_firing *firing)
{
	struct pin pin = {
		.first_s = firing->pin_first_s,
		.end_s = firing->pin_end_s,
		.is_automatic = true,
	};

	if (pins->nr == TRIGGER_PINS_MAX) {
		pins->nr_failed++;
		return;
	}
	event_reader_name(firing->event, pin.id);
	snprintf(pin.note, sizeof(pin.note), "%s", firing->event->text);
	pins->items[pins->nr++] = pin;
}

bool trigger_pins_are_due(const struct trigger_pins *pins, uint64_t complete_s)
{
	for (size_t i = 0; i < pins->nr; i++)
		if (pins->items[i].end_s <= complete_s)
			return true;
	return false;
}

/* Returns whether the pin has to wait. */
static bool make(struct trigger_pins *pins, const char *dir, struct pin *pin)
{
	_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(MESSAGE_BYTES);

	pin->made_s = clock_real_ns() / NSEC_PER_SEC;
	int r = pin_dir_add_event(dir, pin, &message);
	if (r == -EBUSY)
		return true;
	if (r < 0) {
		pins->nr_failed++;
		log_warn("the time around the event %s is not pinned: %s", pin->id,
			 message.len > 0 ? strbuf_str(&message) : strerror(-r));
	} else {
		pins->nr_made++;
	}
	return false;
}

void trigger_pins_make(struct trigger_pins *pins, const char *dir, uint64_t complete_s)
{
	size_t nr = pins->nr;

	pins->nr = 0;
	for (size_t i = 0; i < nr; i++) {
		struct pin pin = pins->items[i];

		if (pin.end_s > complete_s || make(pins, dir, &pin))
			pins->items[pins->nr++] = pin;
	}
}
