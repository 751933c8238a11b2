/* SPDX-License-Identifier: Apache-2.0 */
/* Decides by the user's rules which cgroups are profiled. Pure: the caller passes the data of a
 * cgroup, and nothing is looked up.
 *
 * Inclusions of different kinds narrow each other (a namespace and a selector), inclusions of the
 * same kind widen each other (namespace a or b). An exclusion of any kind excludes, and so does the
 * pod's annotation flamelet.dev/profile: "false". If there are inclusions of pods, everything
 * outside of pods is excluded, including the host's own processes. Containers without a pod
 * (docker's) have an ID but no name. The sandbox of a pod is not one of its containers.
 *
 * A cgroup is undecided while a rule needs data that is not known yet: the pod, its labels while
 * only its log directory is known, or the name of its container. If the other rules exclude the
 * cgroup, it is excluded all the same. A final match is complete: unknown data does not exist. The
 * annotation is not a rule: an unknown pod does not count as opted out. */
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

/* The rules as the user wrote them. */
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

/* Copies the rules. On -EINVAL, `reterr_msg` gets the invalid rule and the reason. Errors: -EINVAL,
 * -ENOMEM. */
int selection_new(const struct selection_rules *rules, struct strbuf *reterr_msg,
		  struct selection **ret_selection) must_check;
void selection_free(struct selection *selection);
DEFINE_FREEP(struct selection, selection_free)

/* Returns whether there are no rules, so that only annotations exclude. */
bool selection_is_empty(const struct selection *selection);

/* Returns whether there are inclusions, so that everything else is excluded. */
bool selection_has_inclusions(const struct selection *selection);

/* Returns the verdict for a cgroup, given its path below the root of the hierarchy, the owner in
 * the path, and its match (with pod NULL if nothing is known). */
enum selection_verdict selection_decide(const struct selection *selection, const char *path,
					const struct cgroup_owner *owner,
					const struct pod_match *match);

#endif
