/* SPDX-License-Identifier: Apache-2.0 */
/* Names the service in a cgroup outside of pods by its path, as there is no other source of
 * names. */
#ifndef CGROUP_CGROUP_SERVICE_H
#define CGROUP_CGROUP_SERVICE_H

#include "cgroup/cgroup_path.h"

#define CGROUP_SERVICE_MAX 255

struct cgroup_service {
	/* For service.name: "ssh.service", "user-1000/firefox", "user-1000/session-3.scope",
	 * "docker-0123456789ab", "lxc-web", "host". Never "", valid UTF-8, no control characters.
	 * What a user of the machine can name starts with "user-". */
	char name[CGROUP_SERVICE_MAX + 1];
	/* For container.runtime.name: "docker", "podman", "containerd", "cri-o", "lxc", "nspawn";
	 * "" when the path does not say, or for what is no container. */
	const char *runtime;
};

/* `path` is that below a cgroup mount ("/system.slice/ssh.service"), `owner` what
 * cgroup_path_parse() found in it. Never fails: an unknown path is named "host". For cgroups of
 * pods, only `runtime` is valid. */
void cgroup_service_parse(const char *path, const struct cgroup_owner *owner,
			  struct cgroup_service *ret_service);

#endif
