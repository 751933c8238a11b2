/* SPDX-License-Identifier: Apache-2.0 */
#include "commands/owner.h"

#define CONTAINER_ID_SHOWN 12

void owner_append(const struct profile *profile, const struct profile_sample *sample,
		  struct strbuf *out)
{
	const char *pod = profile_resource_get(profile, sample->resource, "k8s.pod.name");
	const char *ns = profile_resource_get(profile, sample->resource, "k8s.namespace.name");
	const char *uid = profile_resource_get(profile, sample->resource, "k8s.pod.uid");
	const char *container = profile_resource_get(profile, sample->resource, "container.id");
	const char *service = profile_resource_get(profile, sample->resource, "service.name");

	if (pod)
		strbuf_appendf(out, "%s/%s", ns ? ns : "", pod);
	else if (uid)
		strbuf_appendf(out, "pod %s", uid);
	else if (container && service)
		strbuf_append_str(out, service);
	else if (container)
		strbuf_appendf(out, "container %.*s", CONTAINER_ID_SHOWN, container);
	else
		strbuf_appendf(out, "%s (%s)", profile_string(profile, sample->process_comm),
			       service ? service : "host");
}
