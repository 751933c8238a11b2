/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/cgroup_table.h"

#include "base/array.h"
#include "base/clock.h"
#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

#define SIBLINGS_MAX 256

void cgroup_table_done(struct cgroup_table *table)
{
	for (size_t i = 0; i < table->nr_cgroups; i++)
		free(table->cgroups[i].path);
	free(table->cgroups);
	htable_done(&table->index);
	htable_done(&table->by_pod);
}

struct known_cgroup *cgroup_table_find(const struct cgroup_table *table, uint64_t id)
{
	struct htable_iter it = htable_lookup(&table->index, hash_u64(id));

	for (uint32_t row; htable_next(&it, &row);)
		if (table->cgroups[row].id == id)
			return &table->cgroups[row];
	return NULL;
}

static void keep_path(struct cgroup_table *table, struct known_cgroup *cgroup, const char *path)
{
	size_t bytes = strlen(path) + 1;

	if (bytes > CGROUP_TABLE_MAX_PATH_BYTES - table->path_bytes)
		return;
	cgroup->path = strdup(path);
	if (cgroup->path)
		table->path_bytes += bytes;
}

static void forget_path(struct cgroup_table *table, struct known_cgroup *cgroup)
{
	if (cgroup->path)
		table->path_bytes -= strlen(cgroup->path) + 1;
	free(cgroup->path);
}

/* Returns whether it is one of its pod's containers and not a cgroup inside of one. */
static bool is_container(const struct known_cgroup *cgroup)
{
	return cgroup->owner.kind == CGROUP_CONTAINER && !cgroup->owner.is_nested;
}

static uint32_t hash_pod(const struct known_cgroup *cgroup)
{
	return hash_bytes(cgroup->owner.pod_uid, strlen(cgroup->owner.pod_uid));
}

/* A younger cgroup has a larger id. A cgroup inside of a container is as old as the container. */
static void compare_age(struct known_cgroup *cgroup, struct known_cgroup *other)
{
	if (strcmp(cgroup->owner.container_id, other->owner.container_id) == 0) {
		cgroup->has_elder = other->has_elder;
	} else if (is_container(cgroup) && cgroup->id > other->id) {
		cgroup->has_elder |= !other->is_dead;
	} else if (is_container(cgroup)) {
		other->has_elder = true;
		other->is_judged = false;
	}
}

/* Finds out who was there first. Of a pod with very many containers the rest is taken for
 * younger. */
static void compare_ages(struct cgroup_table *table, struct known_cgroup *cgroup)
{
	struct htable_iter it = htable_lookup(&table->by_pod, hash_pod(cgroup));
	size_t nr = 0;

	if (cgroup->owner.kind != CGROUP_CONTAINER)
		return;
	for (uint32_t row; htable_next(&it, &row);) {
		struct known_cgroup *other = &table->cgroups[row];

		if (nr++ == SIBLINGS_MAX) {
			cgroup->has_elder = true;
			return;
		}
		if (strcmp(cgroup->owner.pod_uid, other->owner.pod_uid) == 0)
			compare_age(cgroup, other);
	}
}

uint64_t cgroup_table_seen_ns(const struct known_cgroup *cgroup)
{
	return cgroup->has_elder ? UINT64_MAX : cgroup->first_seen_ns;
}

/* Adds a row to the indexes. */
static int file(struct cgroup_table *table, const struct known_cgroup *cgroup, uint32_t row)
{
	if (htable_add(&table->index, hash_u64(cgroup->id), row) < 0)
		return -ENOMEM;
	if (!is_container(cgroup) || htable_add(&table->by_pod, hash_pod(cgroup), row) == 0)
		return 0;
	htable_remove(&table->index, hash_u64(cgroup->id), row);
	return -ENOMEM;
}

/* A cgroup for which the kernel has a verdict stays until the verdict is taken back. */
static bool is_long_dead(const struct known_cgroup *cgroup, uint64_t now_ns)
{
	return cgroup->is_dead && cgroup->verdict == CGROUP_UNFILTERED &&
	       cgroup->last_seen_ns + CGROUP_FORGET_AFTER_NS < now_ns;
}

static bool is_pods_root(const struct known_cgroup *cgroup)
{
	return cgroup->path && cgroup_path_is_pods_root(cgroup->path);
}

/* Returns whether a full table may forget the cgroup: it is dead, or it was never
 * sampled and is not a pod's. */
static bool is_dispensable(const struct known_cgroup *cgroup, uint64_t now_ns)
{
	bool is_idle = !cgroup->is_sampled &&
		       (cgroup->owner.kind == CGROUP_HOST || cgroup->owner.is_nested);

	(void)now_ns;
	return cgroup->verdict == CGROUP_UNFILTERED &&
	       (cgroup->is_dead || (is_idle && !is_pods_root(cgroup)));
}

static void forget(struct cgroup_table *table, uint64_t now_ns,
		   bool (*may_go)(const struct known_cgroup *cgroup, uint64_t now_ns))
{
	size_t nr_kept = 0;

	htable_clear(&table->index);
	htable_clear(&table->by_pod);
	for (size_t i = 0; i < table->nr_cgroups; i++) {
		struct known_cgroup *cgroup = &table->cgroups[i];

		if (may_go(cgroup, now_ns) || file(table, cgroup, (uint32_t)nr_kept) < 0)
			forget_path(table, cgroup);
		else
			table->cgroups[nr_kept++] = *cgroup;
	}
	table->nr_cgroups = nr_kept;
}

void cgroup_table_tidy(struct cgroup_table *table, uint64_t now_ns)
{
	for (size_t i = 0; i < table->nr_cgroups; i++)
		if (is_long_dead(&table->cgroups[i], now_ns))
			return forget(table, now_ns, is_long_dead);
}

/* Scans the whole table, so it is rate-limited. */
static void make_room(struct cgroup_table *table, uint64_t now_ns)
{
	if (now_ns < table->next_forget_ns)
		return;
	table->next_forget_ns = now_ns + NSEC_PER_SEC;
	forget(table, now_ns, is_dispensable);
}

struct known_cgroup *cgroup_table_add(struct cgroup_table *table, uint64_t id, const char *path,
				      uint64_t now_ns)
{
	if (table->nr_cgroups == CGROUP_TABLE_MAX)
		make_room(table, now_ns);
	if (array_grow(table->cgroups, table->cap_cgroups, table->nr_cgroups + 1,
		       CGROUP_TABLE_MAX) < 0)
		return NULL;

	struct known_cgroup *cgroup = &table->cgroups[table->nr_cgroups];
	*cgroup =
		(struct known_cgroup){ .id = id, .first_seen_ns = now_ns, .last_seen_ns = now_ns };
	cgroup_path_parse(path, &cgroup->owner);
	compare_ages(table, cgroup);
	if (file(table, cgroup, (uint32_t)table->nr_cgroups) < 0)
		return NULL;
	table->nr_cgroups++;
	keep_path(table, cgroup, path);
	return cgroup;
}
