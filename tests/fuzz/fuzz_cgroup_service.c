/* SPDX-License-Identifier: Apache-2.0 */
/* Any path has a name that can be shown, and a runtime that is known. */
#include "cgroup/cgroup_service.h"

#include "base/cleanup.h"
#include "base/printable.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	_cleanup_free_ char *path = strndup((const char *)data, len);
	struct cgroup_owner owner;
	struct cgroup_service service;

	if (!path)
		return 0;
	cgroup_path_parse(path, &owner);
	cgroup_service_parse(path, &owner, &service);
	if (!service.name[0] || !service.runtime || !printable_holds(service.name))
		abort();
	return 0;
}
