/* SPDX-License-Identifier: Apache-2.0 */
/* Describes a cgroup as a resource of OpenTelemetry's semantic conventions. */
#ifndef PIPELINE_RESOURCE_H
#define PIPELINE_RESOURCE_H

#include "base/err.h"
#include "k8s/pod_index.h"
#include "pipeline/cgroup_table.h"
#include "profile/builder.h"

#include <stdbool.h>
#include <stdint.h>

/* The sources of a cgroup's identity, as the attribute flamelet.identity of its resource:
 * X(NAME, word, help) */
#define IDENTITY_STATES(X)                                                                         \
	X(KUBELET, "kubelet", "named by the kubelet")                                              \
	X(SNAPSHOT, "snapshot", "named by the last answer of a kubelet that is silent now")        \
	X(LOGS, "logs", "named by the kubelet's log directories: no labels, no owner")             \
	X(PARTIAL, "partial", "the pod is known, which of its containers was not told in time")    \
	X(PATH, "path", "known by the cgroup's path alone: UID and container ID")                  \
	X(HOST, "host", "no pod's, named by the cgroup's path")                                    \
	X(UNKNOWN, "unknown", "the cgroup was gone before anything was known of it")

enum identity_state {
#define X(NAME, word, help) IDENTITY_##NAME,
	IDENTITY_STATES(X)
#undef X
		IDENTITY_NR_STATES,
};

/* All borrowed for the call. */
struct resource_source {
	const struct known_cgroup *cgroup; /* NULL: nothing is known of it */
	struct pod_index *pods;
	const char *node_name; /* "": unknown */
	const char *host_name;
	const char *cgroup_line_start; /* see cgroup_fs_append_line_start() */
	const char *capture_backend; /* NULL: not mentioned */
	bool is_stale; /* the kubelet is silent: names are those of its last answer */
};

struct resource_result {
	enum identity_state state;
	bool is_opted_out; /* no resource was added */
	uint32_t resource;
};

/* Adds the resource. Errors: those of builder_add_resource(). */
int resource_add(const struct resource_source *source, struct builder *builder,
		 struct resource_result *ret_result) must_check;

#endif
