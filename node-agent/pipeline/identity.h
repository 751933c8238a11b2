/* SPDX-License-Identifier: Apache-2.0 */
/* Says whose CPU time a sample is: from its cgroup id to the pod, the container and the resource
 * attributes that name them.
 *
 * The reader reports cgroups while they exist: those that are there at the start, each one at its
 * birth with its path, and its first sample. When a window is finished, the symbolizer calls
 * identity_is_final() and identity_add_resource(): by then the kubelet has told the names.
 * Thread-safe. */
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
	struct pod_watch *watch; /* borrowed; NULL: nobody tells of pods */
	const char *node_name; /* copied; NULL: unknown */
	const char *host_name; /* copied */
	/* Of constant text, said in each resource; NULL: the usual one, which is not */
	const char *capture_backend;
};

struct identity_stats {
	uint64_t nr_cgroups; /* known now */
	uint64_t nr_births; /* told by the kernel */
	uint64_t nr_late; /* sampled before anything was known of them, and looked up then */
	uint64_t nr_missed; /* gone before they could be looked up, or over CGROUP_TABLE_MAX */
	uint64_t nr_samples[IDENTITY_NR_STATES];
	uint64_t nr_opted_out; /* samples dropped as their pod does not want to be profiled */
};

/* Errors: -ENOMEM. */
int identity_new(const struct identity_opts *opts, struct identity **ret_identity) must_check;
void identity_free(struct identity *identity);
DEFINE_FREEP(struct identity, identity_free)

/* Remembers the cgroups that exist now, at most CGROUP_TABLE_MAX. Nobody is asked for their names
 * before they are sampled. Errors: -ENOSPC and -ENOMEM, where some are known; those of
 * cgroup_fs_walk(). */
int identity_learn_all(struct identity *identity) must_check;

/* A cgroup came or went. */
void identity_follow(struct identity *identity, const struct cgroup_event *event);

/* The first sample of this cgroup in a window was taken. Cheap when it is known already; may ask
 * for a refresh of the pods otherwise (k8s/pod_asks.h). */
void identity_see(struct identity *identity, uint64_t cgroup_id);

/* Returns whether waiting cannot add to what is known of the cgroup. Otherwise it may ask for a
 * refresh of the pods. */
bool identity_is_final(struct identity *identity, uint64_t cgroup_id);

/* May ask for a refresh of the pods for containers whose verdict is CGROUP_UNDECIDED: they have no
 * samples. */
void identity_ask_for_undecided(struct identity *identity);

/* Gives all samples that the builder has of the cgroup the resource that says what is known; or
 * takes them out when the pod is opted out (k8s/pod_list.h). Errors: those of
 * builder_add_resource(). */
int identity_add_resource(struct identity *identity, uint64_t cgroup_id, struct builder *builder)
	must_check;

/* Calls `visit` with each cgroup that is known, which may change its verdict and is_judged only.
 * Pods are looked up meanwhile with pod_index_find(), nothing else. */
void identity_visit(struct identity *identity,
		    void (*visit)(struct known_cgroup *cgroup, void *data), void *data);

/* Grows with each cgroup that comes to be known, or to be dead. */
uint64_t identity_generation(struct identity *identity);

/* Forgets cgroups that ended a while ago, and looks at some of the others: not each end is told. */
void identity_tidy(struct identity *identity, uint64_t now_ns);

struct identity_stats identity_get_stats(struct identity *identity);

#endif
