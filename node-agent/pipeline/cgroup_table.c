/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/cgroup_table.h"

#include "base/array.h"
#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

void cgroup_table_done(struct cgroup_table *table)
{
	for (size_t i = 0; i < table->nr_cgroups; i++)
		free(table->cgroups[i].path);
	free(table->cgroups);
	htable_done(&table->index);
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

static bool is_forgettable(const struct known_cgroup *cgroup, uint64_t now_ns, uint64_t age_ns)
{
	return cgroup->is_dead && cgroup->last_seen_ns + age_ns < now_ns;
}

/* Ids are not used again, so nothing is lost but memory. */
static void forget_dead(struct cgroup_table *table, uint64_t now_ns, uint64_t age_ns)
{
	size_t nr_kept = 0;

	htable_clear(&table->index);
	for (size_t i = 0; i < table->nr_cgroups; i++) {
		struct known_cgroup *cgroup = &table->cgroups[i];

		if (is_forgettable(cgroup, now_ns, age_ns) ||
		    htable_add(&table->index, hash_u64(cgroup->id), (uint32_t)nr_kept) < 0)
			forget_path(table, cgroup);
		else
			table->cgroups[nr_kept++] = *cgroup;
	}
	table->nr_cgroups = nr_kept;
}

void cgroup_table_tidy(struct cgroup_table *table, uint64_t now_ns)
{
	for (size_t i = 0; i < table->nr_cgroups; i++)
		if (is_forgettable(&table->cgroups[i], now_ns, CGROUP_FORGET_AFTER_NS))
			return forget_dead(table, now_ns, CGROUP_FORGET_AFTER_NS);
}

struct known_cgroup *cgroup_table_add(struct cgroup_table *table, uint64_t id, const char *path,
				      uint64_t now_ns)
{
	if (table->nr_cgroups == CGROUP_TABLE_MAX)
		forget_dead(table, now_ns, 0);
	if (array_grow(table->cgroups, table->cap_cgroups, table->nr_cgroups + 1,
		       CGROUP_TABLE_MAX) < 0)
		return NULL;
	if (htable_add(&table->index, hash_u64(id), (uint32_t)table->nr_cgroups) < 0)
		return NULL;

	struct known_cgroup *cgroup = &table->cgroups[table->nr_cgroups++];
	*cgroup =
		(struct known_cgroup){ .id = id, .first_seen_ns = now_ns, .last_seen_ns = now_ns };
	cgroup_path_parse(path, &cgroup->owner);
	keep_path(table, cgroup, path);
	return cgroup;
}
