/* SPDX-License-Identifier: Apache-2.0 */
/* Decides which cgroups are profiled: the user's rules, and a verdict for each cgroup. Pure: the
 * caller says what is known of a cgroup, and nothing is looked up.
 *
 * Inclusions of different kinds narrow each other (a namespace and a selector), inclusions of the
 * same kind widen each other (namespace a or b). An exclusion of any kind excludes, and so does the
 * pod's annotation flamelet.dev/profile: "false". If there are inclusions of pods, everything
 * outside of pods is excluded, including the host's own processes. Containers without a pod
 * (docker's) have an ID but no name. The sandbox of a pod is not one of its containers.
 *
 * A cgroup is undecided while a rule asks for something that is not known yet: the pod, its labels
 * while only its log directory is known, or the name of its container. If the other rules exclude
 * the cgroup, it is excluded all the same. When a match is final, nothing is waited for: what is
 * not known by then does not exist. The annotation is not a rule: an unknown pod does not count as
 * opted out. */
#ifndef K8S_SELECTION_H
#define K8S_SELECTION_H

#include "base/cleanup.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "cgroup/cgroup_path.h"
#include "k8s/pod_index.h"

#include <stdbool.h>
#include <stddef.h>

struct text_list {
	const char *const *items; /* borrowed */
	size_t nr;
};

/* As the user wrote them. */
struct selection_rules {
	struct text_list namespaces;
	struct text_list pods; /* "NAME" or "NAMESPACE/NAME" */
	struct text_list containers; /* name, or ID or its first 12 or more digits */
	struct text_list selectors; /* of labels; any of them */
	struct text_list cgroups; /* paths below the root of the hierarchy: these and all below */
	struct text_list excluded_namespaces;
	struct text_list excluded_containers;
	struct text_list excluded_selectors;
};

enum selection_verdict {
	SELECTION_WANTED,
	SELECTION_EXCLUDED,
	SELECTION_UNDECIDED,
};

struct selection;

/* Copies what it needs. On -EINVAL `reterr_msg` says which rule is wrong, and why. Errors: -EINVAL,
 * -ENOMEM. */
int selection_new(const struct selection_rules *rules, struct strbuf *reterr_msg,
		  struct selection **ret_selection) must_check;
void selection_free(struct selection *selection);
DEFINE_FREEP(struct selection, selection_free)

/* Whether there is no rule at all: then only annotations exclude. */
bool selection_is_empty(const struct selection *selection);

/* Whether there are inclusions: then what is not named is excluded. */
bool selection_has_inclusions(const struct selection *selection);

/* The verdict for a cgroup: its path below the root of the hierarchy, what the path says, and what
 * is known of it (`match` with pod NULL when nothing is). */
enum selection_verdict selection_decide(const struct selection *selection, const char *path,
					const struct cgroup_owner *owner,
					const struct pod_match *match);

#endif
