/* SPDX-License-Identifier: Apache-2.0 */
/* What the option --kind asks of a record, as a type of profiles. */
#ifndef COMMANDS_KIND_TYPE_H
#define COMMANDS_KIND_TYPE_H

#include "config/option_value.h"
#include "config/options.h"
#include "profile/profile_type.h"

static inline enum profile_type kind_type_of(enum option_kind kind)
{
	return kind == OPTION_KIND_OFF_CPU ? PROFILE_OFF_CPU : PROFILE_CPU;
}

/* Returns the word of the option for a type of profiles, or NULL: records have none of that type.
 * Static. */
static inline const char *kind_type_word(enum profile_type type)
{
	for (enum option_kind kind = 0; kind < value_kind.nr_words; kind++)
		if (kind_type_of(kind) == type)
			return value_kind.words[kind];
	return NULL;
}

#endif
