/* SPDX-License-Identifier: Apache-2.0 */
#include "otlp/attributes/attribute_guard.h"

#include "base/array.h"
#include "base/hash.h"
#include "base/htable.h"

#include <assert.h>
#include <string.h>

struct value {
	uint64_t value;
	uint64_t seen_ns;
};

struct set {
	struct attribute_set_key key;
	struct value *values; /* owned */
	size_t nr_values, cap_values;
};

struct attribute_guard {
	size_t max_values;
	struct set *sets; /* owned */
	size_t nr_sets, cap_sets;
	size_t nr_values; /* of all sets */
	struct htable index; /* of sets, by key */
};

static_assert(sizeof(struct attribute_set_key) == 24, "gap in struct attribute_set_key");

static uint32_t hash_key(const struct attribute_set_key *key)
{
	return hash_bytes(key, sizeof(*key));
}

int attribute_guard_new(uint32_t max_values, struct attribute_guard **ret_guard)
{
	struct attribute_guard *guard = calloc(1, sizeof(*guard));

	if (!guard)
		return -ENOMEM;
	guard->max_values = max_values;
	*ret_guard = guard;
	return 0;
}

void attribute_guard_free(struct attribute_guard *guard)
{
	if (!guard)
		return;
	for (size_t i = 0; i < guard->nr_sets; i++)
		free(guard->sets[i].values);
	free(guard->sets);
	htable_done(&guard->index);
	free(guard);
}

static void expire_values(struct set *set, uint64_t now_ns)
{
	size_t nr_kept = 0;

	for (size_t i = 0; i < set->nr_values; i++)
		if (now_ns - set->values[i].seen_ns < ATTRIBUTE_GUARD_MEMORY_NS)
			set->values[nr_kept++] = set->values[i];
	set->nr_values = nr_kept;
}

void attribute_guard_expire(struct attribute_guard *guard, uint64_t now_ns)
{
	size_t nr_kept = 0;

	htable_clear(&guard->index);
	guard->nr_values = 0;
	for (size_t i = 0; i < guard->nr_sets; i++) {
		struct set set = guard->sets[i];

		expire_values(&set, now_ns);
		/* The index has room for what it held before. */
		if (set.nr_values == 0 ||
		    htable_add(&guard->index, hash_key(&set.key), (uint32_t)nr_kept) < 0) {
			free(set.values);
			continue;
		}
		guard->nr_values += set.nr_values;
		guard->sets[nr_kept++] = set;
	}
	guard->nr_sets = nr_kept;
}

static struct set *find_set(struct attribute_guard *guard, const struct attribute_set_key *key)
{
	struct htable_iter it = htable_lookup(&guard->index, hash_key(key));

	for (uint32_t row; htable_next(&it, &row);)
		if (memcmp(&guard->sets[row].key, key, sizeof(*key)) == 0)
			return &guard->sets[row];
	return NULL;
}

bool attribute_guard_touch(struct attribute_guard *guard, const struct attribute_set_key *key,
			   uint64_t value, uint64_t now_ns)
{
	struct set *set = find_set(guard, key);

	for (size_t i = 0; set && i < set->nr_values; i++) {
		if (set->values[i].value == value) {
			set->values[i].seen_ns = now_ns;
			return true;
		}
	}
	return false;
}

static int add_set(struct attribute_guard *guard, const struct attribute_set_key *key,
		   struct set **ret_set)
{
	int r = array_grow(guard->sets, guard->cap_sets, guard->nr_sets + 1,
			   ATTRIBUTE_GUARD_MAX_SETS);
	if (r == 0)
		r = htable_add(&guard->index, hash_key(key), (uint32_t)guard->nr_sets);
	if (r < 0)
		return r;
	*ret_set = &guard->sets[guard->nr_sets++];
	**ret_set = (struct set){ .key = *key };
	return 0;
}

static int add_value(struct attribute_guard *guard, struct set *set, uint64_t value,
		     uint64_t now_ns)
{
	if (guard->nr_values == ATTRIBUTE_GUARD_MAX_VALUES)
		return -ENOSPC;
	int r = array_grow(set->values, set->cap_values, set->nr_values + 1, guard->max_values);
	if (r < 0)
		return r;
	set->values[set->nr_values++] = (struct value){ value, now_ns };
	guard->nr_values++;
	return 1;
}

int attribute_guard_add(struct attribute_guard *guard, const struct attribute_set_key *key,
			uint64_t value, uint64_t now_ns)
{
	struct set *set = find_set(guard, key);
	int r = set ? 0 : add_set(guard, key, &set);

	if (r == 0)
		r = add_value(guard, set, value, now_ns);
	return r == -ENOSPC ? 0 : r;
}
