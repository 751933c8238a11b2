/* SPDX-License-Identifier: Apache-2.0 */
/* The pins of rules that fired. A range can be pinned when its last second is in the file, so the
 * pins wait until then. They are automatic ones with the names of the events: they give way to pins
 * of users and to newer ones. */
#ifndef STORE_TRIGGER_PINS_H
#define STORE_TRIGGER_PINS_H

#include "store/pin_table.h"
#include "store/triggers.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TRIGGER_PINS_MAX 64

struct trigger_pins {
	struct pin items[TRIGGER_PINS_MAX];
	size_t nr;
	uint64_t nr_made, nr_failed; /* since the start */
};

/* Adds the range of a rule that fired. Without room, it is counted as failed. */
void trigger_pins_add(struct trigger_pins *pins, const struct trigger_firing *firing);

/* Returns whether a range ends before `complete_s`. */
bool trigger_pins_are_due(const struct trigger_pins *pins, uint64_t complete_s);

/* Pins the ranges that end before `complete_s`, which are in the files of the directory. If another
 * process changes the pins at that time, they wait for the next call. Logs what fails. */
void trigger_pins_make(struct trigger_pins *pins, const char *dir, uint64_t complete_s);

#endif
