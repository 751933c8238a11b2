/* SPDX-License-Identifier: Apache-2.0 */
/* Each update builds a new table: first the list's pods, then from the old table what the list no
 * longer has and is young enough. As the old table was built the same way, its rows go from the
 * youngest to the oldest, live ones first: the first match is the best one, and what finds no room
 * is the oldest.
 *
 * The table takes over the list's arena, so a live pod's strings are never copied; a tombstone's
 * are, into the arena of each table that follows. A node's hundred pods make this a matter of
 * microseconds. */
#include "k8s/pod_index.h"

#include "base/array.h"
#include "base/hash.h"
#include "base/htable.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define CONTAINERS_PER_POD_MAX 32 /* on average, former ones included */

struct pod_row {
	struct pod pod; /* its containers are rows of their own */
	uint64_t seen_ns; /* time of the last list that had it */
	bool is_live;
};

struct container_row {
	struct pod_container container;
	uint32_t pod_row;
	uint64_t seen_ns;
};

struct pod_table {
	struct arena arena; /* all strings */
	struct pod_row *pods; /* owned; the live ones first */
	size_t nr_pods, cap_pods, max_pods;
	struct container_row *containers; /* owned */
	size_t nr_containers, cap_containers;
	struct htable by_uid; /* pods */
	struct htable by_id; /* containers */
	size_t nr_live;
};

