/* SPDX-License-Identifier: Apache-2.0 */
/* Which cgroups are profiled: rules of the user, and a verdict for each cgroup. Pure: what is known
 * of a cgroup comes in, nothing is looked up.
 *
 * Kinds of inclusions narrow each other (a namespace and a selector), several of a kind widen it
 * (namespace a or b). An exclusion of any kind excludes; so does the pod's annotation
 * flamelet.dev/profile: "false". With inclusions of pods, what is in no pod is excluded: the host's
 * own processes too. Containers without a pod (docker's) have an ID but no name; the sandbox of a
 * pod is none of its containers.
 *
 * Where a rule asks for what is not known yet, a cgroup is undecided: the pod, its labels while it
 * is known by its log directory only, the name of its container. What the rest of the rules
 * excludes is excluded all the same. When a match is final, nothing is waited for: what is not
 * known then is not there. The annotation is no rule: a pod that is not known is not taken for
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
