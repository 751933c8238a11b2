/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/identity.h"

#include "base/array.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/htable.h"
#include "k8s/cgroup_path.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATH_MAX_BYTES 8192
#define FORGET_AFTER_NS (15 * 60 * NSEC_PER_SEC)
#define MAX_ATTRIBUTES 16

struct known_cgroup {
	uint64_t id;
	uint64_t first_seen_ns; /* CLOCK_MONOTONIC */
	uint64_t last_seen_ns;
	bool is_sampled; /* not only found by the inventory */
	struct cgroup_owner owner;
};

struct identity {
	struct identity_opts opts; /* strings owned */
	pthread_mutex_t lock; /* of all below */
	struct known_cgroup *cgroups; /* owned */
	size_t nr_cgroups, cap_cgroups;
	struct htable index; /* by id */
	struct identity_stats stats;
};

int identity_new(const struct identity_opts *opts, struct identity **ret_identity)
{
	_cleanup_(identity_freep) struct identity *identity = calloc(1, sizeof(*identity));

	if (!identity)
		return -ENOMEM;
	pthread_mutex_init(&identity->lock, NULL);
	identity->opts = *opts;
	identity->opts.node_name = strdup(opts->node_name ? opts->node_name : "");
	identity->opts.host_name = strdup(opts->host_name);
	if (!identity->opts.node_name || !identity->opts.host_name)
		return -ENOMEM;
	*ret_identity = take_ptr(identity);
	return 0;
}

void identity_free(struct identity *identity)
{
	if (!identity)
		return;
	free((char *)identity->opts.node_name);
	free((char *)identity->opts.host_name);
	free(identity->cgroups);
	htable_done(&identity->index);
	pthread_mutex_destroy(&identity->lock);
	free(identity);
}

static struct known_cgroup *find(const struct identity *identity, uint64_t id)
{
	struct htable_iter it = htable_lookup(&identity->index, hash_u64(id));

	for (uint32_t row; htable_next(&it, &row);)
		if (identity->cgroups[row].id == id)
			return &identity->cgroups[row];
	return NULL;
}

/* Drops cgroups that were not seen for a while. Ids are not used again, so nothing is lost but memory. */
static void forget_old(struct identity *identity, uint64_t now_ns)
{
	size_t nr_kept = 0;

	htable_clear(&identity->index);
	for (size_t i = 0; i < identity->nr_cgroups; i++) {
		const struct known_cgroup *cgroup = &identity->cgroups[i];

		if (now_ns - cgroup->last_seen_ns > FORGET_AFTER_NS)
			continue;
		if (htable_add(&identity->index, hash_u64(cgroup->id), (uint32_t)nr_kept) == 0)
			identity->cgroups[nr_kept++] = *cgroup;
	}
	identity->nr_cgroups = nr_kept;
}

/* NULL when it cannot be kept. */
static struct known_cgroup *add(struct identity *identity, uint64_t id, const char *path,
				uint64_t now_ns)
{
	if (identity->nr_cgroups == IDENTITY_MAX_CGROUPS)
		forget_old(identity, now_ns);
	if (array_grow(identity->cgroups, identity->cap_cgroups, identity->nr_cgroups + 1,
		       IDENTITY_MAX_CGROUPS) < 0)
		return NULL;
	if (htable_add(&identity->index, hash_u64(id), (uint32_t)identity->nr_cgroups) < 0)
		return NULL;

	struct known_cgroup *cgroup = &identity->cgroups[identity->nr_cgroups++];
	*cgroup = (struct known_cgroup){ .id = id, .first_seen_ns = now_ns };
	cgroup->last_seen_ns = now_ns;
	cgroup_path_parse(path, &cgroup->owner);
	return cgroup;
}

/* NULL when it is gone, or cannot be kept. */
static struct known_cgroup *look_up(struct identity *identity, uint64_t id, uint64_t now_ns)
{
	_cleanup_(strbuf_done) struct strbuf path = strbuf_with_max(PATH_MAX_BYTES);

	if (cgroup_fs_path(identity->opts.cgroup_fs, id, &path) < 0)
		return NULL;
	return add(identity, id, strbuf_str(&path), now_ns);
}

