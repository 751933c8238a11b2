/* SPDX-License-Identifier: Apache-2.0 */
#include "otlp/attributes/attribute_tally.h"

#include "base/array.h"
#include "base/hash.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static_assert(sizeof(struct tally_key) == 16, "gap in struct tally_key");

/* A row in the order of decisions. */
struct turn {
	uint64_t count;
	size_t row;
};

void attribute_tally_done(struct attribute_tally *tally)
{
	free(tally->rows);
	htable_done(&tally->index);
}

static struct tally_row *find(const struct attribute_tally *tally, const struct tally_key *key,
			      uint32_t hash)
{
	struct htable_iter it = htable_lookup(&tally->index, hash);

	for (uint32_t row; htable_next(&it, &row);)
		if (memcmp(&tally->rows[row].key, key, sizeof(*key)) == 0)
			return &tally->rows[row];
	return NULL;
}

int attribute_tally_add(struct attribute_tally *tally, const struct tally_key *key, uint64_t count)
{
	uint32_t hash = hash_bytes(key, sizeof(*key));
	struct tally_row *row = find(tally, key, hash);

	if (row) {
		row->count += count;
		return 0;
	}

	int r = array_grow(tally->rows, tally->cap_rows, tally->nr_rows + 1, UINT32_MAX - 1);
	if (r == 0)
		r = htable_add(&tally->index, hash, (uint32_t)tally->nr_rows);
	if (r == 0)
		tally->rows[tally->nr_rows++] = (struct tally_row){ .key = *key, .count = count };
	return r;
}

bool attribute_tally_admits(const struct attribute_tally *tally, const struct tally_key *key)
{
	const struct tally_row *row = find(tally, key, hash_bytes(key, sizeof(*key)));

	return row && row->is_admitted;
}

/* Sorts the most frequent first, and equal ones in order of arrival. */
static int compare_turns(const void *left, const void *right)
{
	const struct turn *a = left;
	const struct turn *b = right;

	if (a->count != b->count)
		return a->count < b->count ? 1 : -1;
	return a->row < b->row ? -1 : 1;
}

int attribute_tally_decide(struct attribute_tally *tally, struct attribute_guard *guard,
			   uint64_t now_ns,
			   struct tally_place (*place)(const struct tally_key *key,
						       const void *data),
			   const void *data)
{
	_cleanup_free_ struct turn *turns = calloc(tally->nr_rows + 1, sizeof(*turns));
	size_t nr_turns = 0;

	if (!turns)
		return -ENOMEM;
	for (size_t i = 0; i < tally->nr_rows; i++) {
		struct tally_row *row = &tally->rows[i];
		const struct tally_place at = place(&row->key, data);

		row->is_admitted = attribute_guard_touch(guard, &at.set, at.value, now_ns);
		if (!row->is_admitted)
			turns[nr_turns++] = (struct turn){ row->count, i };
	}
	qsort(turns, nr_turns, sizeof(*turns), compare_turns);

	for (size_t i = 0; i < nr_turns; i++) {
		struct tally_row *row = &tally->rows[turns[i].row];
		const struct tally_place at = place(&row->key, data);

		int r = attribute_guard_add(guard, &at.set, at.value, now_ns);
		if (r < 0)
			return r;
		row->is_admitted = r > 0;
	}
	return 0;
}
