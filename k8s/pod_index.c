/* SPDX-License-Identifier: Apache-2.0 */
/* Each list that brings a change makes a new table: first the list's pods, then from the old table what the list
 * no longer has and is young enough. As the old table was built the same way, its rows go from the youngest to
 * the oldest, live ones first, and what finds no room is the oldest. No UID and no ID has two rows.
 *
 * The table takes over the list's arena, so a live pod's texts are never copied; a tombstone's are, into the
 * arena of each table that follows. Most lists are like the one before: those are compared, and make no table. */
#include "k8s/pod_index.h"

#include "base/array.h"
#include "base/hash.h"
#include "base/htable.h"
#include "k8s/pod_copy.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define CONTAINERS_PER_POD_MAX 32 /* on average, former ones included */

struct pod_row {
	const struct pod *pod; /* its containers are rows of their own */
	uint64_t seen_ns; /* time of the last list that had it */
	uint64_t gone_ns; /* time of the first one without it; 0: live */
};

struct container_row {
	const struct pod_container *container;
	uint32_t pod_row;
	uint64_t gone_ns; /* as above */
};

struct pod_table {
	struct arena arena; /* what the rows point to */
	struct pod_row *pods; /* owned; the live ones first */
	size_t nr_pods, cap_pods, max_pods;
	struct container_row *containers; /* owned; the live ones first */
	size_t nr_containers, cap_containers;
	struct htable by_uid; /* pods */
	struct htable by_id; /* containers */
	size_t nr_live_pods, nr_live_containers;
};

struct pod_index {
	pthread_mutex_t lock;
	/* guarded by lock */
	struct pod_table table;
	uint64_t generation;
	bool is_undecided; /* an answer was given that a list like the last one can change */
};

static void table_done(struct pod_table *table)
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

static const struct pod_row *find_pod(const struct pod_table *table, const char *uid)
{
	struct htable_iter it = htable_lookup(&table->by_uid, hash_text(uid));

	for (uint32_t row; htable_next(&it, &row);)
		if (strcmp(table->pods[row].pod->uid, uid) == 0)
			return &table->pods[row];
	return NULL;
}

static const struct container_row *find_container(const struct pod_table *table, const char *id)
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

		if (find_pod(table, pod->uid) || find_pod(known, pod->uid))
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

		if (find_container(table, container->id) || find_container(known, container->id))
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
		const struct pod_row *row = find_pod(table, pod->uid);
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
	uint64_t
		now_ns; /* live rows become tombstones of that time, expired ones stay behind; 0: neither */
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

		if (is_expired(pod->gone_ns, carry->now_ns) || find_pod(table, pod->pod->uid))
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

/* Carries over containers that the table does not have, of pods that it has, as far as there is room. */
static int carry_containers(struct pod_table *table, const struct carry *carry)
{
	for (size_t i = carry->from; i < carry->to; i++) {
		const struct container_row *container = &carry->old->containers[i];
		const char *uid = carry->old->pods[container->pod_row].pod->uid;
		const struct pod_row *pod = find_pod(table, uid);

		if (!pod || is_expired(container->gone_ns, carry->now_ns) ||
		    find_container(table, container->container->id))
			continue;

		int r = carry_container(table, container, (uint32_t)(pod - table->pods),
					carry->now_ns);
		if (r < 0)
			return r == -ENOSPC ? 0 : r;
	}
	return 0;
}

/* An empty table of the same limits that owns what the list points to. */
static void begin_table(struct pod_table *table, const struct pod_table *old, struct pod_list *list)
{
	*table = (struct pod_table){ .max_pods = old->max_pods, .arena = list->arena };
	table->arena.max_bytes = 0; /* bounded by the number of rows from now on */
	list->arena = (struct arena){ 0 };
}

/* The worse of two results: -ENOMEM, -ENOSPC, 0. */
static int worse(int a, int b)
{
	return a == -ENOMEM || b == 0 ? a : b;
}

/* The table after a list of all pods there are. Errors: as pod_index_update(); for -ENOSPC it is complete. */
static int build_replacement(struct pod_table *table, const struct pod_table *old,
			     struct pod_list *list, uint64_t now_ns)
{
	static const struct pod_table nothing;
	const struct carry pods = { old, 0, old->nr_pods, now_ns };
	const struct carry containers = { old, 0, old->nr_containers, now_ns };

