/* SPDX-License-Identifier: Apache-2.0 */
/* Remembers which values of which attributes have left within an hour, and decides whether a new
 * one may.
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

/* Of all sets together: 16 MB of values, 6 MB of sets. What would be more is not admitted. 16384
 * resources have room for all attributes of samples and their programs: seven sets each. */
#define ATTRIBUTE_GUARD_MAX_SETS ((size_t)7 * 16384)
#define ATTRIBUTE_GUARD_MAX_VALUES ((size_t)1 << 20)

struct attribute_set_key {
	uint64_t resource[2]; /* hash of its content */
	uint64_t attribute;
};

struct attribute_guard;

/* `max_values` is what one set holds. Errors: -ENOMEM. */
int attribute_guard_new(uint32_t max_values, struct attribute_guard **ret_guard) must_check;
void attribute_guard_free(struct attribute_guard *guard);
DEFINE_FREEP(struct attribute_guard, attribute_guard_free)

/* Forgets what was not seen for an hour. */
void attribute_guard_expire(struct attribute_guard *guard, uint64_t now_ns);

/* Whether the value has a place; then it is seen now. */
bool attribute_guard_touch(struct attribute_guard *guard, const struct attribute_set_key *key,
			   uint64_t value, uint64_t now_ns);

/* Gives a value that has none a place: 1, or 0 when all are taken. Errors: -ENOMEM. */
int attribute_guard_add(struct attribute_guard *guard, const struct attribute_set_key *key,
			uint64_t value, uint64_t now_ns) must_check;

#endif
