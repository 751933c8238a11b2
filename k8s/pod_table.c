/* SPDX-License-Identifier: Apache-2.0 */
/* Each list with a change makes a new table: first the list's pods, then the pods of the old table
 * that the list no longer has and that are young enough. As the old table was built the same way,
 * its rows go from the youngest to the oldest, live ones first, and the oldest rows are dropped if
 * there is no room. No UID and no ID has two rows.
 *
 * The table takes over the list's arena, so a live pod's texts are never copied; a tombstone's are,
 * into the arena of each table that follows. Most lists equal the previous one; they are compared
 * and make no table. */
#include "k8s/pod_table.h"

#include "base/array.h"
#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

#define CONTAINERS_PER_POD_MAX 32 /* on average, former ones included */

void pod_table_done(struct pod_table *table)
{
	arena_done(&table->arena);
	free(table->pods);
	free(table->containers);
	htable_done(&table->by_uid);
	htable_done(&table->by_id);
}

static uint32_t hash_text(const char *text)
{
	return hash_bytes(text, strlen(text));
}

const struct pod_row *pod_table_find_pod(const struct pod_table *table, const char *uid)
{
	struct htable_iter it = htable_lookup(&table->by_uid, hash_text(uid));

	for (uint32_t row; htable_next(&it, &row);)
		if (strcmp(table->pods[row].pod->uid, uid) == 0)
			return &table->pods[row];
	return NULL;
}

const struct container_row *pod_table_find_container(const struct pod_table *table, const char *id)
{
	struct htable_iter it = htable_lookup(&table->by_id, hash_text(id));

	for (uint32_t row; htable_next(&it, &row);)
		if (strcmp(table->containers[row].container->id, id) == 0)
			return &table->containers[row];
	return NULL;
}

static int add_pod(struct pod_table *table, const struct pod_row *pod)
{
	uint32_t row = (uint32_t)table->nr_pods;

	int r = array_grow(table->pods, table->cap_pods, table->nr_pods + 1, table->max_pods);
	if (r == 0)
		r = htable_add(&table->by_uid, hash_text(pod->pod->uid), row);
	if (r < 0)
		return r;
	table->pods[table->nr_pods++] = *pod;
	table->nr_live_pods += pod->gone_ns == 0;
	return 0;
}

static int add_container(struct pod_table *table, const struct container_row *container)
{
	uint32_t row = (uint32_t)table->nr_containers;

	int r = array_grow(table->containers, table->cap_containers, table->nr_containers + 1,
			   table->max_pods * CONTAINERS_PER_POD_MAX);
	if (r == 0)
		r = htable_add(&table->by_id, hash_text(container->container->id), row);
	if (r < 0)
		return r;
	table->containers[table->nr_containers++] = *container;
	table->nr_live_containers += container->gone_ns == 0;
	return 0;
}

/* Adds the list's pods that are not in `known`. Errors: -ENOSPC when some did not fit, -ENOMEM. */
static int add_list_pods(struct pod_table *table, const struct pod_list *list,
			 const struct pod_table *known, uint64_t now_ns)
{
	int result = 0;

	for (size_t i = 0; i < list->nr_pods; i++) {
		const struct pod *pod = &list->pods[i];
		struct pod_row row = { .pod = pod, .seen_ns = now_ns };

		if (pod_table_find_pod(table, pod->uid) || pod_table_find_pod(known, pod->uid))
			continue;

		int r = add_pod(table, &row);
		if (r == -ENOMEM)
			return r;
		if (r < 0)
			result = r;
	}
	return result;
}

/* Adds the containers of one of the list's pods, which is in the table. */
static int add_pod_containers(struct pod_table *table, const struct pod *pod, uint32_t pod_row,
			      const struct pod_table *known)
{
	for (size_t i = 0; i < pod->nr_containers; i++) {
		const struct pod_container *container = &pod->containers[i];
		struct container_row row = { .container = container, .pod_row = pod_row };

		if (pod_table_find_container(table, container->id) ||
		    pod_table_find_container(known, container->id))
			continue;

		int r = add_container(table, &row);
		if (r < 0)
			return r;
	}
	return 0;
}

