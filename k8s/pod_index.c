/* SPDX-License-Identifier: Apache-2.0 */
/* The lock of the current table, and the search for a cgroup in it. */
#include "k8s/pod_index.h"

#include "base/locked.h"
#include "k8s/pod_table.h"

#include <pthread.h>
#include <stdlib.h>

struct pod_index {
	pthread_mutex_t update_lock; /* for changes of the table; `lock` is taken inside it */
	pthread_mutex_t lock;
	/* changed with both locks held, so either suffices to read it */
	struct pod_table table;
	/* guarded by lock */
	uint64_t generation;
	bool is_undecided; /* a result was returned that an equal list can change */
};

int pod_index_new(size_t max_pods, struct pod_index **ret_index)
{
	struct pod_index *index = calloc(1, sizeof(*index));

	if (!index)
		return -ENOMEM;
	pthread_mutex_init(&index->update_lock, NULL);
	pthread_mutex_init(&index->lock, NULL);
	index->table.max_pods = max_pods;
	*ret_index = index;
	return 0;
}

void pod_index_free(struct pod_index *index)
{
	if (!index)
		return;
	pod_table_done(&index->table);
	pthread_mutex_destroy(&index->lock);
	pthread_mutex_destroy(&index->update_lock);
	free(index);
}

/* Replaces the current table by the one that `make` builds from the list. It is built without the
 * lock, so that searches do not wait for a list of thousands of pods. */
static int replace_table(struct pod_index *index, struct pod_list *list, uint64_t now_ns,
			 int (*make)(const struct pod_table *old, struct pod_list *list,
				     uint64_t now_ns, struct pod_table *table))
{
	struct pod_table next;

	int r = make(&index->table, list, now_ns, &next);
	if (r == -ENOMEM) {
		pod_table_done(&next);
		return r;
	}
	pthread_mutex_lock(&index->lock);
	struct pod_table old = index->table;
	index->table = next;
	index->generation++;
	index->is_undecided = false;
	pthread_mutex_unlock(&index->lock);
	pod_table_done(&old);
	return r;
}

/* Records a list that only changes when its pods were seen. */
static void mark_seen(struct pod_index *index, uint64_t now_ns)
{
	LOCKED(&index->lock);
	for (size_t i = 0; i < index->table.nr_live_pods; i++)
		index->table.pods[i].seen_ns = now_ns;
	index->generation += index->is_undecided;
	index->is_undecided = false;
}

int pod_index_update(struct pod_index *index, struct pod_list *list, uint64_t now_ns)
{
	int r = 0;

	pthread_mutex_lock(&index->update_lock);
	if (pod_table_is_like(&index->table, list, now_ns))
		mark_seen(index, now_ns);
	else
		r = replace_table(index, list, now_ns, pod_table_replace);
	pthread_mutex_unlock(&index->update_lock);
	pod_list_free(list);
	return r;
}

int pod_index_complete(struct pod_index *index, struct pod_list *list, uint64_t now_ns)
{
	int r = 0;

	pthread_mutex_lock(&index->update_lock);
	if (!pod_table_has_all(&index->table, list))
		r = replace_table(index, list, now_ns, pod_table_complete);
	pthread_mutex_unlock(&index->update_lock);
	pod_list_free(list);
	return r;
}

/* Returns whether an ID that is not in the pod's list must be its sandbox. */
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
	const struct container_row *container = pod_table_find_container(table,
									 owner->container_id);
	struct pod_match match = { .is_final = true };

	if (owner->kind == CGROUP_HOST || owner->is_users)
		return match;
	if (container) {
		match = match_pod(&table->pods[container->pod_row]);
		match.container = container->container;
		return match;
	}
	if (owner->kind == CGROUP_CONTAINER_NO_POD)
		return match;

	const struct pod_row *pod = pod_table_find_pod(table, owner->pod_uid);
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
	LOCKED(&index->lock);
	struct pod_match match = match_owner(&index->table, owner, seen_ns);
	if (match.pod && !match.is_final && match.pod->has_all_ids)
		index->is_undecided = true;
	use(&match, data);
}

uint64_t pod_index_generation(struct pod_index *index)
{
	LOCKED(&index->lock);
	return index->generation;
}

struct pod_index_stats pod_index_get_stats(struct pod_index *index)
{
	LOCKED(&index->lock);
	return (struct pod_index_stats){
		.nr_live = index->table.nr_live_pods,
		.nr_pods = index->table.nr_pods,
		.nr_containers = index->table.nr_containers,
		.nr_bytes = pod_table_bytes(&index->table),
	};
}
