/* SPDX-License-Identifier: Apache-2.0 */
/* Which workload a pod belongs to and what service it is, from its metadata alone: a pure
 * function. */
#ifndef K8S_WORKLOAD_H
#define K8S_WORKLOAD_H

#include <stddef.h>

/* What a pod's metadata says; NULL or "" for what is not there. All strings are borrowed. */
struct workload_source {
	const char *namespace;
	const char *pod_name;
	const char *owner_kind; /* of the ownerReference with controller: true */
	const char *owner_name;
	const char *pod_template_hash; /* label pod-template-hash */
	const char *deployment_config; /* label deploymentconfig */
	const char *app_instance; /* label app.kubernetes.io/instance */
	const char *app_name; /* label app.kubernetes.io/name */
	const char *service_name; /* annotation resource.opentelemetry.io/service.name */
	const char *service_namespace; /* annotation resource.opentelemetry.io/service.namespace */
};

/* A piece of one of the source's strings; not NUL-terminated. */
struct workload_text {
	const char *text;
	size_t len;
};

struct workload {
	const char *kind; /* "Deployment", "CronJob", "StatefulSet", …; "" for a bare pod */
	struct workload_text name;
	struct workload_text service_name;
	struct workload_text service_namespace;
};

struct workload workload_of(const struct workload_source *source);

#endif
