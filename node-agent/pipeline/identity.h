/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the pod and the container of a sample by its cgroup id, and the resource attributes that
 * name them.
 *
 * The reader reports cgroups while they exist: all of them at the start, then each one at
 * its birth, with its path, and at its first sample. When a window is over, the
 * symbolizer calls identity_is_final() and identity_add_resource(). By then the kubelet
 * knows the names. Thread-safe. */
#ifndef PIPELINE_IDENTITY_H
#define PIPELINE_IDENTITY_H

#include "base/cleanup.h"
#include "base/err.h"
#include "cgroup/cgroup_fs.h"
#include "k8s/pod_index.h"
#include "k8s/pod_watch.h"
#include "pipeline/cgroup_table.h"
#include "pipeline/resource.h"
#include "profile/builder.h"

#include <stdbool.h>
#include <stdint.h>

struct identity;

struct identity_opts {
	const struct cgroup_fs *cgroup_fs; /* borrowed */
	struct pod_index *pods; /* borrowed */
	struct pod_watch *watch; /* borrowed; NULL: there is no source of pods */
	const char *node_name; /* copied; NULL: unknown */
	const char *host_name; /* copied */
	/* Constant text for each resource; NULL for the usual backend, which is not named */
	const char *capture_backend;
};

struct identity_stats {
	uint64_t nr_cgroups; /* known now */
	uint64_t nr_births; /* reported by the kernel */
	uint64_t nr_late; /* looked up at their first sample, because nothing was known of them */
	uint64_t nr_missed; /* gone before they could be looked up, or over CGROUP_TABLE_MAX */
	uint64_t nr_samples[IDENTITY_NR_STATES];
	uint64_t nr_opted_out; /* samples dropped because their pod is opted out */
};

/* Errors: -ENOMEM. */
int identity_new(const struct identity_opts *opts, struct identity **ret_identity) must_check;
void identity_free(struct identity *identity);
DEFINE_FREEP(struct identity, identity_free)

/* Adds the cgroups that exist now, at most CGROUP_TABLE_MAX. Their names are requested when they
 * are sampled. Errors: -ENOSPC and -ENOMEM, after some were added; those of cgroup_fs_walk(). */
int identity_learn_all(struct identity *identity) must_check;

/* Applies the birth or death of a cgroup. */
void identity_follow(struct identity *identity, const struct cgroup_event *event);

/* Call it with the first sample of a cgroup in a window. Cheap if the cgroup is known; otherwise it
 * may ask for a refresh of the pods (k8s/pod_asks.h). */
void identity_see(struct identity *identity, uint64_t cgroup_id);

/* Returns whether waiting cannot add to what is known of the cgroup. Otherwise it may ask for a
 * refresh of the pods. */
bool identity_is_final(struct identity *identity, uint64_t cgroup_id);

/* May ask for a refresh of the pods for containers whose verdict is CGROUP_UNDECIDED: they have no
 * samples. */
void identity_ask_for_undecided(struct identity *identity);

/* Gives all samples of the cgroup in the builder a resource with the known attributes, or removes
 * them if the pod is opted out (k8s/pod_list.h). Errors: those of builder_add_resource(). */
int identity_add_resource(struct identity *identity, uint64_t cgroup_id, struct builder *builder)
	must_check;

/* Calls `visit` with each known cgroup. It may change verdict and is_judged, and may look up pods
 * with pod_index_find(), but nothing else. */
void identity_visit(struct identity *identity,
		    void (*visit)(struct known_cgroup *cgroup, void *data), void *data);

/* Grows with each cgroup that is added or found to be dead. */
uint64_t identity_generation(struct identity *identity);

/* Forgets cgroups that ended a while ago, and checks whether some of the others still exist,
 * because reports of deaths may be lost. */
void identity_tidy(struct identity *identity, uint64_t now_ns);

struct identity_stats identity_get_stats(struct identity *identity);

#endif
