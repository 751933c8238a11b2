/* SPDX-License-Identifier: Apache-2.0 */
/* Extracts pod UID and container ID from a cgroup's path. */
#ifndef CGROUP_CGROUP_PATH_H
#define CGROUP_CGROUP_PATH_H

#include <stdbool.h>

#define POD_UID_MAX 36 /* 8-4-4-4-12, or 32 hex digits for a static pod */
#define CONTAINER_ID_LEN 64

enum cgroup_kind {
	CGROUP_HOST, /* neither pod nor container */
	CGROUP_CONTAINER_NO_POD, /* docker, podman, ECS: container ID alone */
	CGROUP_POD, /* the pod's own directory */
	CGROUP_CONTAINER, /* a container of a pod, its sandbox included */
	CGROUP_RUNTIME, /* a pod's helper outside its containers: crio-conmon */
};

struct cgroup_owner {
	enum cgroup_kind kind;
	char pod_uid[POD_UID_MAX + 1]; /* with dashes as in the API; "" when not in a pod */
	/* 64 lower-case hex digits; on ECS 32 hex digits, a dash and digits; "" when in no
	 * container */
	char container_id[CONTAINER_ID_LEN + 1];
	bool is_nested; /* below its container's own directory: made from inside it, as a rule */
	/* In the subtree of a user of the machine, who may name cgroups as he likes: never a
	 * pod's */
	bool is_users;
};

/* Parses a path as in /proc/PID/cgroup or below a cgroup mount. Never fails: an unknown path is
 * CGROUP_HOST. */
void cgroup_path_parse(const char *path, struct cgroup_owner *ret_owner);

/* Returns whether it is the topmost directory below which a kubelet creates its pods: "/kubepods",
 * "/kubelet.slice/kubelet-kubepods.slice", "/PREFIX/kubepods" with a cgroupRoot,
 * "/docker/ID/kubepods" of a node that runs in a container. Directories below it or in a pod do not
 * count. */
bool cgroup_path_is_pods_root(const char *path);

#endif
