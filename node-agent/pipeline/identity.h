/* SPDX-License-Identifier: Apache-2.0 */
/* Whose CPU time it was: from the cgroup id of a sample to pod, container and the resource attributes that
 * say so.
 *
 * identity_learn_all() remembers the containers that are there at the start. Later ones are noted as they are
 * sampled: the reader calls identity_see() with the first sample of a cgroup, while the cgroup still exists,
 * and its path is kept; a container may be gone a moment later. The loader asks identity_is_final() and
 * identity_add_resource() when the window is finished: by then the kubelet has told the names. */
#ifndef PIPELINE_IDENTITY_H
#define PIPELINE_IDENTITY_H

#include "base/cleanup.h"
#include "base/err.h"
#include "k8s/cgroup_fs.h"
#include "k8s/pod_index.h"
#include "k8s/pod_watch.h"
#include "profile/builder.h"

#include <stdbool.h>
#include <stdint.h>

#define IDENTITY_MAX_CGROUPS 65536

struct identity;

struct identity_opts {
	const struct cgroup_fs *cgroup_fs; /* borrowed */
	struct pod_index *pods; /* borrowed */
	struct pod_watch *watch; /* borrowed; NULL without a kubelet */
	const char *node_name; /* copied; NULL: unknown */
	const char *host_name; /* copied */
};

struct identity_stats {
	uint64_t nr_cgroups; /* known now */
	uint64_t nr_unknown; /* gone before they could be looked up, or over IDENTITY_MAX_CGROUPS */
	uint64_t nr_unnamed; /* resources of pods that left without their name */
};

/* Errors: -ENOMEM. */
int identity_new(const struct identity_opts *opts, struct identity **ret_identity) must_check;
void identity_free(struct identity *identity);
DEFINE_FREEP(struct identity, identity_free)

/* Remembers the cgroups of all pods and containers that exist now, at most IDENTITY_MAX_CGROUPS in all.
 * Nobody is asked for their names before they are sampled. Errors: -ENOSPC and -ENOMEM, where some are known;
 * those of cgroup_fs_walk(). */
int identity_learn_all(struct identity *identity) must_check;

/* A sample of this cgroup was taken. Thread-safe, cheap when it is known already. */
void identity_see(struct identity *identity, uint64_t cgroup_id);

/* Whether waiting cannot add to what is known of the cgroup. Asks for a refresh of the pods otherwise. */
bool identity_is_final(struct identity *identity, uint64_t cgroup_id);

/* Adds what is known as a resource. Errors: those of builder_add_resource(). */
int identity_add_resource(struct identity *identity, uint64_t cgroup_id, struct builder *builder,
			  uint32_t *ret_resource) must_check;

struct identity_stats identity_get_stats(struct identity *identity);

#endif