	int r = add_list_pods(table, list, &nothing, now_ns);
	if (r != -ENOMEM)
		r = worse(r, carry_pods(table, &pods));
	if (r != -ENOMEM)
		r = worse(r, add_list_containers(table, list, &nothing));
	if (r != -ENOMEM)
		r = worse(r, carry_containers(table, &containers));
	return r;
}

/* The table with what a list adds to it. Errors: as above. */
static int build_completion(struct pod_table *table, const struct pod_table *old,
			    struct pod_list *list, uint64_t now_ns)
{
	const struct carry live_pods = { old, 0, old->nr_live_pods, 0 };
	const struct carry gone_pods = { old, old->nr_live_pods, old->nr_pods, 0 };
	const struct carry live = { old, 0, old->nr_live_containers, 0 };
	const struct carry gone = { old, old->nr_live_containers, old->nr_containers, 0 };

	int r = carry_pods(table, &live_pods);
	if (r != -ENOMEM)
		r = add_list_pods(table, list, old, now_ns);
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
	const struct container_row *row = find_container(table, container->id);

	return row && row->gone_ns == 0 && &table->pods[row->pod_row] == pod &&
	       pod_container_is_equal(row->container, container);
}

static bool has_pod(const struct pod_table *table, const struct pod *pod)
{
	const struct pod_row *row = find_pod(table, pod->uid);

	if (!row || row->gone_ns || !pod_is_equal(row->pod, pod))
		return false;
	for (size_t i = 0; i < pod->nr_containers; i++)
		if (!has_container(table, &pod->containers[i], row))
			return false;
	return true;
}

/* Whether the table's live rows are what the list says, and no tombstone has expired. */
static bool is_like_list(const struct pod_table *table, const struct pod_list *list,
			 uint64_t now_ns)
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

/* Whether the list has no pod and no container that the table does not have. */
static bool has_all(const struct pod_table *table, const struct pod_list *list)
{
	for (size_t i = 0; i < list->nr_pods; i++) {
		const struct pod *pod = &list->pods[i];

		if (!find_pod(table, pod->uid))
			return false;
		for (size_t j = 0; j < pod->nr_containers; j++)
			if (!find_container(table, pod->containers[j].id))
				return false;
	}
	return true;
}

int pod_index_new(size_t max_pods, struct pod_index **ret_index)
{
	struct pod_index *index = calloc(1, sizeof(*index));

	if (!index)
		return -ENOMEM;
	pthread_mutex_init(&index->lock, NULL);
	index->table.max_pods = max_pods;
	*ret_index = index;
	return 0;
}

void pod_index_free(struct pod_index *index)
{
	if (!index)
		return;
	table_done(&index->table);
	pthread_mutex_destroy(&index->lock);
	free(index);
}

/* Puts the table that `build` makes in the place of the present one. Called with the lock held. */
static int replace_table(struct pod_index *index, struct pod_list *list, uint64_t now_ns,
			 int (*build)(struct pod_table *table, const struct pod_table *old,
				      struct pod_list *list, uint64_t now_ns))
{
	_cleanup_(table_done) struct pod_table next;

	begin_table(&next, &index->table, list);
	int r = build(&next, &index->table, list, now_ns);
	if (r != -ENOMEM) {
		struct pod_table old = index->table;

		index->table = next;
		next = old;
		index->generation++;
		index->is_undecided = false;
	}
	return r;
}

/* A list that changes nothing but when its pods were seen. Called with the lock held. */
static void mark_seen(struct pod_index *index, uint64_t now_ns)
{
	for (size_t i = 0; i < index->table.nr_live_pods; i++)
		index->table.pods[i].seen_ns = now_ns;
	index->generation += index->is_undecided;
	index->is_undecided = false;
}

int pod_index_update(struct pod_index *index, struct pod_list *list, uint64_t now_ns)
{
	int r = 0;

	pthread_mutex_lock(&index->lock);
	if (is_like_list(&index->table, list, now_ns))
		mark_seen(index, now_ns);
	else
		r = replace_table(index, list, now_ns, build_replacement);
	pthread_mutex_unlock(&index->lock);
	pod_list_free(list);
	return r;
}

