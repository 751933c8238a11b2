/* SPDX-License-Identifier: Apache-2.0 */
/* Decides which attributes of a resource are sent, and under which names. */
#ifndef OTLP_ATTRIBUTES_ATTRIBUTE_RULES_H
#define OTLP_ATTRIBUTES_ATTRIBUTE_RULES_H

#include "base/arena.h"
#include "base/err.h"
#include "otlp/attributes/attribute_names.h"
#include "otlp/attributes/export_attributes.h"
#include "profile/profile.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct attribute_rules { /* all borrowed */
	enum attribute_preset preset;
	const char *const *excluded;
	size_t nr_excluded;
	const struct attribute *extra;
	size_t nr_extra;
	size_t max_attributes;
};

bool attribute_rules_exclude(const struct attribute_rules *rules, const char *key);

/* Chooses the attributes of a resource. *ret_nr_dropped is the number of attributes over the limit.
 * Errors: -ENOMEM. */
int attribute_rules_apply(const struct attribute_rules *rules, const struct profile *profile,
			  uint32_t resource, struct arena *memory,
			  struct group_attributes *ret_attributes, uint64_t *ret_nr_dropped)
	must_check;

#endif