/* Adds the list's containers that are not in `known`. From here on they are the table's alone.
 * Errors: -ENOSPC when some did not fit, -ENOMEM. */
static int add_list_containers(struct pod_table *table, struct pod_list *list,
			       const struct pod_table *known)
{
	int result = 0;

	for (size_t i = 0; i < list->nr_pods; i++) {
		struct pod *pod = &list->pods[i];
		const struct pod_row *row = pod_table_find_pod(table, pod->uid);
		int r = 0;

		if (row)
			r = add_pod_containers(table, pod, (uint32_t)(row - table->pods), known);
		if (r == -ENOMEM)
			return r;
		if (r < 0)
			result = r;
		pod->containers = NULL;
		pod->nr_containers = 0;
	}
	return result;
}

/* Rows of an old table that are carried over into the one that follows. */
struct carry {
	const struct pod_table *old;
	size_t from, to; /* rows */
	/* Live rows become tombstones of that time, expired ones stay behind; 0: neither */
	uint64_t now_ns;
};

static bool is_expired(uint64_t gone_ns, uint64_t now_ns)
{
	return gone_ns && now_ns > gone_ns && now_ns - gone_ns > TOMBSTONE_NS;
}

static int carry_pod(struct pod_table *table, const struct pod_row *old, uint64_t now_ns)
{
	struct pod *copy = arena_alloc(&table->arena, sizeof(*copy));
	struct pod_row row = *old;

	if (!copy)
		return -ENOMEM;
	row.pod = copy;
	if (!row.gone_ns)
		row.gone_ns = now_ns;
	int r = pod_copy(&table->arena, old->pod, copy);
	return r < 0 ? r : add_pod(table, &row);
}

/* Carries over pods that the table does not have, the youngest first, as far as there is room. */
static int carry_pods(struct pod_table *table, const struct carry *carry)
{
	for (size_t i = carry->from; i < carry->to && table->nr_pods < table->max_pods; i++) {
		const struct pod_row *pod = &carry->old->pods[i];

		if (is_expired(pod->gone_ns, carry->now_ns) ||
		    pod_table_find_pod(table, pod->pod->uid))
			continue;

		int r = carry_pod(table, pod, carry->now_ns);
		if (r < 0)
			return r;
	}
	return 0;
}

static int carry_container(struct pod_table *table, const struct container_row *old,
			   uint32_t pod_row, uint64_t now_ns)
{
	struct pod_container *copy = arena_alloc(&table->arena, sizeof(*copy));
	struct container_row row = { .container = copy, .pod_row = pod_row };

	if (!copy)
		return -ENOMEM;
	row.gone_ns = old->gone_ns ? old->gone_ns : now_ns;
	int r = pod_container_copy(&table->arena, old->container, copy);
	return r < 0 ? r : add_container(table, &row);
}

/* Carries over containers that the table does not have, of pods that it has, as far as there is
 * room. */
static int carry_containers(struct pod_table *table, const struct carry *carry)
{
	for (size_t i = carry->from; i < carry->to; i++) {
		const struct container_row *container = &carry->old->containers[i];
		const char *uid = carry->old->pods[container->pod_row].pod->uid;
		const struct pod_row *pod = pod_table_find_pod(table, uid);

		if (!pod || is_expired(container->gone_ns, carry->now_ns) ||
		    pod_table_find_container(table, container->container->id))
			continue;

		int r = carry_container(table, container, (uint32_t)(pod - table->pods),
					carry->now_ns);
		if (r < 0)
			return r == -ENOSPC ? 0 : r;
	}
	return 0;
}

/* The worse of two results: -ENOMEM, -ENOSPC, 0. */
static int worse(int a, int b)
{
	return a == -ENOMEM || b == 0 ? a : b;
}

/* An empty table of the same limits that owns what the list points to. */
static void begin_table(struct pod_table *table, const struct pod_table *old, struct pod_list *list)
{
	*table = (struct pod_table){ .max_pods = old->max_pods, .arena = list->arena };
	table->arena.max_bytes = 0; /* bounded by the number of rows from now on */
	list->arena = (struct arena){ 0 };
}