struct pod_index {
	pthread_mutex_t lock;
	struct pod_table table; /* guarded by lock */
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

/* The best pod of that UID, or NULL. */
static const struct pod_row *find_pod(const struct pod_table *table, const char *uid)
{
	struct htable_iter it = htable_lookup(&table->by_uid, hash_text(uid));
	const struct pod_row *best = NULL;

	for (uint32_t row; htable_next(&it, &row);) {
		const struct pod_row *pod = &table->pods[row];

		if (strcmp(pod->pod.uid, uid) == 0 && (!best || pod < best))
			best = pod;
	}
	return best;
}

/* The best container of that ID, or NULL. */
static const struct container_row *find_container(const struct pod_table *table, const char *id)
{
	struct htable_iter it = htable_lookup(&table->by_id, hash_text(id));
	const struct container_row *best = NULL;

	for (uint32_t row; htable_next(&it, &row);) {
		const struct container_row *container = &table->containers[row];

		if (strcmp(container->container.id, id) == 0 && (!best || container < best))
			best = container;
	}
	return best;
}

static int add_pod(struct pod_table *table, const struct pod_row *pod)
{
	uint32_t row = (uint32_t)table->nr_pods;

	int r = array_grow(table->pods, table->cap_pods, table->nr_pods + 1, table->max_pods);
	if (r == 0)
		r = htable_add(&table->by_uid, hash_text(pod->pod.uid), row);
	if (r < 0)
		return r;
	table->pods[table->nr_pods++] = *pod;
	table->nr_live += pod->is_live;
	return 0;
}

static int add_container(struct pod_table *table, const struct container_row *container)
{
	uint32_t row = (uint32_t)table->nr_containers;

	int r = array_grow(table->containers, table->cap_containers, table->nr_containers + 1,
			   table->max_pods * CONTAINERS_PER_POD_MAX);
	if (r == 0)
		r = htable_add(&table->by_id, hash_text(container->container.id), row);
	if (r < 0)
		return r;
	table->containers[table->nr_containers++] = *container;
	return 0;
}

static int add_live_pod(struct pod_table *table, const struct pod *pod, uint64_t now_ns)
{
	struct pod_row row = { .pod = *pod, .seen_ns = now_ns, .is_live = true };

	int r = add_pod(table, &row);
	for (size_t i = 0; r == 0 && i < pod->nr_containers; i++) {
		struct container_row container = {
			.container = pod->containers[i],
			.pod_row = (uint32_t)table->nr_pods - 1,
			.seen_ns = now_ns,
		};

		r = add_container(table, &container);
	}
	return r;
}

/* Moves the list's pods in. Errors: -ENOSPC when some did not fit, -ENOMEM. */
static int take_list(struct pod_table *table, struct pod_list *list, uint64_t now_ns)
{
	int first_error = 0;

	table->arena = list->arena;
	table->arena.max_bytes = 0; /* bounded by the number of rows from now on */
	list->arena = (struct arena){ 0 };
	for (size_t i = 0; i < list->nr_pods; i++) {
		int r = add_live_pod(table, &list->pods[i], now_ns);

		if (r == -ENOMEM)
			return r;
		if (r < 0)
			first_error = r;
	}
	return first_error;
}

static bool is_expired(uint64_t seen_ns, uint64_t now_ns)
{
	return now_ns > seen_ns && now_ns - seen_ns > TOMBSTONE_NS;
}

/* Copies strings, given by their addresses, into the arena. */
static int copy_strings(struct arena *arena, const char **const strings[], size_t nr_strings)
{
	for (size_t i = 0; i < nr_strings; i++) {
		const char *copy = arena_strndup(arena, *strings[i], strlen(*strings[i]));

		if (!copy)
			return -ENOMEM;
		*strings[i] = copy;
	}
	return 0;
}

static int bury_pod(struct pod_table *table, const struct pod_row *old)
{
	struct pod_row row = { .pod = old->pod, .seen_ns = old->seen_ns, .is_live = false };
	struct pod *pod = &row.pod;
	const char **const strings[] = {
		&pod->name,	    &pod->namespace,	     &pod->uid,
		&pod->node,	    &pod->workload_kind,     &pod->workload_name,
		&pod->service_name, &pod->service_namespace,
	};

	int r = copy_strings(&table->arena, strings, array_len(strings));
	return r < 0 ? r : add_pod(table, &row);
}

static int bury_container(struct pod_table *table, const struct container_row *old,
			  const struct pod_row *pod)
{
	struct container_row row = *old;
	const char **const strings[] = {
		&row.container.name,
		&row.container.id,
		&row.container.image,
	};

	row.pod_row = (uint32_t)(pod - table->pods);
	int r = copy_strings(&table->arena, strings, array_len(strings));
	return r < 0 ? r : add_container(table, &row);
}

/* Takes over pods that the new table does not have, the youngest first, as far as there is room. */
static int bury_pods(struct pod_table *table, const struct pod_table *old, uint64_t now_ns)
{
	for (size_t i = 0; i < old->nr_pods && table->nr_pods < table->max_pods; i++) {
		const struct pod_row *pod = &old->pods[i];

		if (is_expired(pod->seen_ns, now_ns) || find_pod(table, pod->pod.uid))
			continue;

		int r = bury_pod(table, pod);
		if (r < 0)
			return r;
	}
	return 0;
}

/* Takes over containers that the new table does not have, of pods that it has. */
static int bury_containers(struct pod_table *table, const struct pod_table *old, uint64_t now_ns)
{
	for (size_t i = 0; i < old->nr_containers; i++) {
		const struct container_row *container = &old->containers[i];
		const char *uid = old->pods[container->pod_row].pod.uid;
		const struct pod_row *pod = find_pod(table, uid);

		if (!pod || is_expired(container->seen_ns, now_ns) ||
		    find_container(table, container->container.id))
			continue;

		int r = bury_container(table, container, pod);
		if (r == -ENOSPC)
			return 0;
		if (r < 0)
			return r;
	}
	return 0;
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

/* Builds the table that follows `old`. Errors: as pod_index_update(); for -ENOSPC it is
 * complete. */
static int build_table(const struct pod_table *old, struct pod_list *list, uint64_t now_ns,
		       struct pod_table *table)
{
	int taken = take_list(table, list, now_ns);

	if (taken == -ENOMEM)
		return taken;
	int r = bury_pods(table, old, now_ns);
	if (r == 0)
		r = bury_containers(table, old, now_ns);
	return r < 0 ? r : taken;
}

int pod_index_update(struct pod_index *index, struct pod_list *list, uint64_t now_ns)
{
	struct pod_table next = { 0 };

	pthread_mutex_lock(&index->lock);
	next.max_pods = index->table.max_pods;
	int r = build_table(&index->table, list, now_ns, &next);
	if (r != -ENOMEM) {
		struct pod_table old = index->table;

		index->table = next;
		next = old;
	}
	pthread_mutex_unlock(&index->lock);

	table_done(&next);
	pod_list_free(list);
	return r;
}

static void put_text(char *field, size_t size, const char *text)
{
	snprintf(field, size, "%s", text);
}

#define PUT(field, text) put_text((field), sizeof(field), (text))

static void put_pod(struct pod_identity *identity, const struct pod *pod)
{
	PUT(identity->namespace, pod->namespace);
	PUT(identity->pod, pod->name);
	PUT(identity->pod_uid, pod->uid);
	PUT(identity->node, pod->node);
	PUT(identity->workload_kind, pod->workload_kind);
	PUT(identity->workload_name, pod->workload_name);
	PUT(identity->service_name, pod->service_name);
	PUT(identity->service_namespace, pod->service_namespace);
}

/* Whether an ID that the pod's list does not have must be its sandbox. */
static bool is_sandbox(const struct pod_row *pod, uint64_t cgroup_seen_ns)
{
	return pod->pod.has_all_ids && pod->seen_ns >= cgroup_seen_ns &&
	       pod->seen_ns - cgroup_seen_ns >= SANDBOX_AFTER_NS;
}

static bool put_owner(const struct pod_table *table, const struct cgroup_owner *owner,
		      uint64_t seen_ns, struct pod_identity *identity)
{
	const struct container_row *container = find_container(table, owner->container_id);

	if (container) {
		put_pod(identity, &table->pods[container->pod_row].pod);
		PUT(identity->container, container->container.name);
		PUT(identity->image, container->container.image);
		return true;
	}

	const struct pod_row *pod = find_pod(table, owner->pod_uid);
	if (!pod)
		return false;
	put_pod(identity, &pod->pod);
	if (owner->kind != CGROUP_CONTAINER)
		return true;
	if (!is_sandbox(pod, seen_ns))
		return false;
	PUT(identity->container, SANDBOX_NAME);
	return true;
}

bool pod_index_find(struct pod_index *index, const struct cgroup_owner *owner, uint64_t seen_ns,
		    struct pod_identity *ret_identity)
{
	*ret_identity = (struct pod_identity){ 0 };
	PUT(ret_identity->pod_uid, owner->pod_uid);
	PUT(ret_identity->container_id, owner->container_id);
	if (owner->kind == CGROUP_HOST)
		return true;

	pthread_mutex_lock(&index->lock);
	bool is_final = put_owner(&index->table, owner, seen_ns, ret_identity);
	pthread_mutex_unlock(&index->lock);
	return is_final;
}

static int find_live_by_name(const struct pod_table *table, const char *namespace, const char *name,
			     const struct pod **ret_pod)
{
	const struct pod *found = NULL;

	for (size_t i = 0; i < table->nr_live; i++) {
		const struct pod *pod = &table->pods[i].pod;

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
		put_text(ret_uid, POD_UID_MAX + 1, pod->uid);
	pthread_mutex_unlock(&index->lock);
	return r;
}

size_t pod_index_nr_live(struct pod_index *index)
{
	pthread_mutex_lock(&index->lock);
	size_t nr_live = index->table.nr_live;
	pthread_mutex_unlock(&index->lock);
	return nr_live;
}
