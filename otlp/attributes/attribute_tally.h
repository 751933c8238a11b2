/* SPDX-License-Identifier: Apache-2.0 */
/* Counts the values of sample attributes in one profile, on which the guard decides. */
#ifndef OTLP_ATTRIBUTES_ATTRIBUTE_TALLY_H
#define OTLP_ATTRIBUTES_ATTRIBUTE_TALLY_H

#include "base/err.h"
#include "base/htable.h"
#include "otlp/attributes/attribute_guard.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Identifies a value within the profile. */
struct tally_key {
	uint64_t value;
	uint32_t group; /* of resources */
	uint32_t attribute; /* enum sample_attribute */
};

struct tally_row {
	struct tally_key key;
	uint64_t count;
	bool is_admitted;
};

struct attribute_tally {
	struct tally_row *rows; /* owned */
	size_t nr_rows, cap_rows;
	struct htable index;
};
void attribute_tally_done(struct attribute_tally *tally);

/* Errors: -ENOMEM. */
int attribute_tally_add(struct attribute_tally *tally, const struct tally_key *key, uint64_t count)
	must_check;

/* Identifies a row for the guard, in all profiles. */
struct tally_place {
	struct attribute_set_key set;
	uint64_t value;
};

/* Lets the guard decide on all rows: first on values that were sent before, then on the most
 * frequent ones. Errors: -ENOMEM. */
int attribute_tally_decide(struct attribute_tally *tally, struct attribute_guard *guard,
			   uint64_t now_ns,
			   struct tally_place (*place)(const struct tally_key *key,
						       const void *data),
			   const void *data) must_check;

/* Returns whether a value that was added may be sent. */
bool attribute_tally_admits(const struct attribute_tally *tally, const struct tally_key *key);

#endif
