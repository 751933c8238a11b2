/* SPDX-License-Identifier: Apache-2.0 */
#include "commands/kind_type.h"

#include "config/option_value.h"

static const enum profile_type types[] = {
	[OPTION_ASKED_CPU] = PROFILE_CPU,
	[OPTION_ASKED_OFF_CPU] = PROFILE_OFF_CPU,
	[OPTION_ASKED_LOCK] = PROFILE_LOCK_DELAY,
	[OPTION_ASKED_CONTENTIONS] = PROFILE_LOCK_CONTENTIONS,
	[OPTION_ASKED_GROWTH] = PROFILE_RSS_GROWTH,
	[OPTION_ASKED_ALLOC] = PROFILE_ALLOC_SPACE,
	[OPTION_ASKED_ALLOC_OBJECTS] = PROFILE_ALLOC_OBJECTS,
	[OPTION_ASKED_HEAP] = PROFILE_INUSE_SPACE,
	[OPTION_ASKED_HEAP_OBJECTS] = PROFILE_INUSE_OBJECTS,
	[OPTION_ASKED_IRQ] = PROFILE_IRQ,
};

enum profile_type kind_type_of(enum option_asked_kind kind)
{
	return types[kind];
}

const char *kind_type_word(enum profile_type type)
{
	for (enum option_asked_kind kind = 0; kind < value_asked_kind.nr_words; kind++)
		if (types[kind] == type)
			return value_asked_kind.words[kind];
	return NULL;
}
