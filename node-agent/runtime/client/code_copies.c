/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/client/code_copies.h"

#include "base/hash.h"
#include "bpf/shared/runtime.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Rows are limited, too: in comparisons of owners, a row counts as this many bytes. */
#define ROW_BYTES (CODE_COPIES_MAX_BYTES / CODE_COPIES_MAX)

void code_copies_done(struct code_copies *copies)
{
	for (size_t i = 0; copies->rows && i < CODE_COPIES_MAX; i++)
		free(copies->rows[i].copy);
	free(copies->rows);
	free(copies->owners);
	htable_done(&copies->index);
	*copies = (struct code_copies){ 0 };
}

size_t code_copy_len(const struct code_copy *copy)
{
	return offsetof(struct code_copy, lines) + copy->nr_line_bytes;
}

static uint32_t hash_of(uint32_t pid, uint64_t start_ns, uint64_t address)
{
	return hash_u64(address ^ (uint64_t)hash_u64(start_ns ^ (uint64_t)pid << 32) << 32);
}

static uint32_t hash_of_copy(const struct code_copy *copy)
{
	return hash_of(copy->pid, copy->start_ns, copy->addresses[CODE_COPY_OBJECT]);
}

/* Returns whether there is memory for rows. */
static bool make_rows(struct code_copies *copies)
{
	if (copies->rows)
		return true;
	copies->rows = calloc(CODE_COPIES_MAX, sizeof(*copies->rows));
	copies->owners = calloc(CODE_COPIES_MAX_OWNERS, sizeof(*copies->owners));
	if (!copies->rows || !copies->owners) {
		code_copies_done(copies);
		return false;
	}
	TAILQ_INIT(&copies->by_age);
	TAILQ_INIT(&copies->unused);
	for (size_t i = 0; i < CODE_COPIES_MAX; i++)
		TAILQ_INSERT_TAIL(&copies->unused, &copies->rows[i], age_link);
	for (size_t i = 0; i < CODE_COPIES_MAX_OWNERS; i++)
		TAILQ_INIT(&copies->owners[i].rows);
	return true;
}

static void drop(struct code_copies *copies, struct kept_copy *row)
{
	size_t len = code_copy_len(row->copy);

	htable_remove(&copies->index, hash_of_copy(row->copy), (uint32_t)(row - copies->rows));
	TAILQ_REMOVE(&row->owner->rows, row, owner_link);
	row->owner->nr--;
	row->owner->nr_bytes -= len;
	TAILQ_REMOVE(&copies->by_age, row, age_link);
	TAILQ_INSERT_HEAD(&copies->unused, row, age_link);
	copies->nr--;
	copies->nr_bytes -= len;
	free(row->copy);
	row->copy = NULL;
}

static size_t size_of(const struct copies_owner *owner)
{
	return owner->nr_bytes + owner->nr * ROW_BYTES;
}

static struct copies_owner *find_largest(const struct code_copies *copies)
{
	struct copies_owner *largest = &copies->owners[0];

	for (size_t i = 1; i < CODE_COPIES_MAX_OWNERS; i++)
		if (size_of(&copies->owners[i]) > size_of(largest))
			largest = &copies->owners[i];
	return largest;
}

static void make_room(struct code_copies *copies, size_t len)
{
	while (copies->nr == CODE_COPIES_MAX ||
	       (copies->nr > 0 && copies->nr_bytes + len > CODE_COPIES_MAX_BYTES))
		drop(copies, TAILQ_FIRST(&find_largest(copies)->rows));
}

/* Returns the owner with this id. If the table is full of others, this id shares the last one. */
static struct copies_owner *get_owner(struct code_copies *copies, uint64_t id)
{
	struct copies_owner *found = NULL;

	for (size_t i = 0; i < CODE_COPIES_MAX_OWNERS; i++) {
		struct copies_owner *owner = &copies->owners[i];

		if (owner->nr > 0 && owner->id == id)
			return owner;
		if (owner->nr == 0 && !found)
			found = owner;
	}
	if (!found)
		return &copies->owners[CODE_COPIES_MAX_OWNERS - 1];
	found->id = id;
	return found;
}

/* Puts a copy into an unused row. */
static void put(struct code_copies *copies, struct kept_copy *row, struct code_copy *copy,
		uint64_t now_ns)
{
	size_t len = code_copy_len(copy);

	row->copy = copy;
	row->taken_ns = now_ns;
	row->owner = get_owner(copies, copy->cgroup_id);
	TAILQ_REMOVE(&copies->unused, row, age_link);
	TAILQ_INSERT_TAIL(&copies->by_age, row, age_link);
	TAILQ_INSERT_TAIL(&row->owner->rows, row, owner_link);
	row->owner->nr++;
	row->owner->nr_bytes += len;
	copies->nr++;
	copies->nr_bytes += len;
}

void code_copies_add(struct code_copies *copies, const struct code_copy *copy, uint64_t now_ns)
{
	size_t len = code_copy_len(copy);

	if (!make_rows(copies))
		return;
	make_room(copies, len);
	struct kept_copy *row = TAILQ_FIRST(&copies->unused);
	struct code_copy *kept = malloc(len);
	if (!kept ||
	    htable_add(&copies->index, hash_of_copy(copy), (uint32_t)(row - copies->rows)) < 0) {
		free(kept);
		return;
	}
	memcpy(kept, copy, len);
	put(copies, row, kept, now_ns);
}

static bool is_copy_of(const struct code_copy *copy, const struct code_key *key)
{
	return copy->pid == key->pid && copy->start_ns == key->start_ns &&
	       copy->addresses[CODE_COPY_OBJECT] == key->words[1] &&
	       copy->check == RUNTIME_TAG_CHECK(key->words[0]);
}

const struct code_copy *code_copies_find(const struct code_copies *copies,
					 const struct code_key *key)
{
	if (RUNTIME_TAG_FRAME(key->words[0]) != RUNTIME_FRAME_CPYTHON)
		return NULL;
	struct htable_iter it = htable_lookup(&copies->index,
					      hash_of(key->pid, key->start_ns, key->words[1]));

	for (uint32_t row; htable_next(&it, &row);)
		if (is_copy_of(copies->rows[row].copy, key))
			return copies->rows[row].copy;
	return NULL;
}

void code_copies_expire(struct code_copies *copies, uint64_t now_ns)
{
	while (copies->nr > 0 &&
	       now_ns > TAILQ_FIRST(&copies->by_age)->taken_ns + CODE_COPIES_KEEP_NS)
		drop(copies, TAILQ_FIRST(&copies->by_age));
}
