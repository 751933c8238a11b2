/* SPDX-License-Identifier: Apache-2.0 */
/* Determines the workload that a pod belongs to and its service, from the pod's metadata alone. */
#ifndef K8S_WORKLOAD_H
#define K8S_WORKLOAD_H

#include "base/strview.h"

/* Metadata of a pod; NULL or "" for missing fields. All strings are borrowed. */
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

/* The names are parts of the source's strings. */
struct workload {
	const char *kind; /* "Deployment", "CronJob", "StatefulSet", …; "" for a bare pod */
	struct strview name;
	struct strview service_name;
	struct strview service_namespace;
};

struct workload workload_of(const struct workload_source *source);

#endif
