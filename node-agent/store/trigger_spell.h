/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a value is above the limit of a rule, with hysteresis: a spell begins when two of three
 * seconds (or as many as the rule says) are above the limit, and ends when ten seconds in a row
 * were at most 0.8 of it. So a value that swings around the limit is one spell. */
#ifndef STORE_TRIGGER_SPELL_H
#define STORE_TRIGGER_SPELL_H

#include <stdbool.h>

#define TRIGGER_SPELL_ENTER_S 2
#define TRIGGER_SPELL_LEAVE_S 10

struct trigger_spell {
	unsigned int recent; /* a bit for each of the last three seconds: it was above the limit */
	bool is_on;
	unsigned int nr_low; /* seconds in a row, up to now, that were at most 0.8 of the limit */
};

enum trigger_step {
	TRIGGER_STEP_NONE,
	TRIGGER_STEP_ENTERS,
	TRIGGER_STEP_LASTS,
	TRIGGER_STEP_LEAVES,
};

/* Adds the value of the next second. A spell begins with `enter_s` of three seconds. */
enum trigger_step trigger_spell_push(struct trigger_spell *spell, double value, double limit,
				     unsigned int enter_s);

/* Returns whether a spell would begin with the next second, if that one is above the limit. */
bool trigger_spell_is_new(const struct trigger_spell *spell);

/* Returns whether the last seconds say nothing: the spell may be forgotten. */
bool trigger_spell_is_idle(const struct trigger_spell *spell);

#endif
