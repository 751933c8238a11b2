/* SPDX-License-Identifier: Apache-2.0 */
/* What the option --kind asks of a record, as a type of profiles. */
#ifndef COMMANDS_KIND_TYPE_H
#define COMMANDS_KIND_TYPE_H

#include "config/options.h"
#include "profile/profile_type.h"

enum profile_type kind_type_of(enum option_asked_kind kind);

/* Returns the word of the option for a type of profiles, or NULL: records have none of that type.
 * Static. */
const char *kind_type_word(enum profile_type type);

#endif
