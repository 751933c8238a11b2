/* SPDX-License-Identifier: Apache-2.0 */
#include "store/trigger_spell.h"

#define RECENT_S 3
#define LEAVE_SHARE 0.8

static enum trigger_step wait_for_end(struct trigger_spell *spell, double value, double limit)
{
	spell->nr_low = value <= LEAVE_SHARE * limit ? spell->nr_low + 1 : 0;
	if (spell->nr_low < TRIGGER_SPELL_LEAVE_S)
		return TRIGGER_STEP_LASTS;
	*spell = (struct trigger_spell){ 0 };
	return TRIGGER_STEP_LEAVES;
}

enum trigger_step trigger_spell_push(struct trigger_spell *spell, double value, double limit,
				     unsigned int enter_s)
{
	if (spell->is_on)
		return wait_for_end(spell, value, limit);
	spell->recent = (spell->recent << 1 | (value > limit)) & ((1U << RECENT_S) - 1);
	if (__builtin_popcount(spell->recent) < (int)enter_s)
		return TRIGGER_STEP_NONE;
	spell->is_on = true;
	spell->nr_low = 0;
	return TRIGGER_STEP_ENTERS;
}

bool trigger_spell_is_new(const struct trigger_spell *spell)
{
	return !spell->is_on && (spell->recent & ((1U << (RECENT_S - 1)) - 1)) == 0;
}

bool trigger_spell_is_idle(const struct trigger_spell *spell)
{
	return !spell->is_on && spell->recent == 0;
}
