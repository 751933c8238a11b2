/* SPDX-License-Identifier: Apache-2.0 */
/* Any path gives an owner whose parts fit its kind, and a root of pods is no pod's. Above it may be
 * a container: a node that runs in one. */
#include "cgroup/cgroup_path.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	char *path = strndup((const char *)data, len);
	struct cgroup_owner owner;

	if (!path)
		return 0;
	cgroup_path_parse(path, &owner);
	if (cgroup_path_is_pods_root(path) && owner.kind != CGROUP_HOST &&
	    owner.kind != CGROUP_CONTAINER_NO_POD)
		abort();
	free(path);

	int has_pod = owner.kind >= CGROUP_POD;
	int has_container = owner.kind == CGROUP_CONTAINER || owner.kind == CGROUP_CONTAINER_NO_POD;
	if (has_pod != (owner.pod_uid[0] != '\0') ||
	    has_container != (owner.container_id[0] != '\0'))
		abort();
	return 0;
}