int pod_table_replace(const struct pod_table *old, struct pod_list *list, uint64_t now_ns,
		      struct pod_table *table)
{
	static const struct pod_table nothing;
	const struct carry pods = { old, 0, old->nr_pods, now_ns };
	const struct carry containers = { old, 0, old->nr_containers, now_ns };

	begin_table(table, old, list);
	int r = add_list_pods(table, list, &nothing, now_ns);
	if (r != -ENOMEM)
		r = worse(r, carry_pods(table, &pods));
	if (r != -ENOMEM)
		r = worse(r, add_list_containers(table, list, &nothing));
	if (r != -ENOMEM)
		r = worse(r, carry_containers(table, &containers));
	return r;
}

int pod_table_complete(const struct pod_table *old, struct pod_list *list, uint64_t now_ns,
		       struct pod_table *table)
{
	const struct carry live_pods = { old, 0, old->nr_live_pods, 0 };
	const struct carry gone_pods = { old, old->nr_live_pods, old->nr_pods, 0 };
	const struct carry live = { old, 0, old->nr_live_containers, 0 };
	const struct carry gone = { old, old->nr_live_containers, old->nr_containers, 0 };

	begin_table(table, old, list);
	int r = carry_pods(table, &live_pods);
	if (r != -ENOMEM)
		r = worse(r, add_list_pods(table, list, old, now_ns));
	if (r != -ENOMEM)
		r = worse(r, carry_pods(table, &gone_pods));
	if (r != -ENOMEM)
		r = worse(r, carry_containers(table, &live));
	if (r != -ENOMEM)
		r = worse(r, add_list_containers(table, list, old));
	if (r != -ENOMEM)
		r = worse(r, carry_containers(table, &gone));
	return r;
}

static bool has_container(const struct pod_table *table, const struct pod_container *container,
			  const struct pod_row *pod)
{
	const struct container_row *row = pod_table_find_container(table, container->id);

	return row && row->gone_ns == 0 && &table->pods[row->pod_row] == pod &&
	       pod_container_is_equal(row->container, container);
}

static bool has_pod(const struct pod_table *table, const struct pod *pod)
{
	const struct pod_row *row = pod_table_find_pod(table, pod->uid);

	if (!row || row->gone_ns || !pod_is_equal(row->pod, pod))
		return false;
	for (size_t i = 0; i < pod->nr_containers; i++)
		if (!has_container(table, &pod->containers[i], row))
			return false;
	return true;
}

bool pod_table_is_like(const struct pod_table *table, const struct pod_list *list, uint64_t now_ns)
{
	size_t nr_containers = 0;

	if (list->nr_pods != table->nr_live_pods)
		return false;
	for (size_t i = 0; i < list->nr_pods; i++) {
		if (!has_pod(table, &list->pods[i]))
			return false;
		nr_containers += list->pods[i].nr_containers;
	}
	if (nr_containers != table->nr_live_containers)
		return false;
	for (size_t i = table->nr_live_pods; i < table->nr_pods; i++)
		if (is_expired(table->pods[i].gone_ns, now_ns))
			return false;
	for (size_t i = table->nr_live_containers; i < table->nr_containers; i++)
		if (is_expired(table->containers[i].gone_ns, now_ns))
			return false;
	return true;
}

bool pod_table_has_all(const struct pod_table *table, const struct pod_list *list)
{
	for (size_t i = 0; i < list->nr_pods; i++) {
		const struct pod *pod = &list->pods[i];

		if (!pod_table_find_pod(table, pod->uid))
			return false;
		for (size_t j = 0; j < pod->nr_containers; j++)
			if (!pod_table_find_container(table, pod->containers[j].id))
				return false;
	}
	return true;
}

size_t pod_table_bytes(const struct pod_table *table)
{
	return table->arena.nr_bytes + table->cap_pods * sizeof(*table->pods) +
	       table->cap_containers * sizeof(*table->containers) +
	       (table->by_uid.nr_slots + table->by_id.nr_slots) * sizeof(struct htable_slot);
}