void identity_see(struct identity *identity, uint64_t cgroup_id)
{
	uint64_t now_ns = clock_mono_ns();
	bool is_first_sample = false;

	pthread_mutex_lock(&identity->lock);
	struct known_cgroup *cgroup = find(identity, cgroup_id);
	if (!cgroup)
		cgroup = look_up(identity, cgroup_id, now_ns);
	if (cgroup) {
		is_first_sample = !cgroup->is_sampled;
		cgroup->is_sampled = true;
		cgroup->last_seen_ns = now_ns;
	} else {
		identity->stats.nr_unknown++;
	}
	pthread_mutex_unlock(&identity->lock);

	/* Whose it is may be asked for early. */
	if (is_first_sample)
		(void)identity_is_final(identity, cgroup_id);
}

static int learn(const char *path, uint64_t id, void *data)
{
	struct identity *identity = data;
	struct cgroup_owner owner;
	int r = 0;

	cgroup_path_parse(path, &owner);
	if (owner.kind == CGROUP_HOST)
		return 0;

	pthread_mutex_lock(&identity->lock);
	if (identity->nr_cgroups == IDENTITY_MAX_CGROUPS)
		r = -ENOSPC;
	else if (!find(identity, id) && !add(identity, id, path, clock_mono_ns()))
		r = -ENOMEM;
	pthread_mutex_unlock(&identity->lock);
	return r;
}

int identity_learn_all(struct identity *identity)
{
	return cgroup_fs_walk(identity->opts.cgroup_fs, learn, identity);
}

/* What is known of a cgroup; false when nothing is. */
static bool get_known(struct identity *identity, uint64_t cgroup_id,
		      struct known_cgroup *ret_cgroup)
{
	pthread_mutex_lock(&identity->lock);
	const struct known_cgroup *known = find(identity, cgroup_id);
	if (known)
		*ret_cgroup = *known;
	pthread_mutex_unlock(&identity->lock);
	return known;
}

/* What is known of a container, copied out of the pod index; unknown parts are "". */
struct pod_identity {
	bool is_final;
	char namespace[POD_NAME_MAX + 1];
	char pod[POD_NAME_MAX + 1];
	char pod_uid[POD_NAME_MAX + 1];
	char container[POD_NAME_MAX + 1]; /* SANDBOX_NAME for the sandbox */
	char container_id[CONTAINER_ID_LEN + 1];
	char image[POD_NAME_MAX + 1];
	char node[POD_NAME_MAX + 1];
	char workload_kind[POD_NAME_MAX + 1];
	char workload_name[POD_NAME_MAX + 1];
	char service_name[POD_NAME_MAX + 1];
	char service_namespace[POD_NAME_MAX + 1];
};

#define PUT(field, text) snprintf((field), sizeof(field), "%s", (text))

static void copy_match(const struct pod_match *match, void *data)
{
	struct pod_identity *identity = data;
	const struct pod *pod = match->pod;

	identity->is_final = match->is_final;
	if (!pod)
		return;
	PUT(identity->namespace, pod->namespace);
	PUT(identity->pod, pod->name);
	PUT(identity->pod_uid, pod->uid);
	PUT(identity->node, pod->node);
	PUT(identity->workload_kind, pod->workload_kind);
	PUT(identity->workload_name, pod->workload_name);
	PUT(identity->service_name, pod->service_name);
	PUT(identity->service_namespace, pod->service_namespace);
	if (match->container) {
		PUT(identity->container, match->container->name);
		PUT(identity->image, match->container->image_name);
	} else if (match->is_sandbox) {
		PUT(identity->container, SANDBOX_NAME);
	}
}

static struct pod_identity find_pod(struct identity *identity, const struct known_cgroup *cgroup)
{
	struct pod_identity pod = { 0 };

	PUT(pod.pod_uid, cgroup->owner.pod_uid);
	PUT(pod.container_id, cgroup->owner.container_id);
	pod_index_find(identity->opts.pods, &cgroup->owner, cgroup->first_seen_ns, copy_match,
		       &pod);
	return pod;
}