int pod_index_complete(struct pod_index *index, struct pod_list *list, uint64_t now_ns)
{
	int r = 0;

	pthread_mutex_lock(&index->lock);
	if (!has_all(&index->table, list))
		r = replace_table(index, list, now_ns, build_completion);
	pthread_mutex_unlock(&index->lock);
	pod_list_free(list);
	return r;
}

/* Whether an ID that the pod's list does not have must be its sandbox. */
static bool is_sandbox(const struct pod_row *pod, uint64_t cgroup_seen_ns)
{
	return pod->pod->has_all_ids && pod->seen_ns >= cgroup_seen_ns &&
	       pod->seen_ns - cgroup_seen_ns >= SANDBOX_AFTER_NS;
}

static struct pod_match match_pod(const struct pod_row *row)
{
	return (struct pod_match){
		.pod = row->pod,
		.is_final = row->pod->source == POD_FROM_KUBELET,
		.seen_ns = row->seen_ns,
	};
}

static struct pod_match match_owner(const struct pod_table *table, const struct cgroup_owner *owner,
				    uint64_t seen_ns)
{
	const struct container_row *container = find_container(table, owner->container_id);
	struct pod_match match = { .is_final = true };

	if (owner->kind == CGROUP_HOST)
		return match;
	if (container) {
		match = match_pod(&table->pods[container->pod_row]);
		match.container = container->container;
		return match;
	}
	if (owner->kind == CGROUP_CONTAINER_NO_POD)
		return match;

	const struct pod_row *pod = find_pod(table, owner->pod_uid);
	if (!pod)
		return (struct pod_match){ 0 };
	match = match_pod(pod);
	if (owner->kind == CGROUP_CONTAINER)
		match.is_final = match.is_sandbox = is_sandbox(pod, seen_ns);
	return match;
}

void pod_index_find(struct pod_index *index, const struct cgroup_owner *owner, uint64_t seen_ns,
		    void (*use)(const struct pod_match *match, void *data), void *data)
{
	pthread_mutex_lock(&index->lock);
	struct pod_match match = match_owner(&index->table, owner, seen_ns);
	if (match.pod && !match.is_final && match.pod->has_all_ids)
		index->is_undecided = true;
	use(&match, data);
	pthread_mutex_unlock(&index->lock);
}

uint64_t pod_index_generation(struct pod_index *index)
{
	pthread_mutex_lock(&index->lock);
	uint64_t generation = index->generation;
	pthread_mutex_unlock(&index->lock);
	return generation;
}

static int find_live_by_name(const struct pod_table *table, const char *namespace, const char *name,
			     const struct pod **ret_pod)
{
	const struct pod *found = NULL;

	for (size_t i = 0; i < table->nr_live_pods; i++) {
		const struct pod *pod = table->pods[i].pod;

		if (strcmp(pod->name, name) != 0 || strlen(pod->uid) > POD_UID_MAX)
			continue;
		if (namespace && strcmp(pod->namespace, namespace) != 0)
			continue;
		if (found)
			return -ENOTUNIQ;
		found = pod;
	}
	if (!found)
		return -ENOENT;
	*ret_pod = found;
	return 0;
}

int pod_index_find_uid(struct pod_index *index, const char *namespace, const char *name,
		       char ret_uid[static POD_UID_MAX + 1])
{
	const struct pod *pod;

	pthread_mutex_lock(&index->lock);
	int r = find_live_by_name(&index->table, namespace, name, &pod);
	if (r == 0)
		memcpy(ret_uid, pod->uid, strlen(pod->uid) + 1);
	pthread_mutex_unlock(&index->lock);
	return r;
}

static size_t table_bytes(const struct pod_table *table)
{
	return table->arena.nr_bytes + table->cap_pods * sizeof(*table->pods) +
	       table->cap_containers * sizeof(*table->containers) +
	       (table->by_uid.nr_slots + table->by_id.nr_slots) * sizeof(struct htable_slot);
}

struct pod_index_stats pod_index_get_stats(struct pod_index *index)
{
	pthread_mutex_lock(&index->lock);
	struct pod_index_stats stats = {
		.nr_live = index->table.nr_live_pods,
		.nr_pods = index->table.nr_pods,
		.nr_containers = index->table.nr_containers,
		.nr_bytes = table_bytes(&index->table),
	};
	pthread_mutex_unlock(&index->lock);
	return stats;
}
