/* SPDX-License-Identifier: Apache-2.0 */
/* Attributes come from three places, and the first one that has a key decides: the annotations
 * of the pod's owner, the cluster's data about the pod, and the cgroup's path.
 * Annotations cannot say who the pod is: such keys never come out of k8s/pod_list.h. */
#include "pipeline/resource.h"

#include "base/strbuf.h"
#include "cgroup/cgroup_service.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define CGROUP_MAX_BYTES 16384
#define MAX_ATTRIBUTES (POD_ATTRIBUTES_MAX + 24)

struct attribute_list {
	struct attribute items[MAX_ATTRIBUTES]; /* borrowed */
	size_t nr;
};

/* A resource under construction. */
struct making {
	const struct resource_source *source;
	struct builder *builder;
	struct resource_result *result;
	int error;
	char instance[3 * (POD_NAME_MAX + 1)]; /* values of attributes */
	char restarts[12];
};

/* Values of the attribute flamelet.identity. */
static const char *const state_names[] = {
#define X(NAME, word, help) [IDENTITY_##NAME] = (word),
	IDENTITY_STATES(X)
#undef X
};

static bool has_key(const struct attribute_list *list, const char *key)
{
	for (size_t i = 0; i < list->nr; i++)
		if (strcmp(list->items[i].key, key) == 0)
			return true;
	return false;
}

static void put(struct attribute_list *list, const char *key, const char *value)
{
	if (list->nr < MAX_ATTRIBUTES && value[0] && !has_key(list, key))
		list->items[list->nr++] = (struct attribute){ key, value };
}

/* Returns the key of the attribute that names a workload of a kind. */
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
		{ "ReplicationController", "k8s.replicationcontroller.name" },
	};

	for (size_t i = 0; i < array_len(keys); i++)
		if (strcmp(kind, keys[i].kind) == 0)
			return keys[i].key;
	return "k8s.workload.name";
}

static void put_ids(struct attribute_list *list, const struct cgroup_owner *owner)
{
	put(list, "k8s.pod.uid", owner->pod_uid);
	put(list, "container.id", owner->container_id);
}

static void put_pod(struct attribute_list *list, const struct pod *pod)
{
	put(list, "service.name", pod->service_name);
	put(list, "service.namespace", pod->service_namespace);
	put(list, "k8s.namespace.name", pod->namespace);
	put(list, "k8s.pod.name", pod->name);
	put(list, "k8s.pod.uid", pod->uid);
	put(list, "k8s.pod.start_time", pod->start_time);
	put(list, workload_key(pod->workload_kind), pod->workload_name);
	put(list, "k8s.node.name", pod->node);
}

static void finish(struct making *making, struct attribute_list *list, enum identity_state state)
{
	put(list, "k8s.node.name", making->source->node_name);
	put(list, "host.name", making->source->host_name);
	put(list, "flamelet.identity", state_names[state]);
	if (making->source->capture_backend)
		put(list, "flamelet.capture.backend", making->source->capture_backend);
	making->result->state = state;
	making->error = builder_add_resource(making->builder, list->items, list->nr,
					     &making->result->resource);
}

static enum identity_state state_of(const struct resource_source *source,
				    const struct pod_match *match)
{
	bool is_container = source->cgroup->owner.kind == CGROUP_CONTAINER;

	if (!match->pod)
		return IDENTITY_PATH;
	if (is_container && !match->container && !match->is_sandbox)
		return IDENTITY_PARTIAL;
	if (match->pod->source == POD_FROM_LOGS)
		return IDENTITY_LOGS;
	return source->is_stale ? IDENTITY_SNAPSHOT : IDENTITY_KUBELET;
}

static void add_container(struct making *making, struct attribute_list *list,
			  const struct pod_match *match)
{
	const struct pod *pod = match->pod;
	const struct pod_container *container = match->container;
	const char *name = container ? container->name : match->is_sandbox ? SANDBOX_NAME : "";

	if (pod && name[0]) /* the conventions' "namespace.pod.container" */
		snprintf(making->instance, sizeof(making->instance), "%s.%s.%s", pod->namespace,
			 pod->name, name);
	if (container && pod && pod->source == POD_FROM_KUBELET)
		snprintf(making->restarts, sizeof(making->restarts), "%" PRIu32,
			 container->restart_count);
	put(list, "service.instance.id", making->instance);
	put(list, "k8s.container.name", name);
	put(list, "k8s.container.restart_count", making->restarts);
	if (container) {
		put(list, "container.image.name", container->image_name);
		put(list, "container.image.tags", container->image_tag);
	}
	finish(making, list, state_of(making->source, match));
}

static void add_pod(const struct pod_match *match, struct making *making)
{
	struct attribute_list list = { .nr = 0 };

	making->result->is_opted_out = match->pod && match->pod->is_opted_out;
	if (making->result->is_opted_out)
		return;
	for (size_t i = 0; match->pod && i < match->pod->nr_attributes; i++)
		put(&list, match->pod->attributes[i].key, match->pod->attributes[i].value);
	if (match->pod)
		put_pod(&list, match->pod);
	put_ids(&list, &making->source->cgroup->owner);
	add_container(making, &list, match);
}

/* Describes a process of the host, or of a container that does not belong to a pod. */
static void add_service(struct making *making)
{
	const struct known_cgroup *cgroup = making->source->cgroup;
	const char *path = cgroup->path ? cgroup->path : "";
	struct attribute_list list = { .nr = 0 };
	struct cgroup_service service;
	_cleanup_(strbuf_done) struct strbuf line = strbuf_with_max(CGROUP_MAX_BYTES);

	cgroup_service_parse(path, &cgroup->owner, &service);
	put(&list, "service.name", service.name);
	put_ids(&list, &cgroup->owner);
	put(&list, "container.runtime.name", service.runtime);
	if (path[0]) /* as in /proc/PID/cgroup */
		strbuf_appendf(&line, "%s%s", making->source->cgroup_line_start, path);
	put(&list, "process.linux.cgroup", strbuf_str(&line));
	finish(making, &list, IDENTITY_HOST);
}

/* Docker's path of a pod's container does not say which pod, but the kubelet knows the
 * container. */
static void add_match(const struct pod_match *match, void *data)
{
	struct making *making = data;
	const struct cgroup_owner *owner = &making->source->cgroup->owner;

	if (match->pod || owner->pod_uid[0])
		add_pod(match, making);
	else
		add_service(making);
}

int resource_add(const struct resource_source *source, struct builder *builder,
		 struct resource_result *ret_result)
{
	const struct known_cgroup *cgroup = source->cgroup;
	struct making making = { .source = source, .builder = builder, .result = ret_result };

	*ret_result = (struct resource_result){ 0 };
	if (!cgroup)
		finish(&making, &(struct attribute_list){ .nr = 0 }, IDENTITY_UNKNOWN);
	else
		pod_index_find(source->pods, &cgroup->owner, cgroup_table_seen_ns(cgroup),
			       add_match, &making);
	return making.error;
}