bool identity_is_final(struct identity *identity, uint64_t cgroup_id)
{
	struct known_cgroup cgroup;

	if (!identity->opts.watch || !get_known(identity, cgroup_id, &cgroup))
		return true;
	if (cgroup.owner.kind == CGROUP_HOST || cgroup.owner.kind == CGROUP_CONTAINER_NO_POD)
		return true;
	if (find_pod(identity, &cgroup).is_final)
		return true;
	pod_watch_poke(identity->opts.watch);
	return false;
}

/* The attribute that names a workload of a kind. */
static const char *workload_key(const char *kind)
{
	static const struct {
		const char *kind, *key;
	} keys[] = {
		{ "Deployment", "k8s.deployment.name" },
		{ "StatefulSet", "k8s.statefulset.name" },
		{ "DaemonSet", "k8s.daemonset.name" },
		{ "ReplicaSet", "k8s.replicaset.name" },
		{ "Job", "k8s.job.name" },
		{ "CronJob", "k8s.cronjob.name" },
	};

	for (size_t i = 0; i < array_len(keys); i++)
		if (strcmp(kind, keys[i].kind) == 0)
			return keys[i].key;
	return "k8s.workload.name";
}

/* "namespace.pod.container", the semantic conventions' service.instance.id; "" when a part is unknown. */
static void instance_id(const struct pod_identity *pod, char *ret_text, size_t len)
{
	ret_text[0] = '\0';
	if (pod->namespace[0] && pod->pod[0] && pod->container[0])
		snprintf(ret_text, len, "%s.%s.%s", pod->namespace, pod->pod, pod->container);
}

static int add_pod(struct identity *identity, const struct pod_identity *pod,
		   struct builder *builder, uint32_t *ret_resource)
{
	char instance[3 * (POD_NAME_MAX + 1)];
	const char *node = pod->node[0] ? pod->node : identity->opts.node_name;

	instance_id(pod, instance, sizeof(instance));
	const struct attribute attributes[] = {
		{ "service.name", pod->service_name },
		{ "service.namespace", pod->service_namespace },
		{ "service.instance.id", instance },
		{ "k8s.namespace.name", pod->namespace },
		{ "k8s.pod.name", pod->pod },
		{ "k8s.pod.uid", pod->pod_uid },
		{ "k8s.container.name", pod->container },
		{ "container.id", pod->container_id },
		{ "container.image.name", pod->image },
		{ workload_key(pod->workload_kind), pod->workload_name },
		{ "k8s.node.name", node },
		{ "host.name", identity->opts.host_name },
	};
	return builder_add_resource(builder, attributes, array_len(attributes), ret_resource);
}

/* Processes of the host itself, and those whose cgroup was gone before it could be asked for its path: the
 * latter say so, they may have been a container's. */
static int add_host(struct identity *identity, bool is_unknown, struct builder *builder,
		    uint32_t *ret_resource)
{
	const struct attribute attributes[] = {
		{ "service.name", is_unknown ? "" : "host" },
		{ "k8s.node.name", identity->opts.node_name },
		{ "host.name", identity->opts.host_name },
		{ "flamelet.identity", is_unknown ? "unknown" : "" },
	};

	return builder_add_resource(builder, attributes, array_len(attributes), ret_resource);
}

static void count_unnamed(struct identity *identity)
{
	pthread_mutex_lock(&identity->lock);
	identity->stats.nr_unnamed++;
	pthread_mutex_unlock(&identity->lock);
}

int identity_add_resource(struct identity *identity, uint64_t cgroup_id, struct builder *builder,
			  uint32_t *ret_resource)
{
	struct known_cgroup cgroup;

	if (!get_known(identity, cgroup_id, &cgroup))
		return add_host(identity, true, builder, ret_resource);
	if (cgroup.owner.kind == CGROUP_HOST)
		return add_host(identity, false, builder, ret_resource);

	struct pod_identity pod = find_pod(identity, &cgroup);
	if (cgroup.owner.pod_uid[0] && !pod.pod[0])
		count_unnamed(identity);
	return add_pod(identity, &pod, builder, ret_resource);
}

struct identity_stats identity_get_stats(struct identity *identity)
{
	pthread_mutex_lock(&identity->lock);
	struct identity_stats stats = identity->stats;
	stats.nr_cgroups = identity->nr_cgroups;
	pthread_mutex_unlock(&identity->lock);
	return stats;
}
