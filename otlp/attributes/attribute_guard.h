/* SPDX-License-Identifier: Apache-2.0 */
/* Remembers the values of attributes that were sent within an hour, and decides whether a new one
 * may be sent.
 *
 * A set is one attribute of one resource. It has a number of places, and a value keeps its place
 * for an hour after it was last seen. */
#ifndef OTLP_ATTRIBUTES_ATTRIBUTE_GUARD_H
#define OTLP_ATTRIBUTES_ATTRIBUTE_GUARD_H

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ATTRIBUTE_GUARD_MEMORY_NS (UINT64_C(3600) * NSEC_PER_SEC)

/* Limits for all sets together: 16 MB of values, 6 MB of sets. Further values are not admitted.
 * 16384 resources have room for all attributes of samples and their programs: seven sets each. */
#define ATTRIBUTE_GUARD_MAX_SETS ((size_t)7 * 16384)
#define ATTRIBUTE_GUARD_MAX_VALUES ((size_t)1 << 20)

struct attribute_set_key {
	uint64_t resource[2]; /* hash of the resource's content */
	uint64_t attribute;
};

struct attribute_guard;

/* `max_values` is what one set holds. Errors: -ENOMEM. */
int attribute_guard_new(uint32_t max_values, struct attribute_guard **ret_guard) must_check;
void attribute_guard_free(struct attribute_guard *guard);
DEFINE_FREEP(struct attribute_guard, attribute_guard_free)

/* Removes values that were not seen for an hour. */
void attribute_guard_expire(struct attribute_guard *guard, uint64_t now_ns);

/* Returns whether the value has a place, and records that it was seen now. */
bool attribute_guard_touch(struct attribute_guard *guard, const struct attribute_set_key *key,
			   uint64_t value, uint64_t now_ns);

/* Gives a new value a place. Returns 1, or 0 if all places are taken. Errors: -ENOMEM. */
int attribute_guard_add(struct attribute_guard *guard, const struct attribute_set_key *key,
			uint64_t value, uint64_t now_ns) must_check;

#endif
