/* SPDX-License-Identifier: Apache-2.0 */
/* A pod only names its direct controller. Three kinds of controllers have controllers themselves.
 * Their names tell which, so that no request to the API server is needed:
 *
 *	ReplicaSet "web-5b5cc55988", label pod-template-hash=5b5cc55988: Deployment "web"
 *	Job "tick-29920538", the digits being the minute of its schedule: CronJob "tick"
 *	ReplicationController "shop-3", label deploymentconfig=shop: DeploymentConfig "shop"
 *
 * The last one is OpenShift's. The mirror pod of a static pod is owned by its Node, which is no
 * workload.
 *
 * The service's name follows OpenTelemetry's semantic conventions, "Specify resource attributes
 * using Kubernetes annotations": annotation, app.kubernetes.io labels, workload, pod. */
#include "k8s/workload.h"

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define CRON_DIGITS_MIN 8
#define CRON_DIGITS_MAX 10

static const struct strview no_name = { "", 0 };

static struct strview whole(const char *text)
{
	return strview_of(text ? text : "", SIZE_MAX);
}

static bool is_empty(const char *text)
{
	return !text || text[0] == '\0';
}

/* Returns the owner's name without "-" and the hash, or an empty name. */
static struct strview deployment_name(const struct workload_source *source)
{
	struct strview set = whole(source->owner_name);
	struct strview start = strview_without_suffix(set, whole(source->pod_template_hash).text);
	struct strview name = strview_without_suffix(start, "-");

	return start.len < set.len && name.len < start.len ? name : no_name;
}

/* Returns the owner's name without "-" and the digits of the schedule, or an empty name. */
static struct strview cronjob_name(const struct workload_source *source)
{
	struct strview job = whole(source->owner_name);
	struct strview digits = strview_behind_last(job, '-');

	if (digits.len < CRON_DIGITS_MIN || digits.len > CRON_DIGITS_MAX || digits.len == job.len ||
	    !strview_has_only(digits, "0123456789"))
		return no_name;
	return strview_head(job, job.len - digits.len - 1);
}

/* Returns the label's value if the controller is named after it, or an empty name. */
static struct strview deployment_config_name(const struct workload_source *source)
{
	struct strview config = whole(source->deployment_config);
	const char *controller = source->owner_name;

	if (config.len == 0 || strncmp(controller, config.text, config.len) != 0 ||
	    controller[config.len] != '-')
		return no_name;
	return config;
}

static void find_controller(const struct workload_source *source, struct workload *workload)
{
	const char *kind = source->owner_kind;

	workload->kind = "";
	workload->name = no_name;
	if (is_empty(kind) || is_empty(source->owner_name) || strcmp(kind, "Node") == 0)
		return;

	if (strcmp(kind, "ReplicaSet") == 0) {
		workload->kind = "Deployment";
		workload->name = deployment_name(source);
	} else if (strcmp(kind, "Job") == 0) {
		workload->kind = "CronJob";
		workload->name = cronjob_name(source);
	} else if (strcmp(kind, "ReplicationController") == 0) {
		workload->kind = "DeploymentConfig";
		workload->name = deployment_config_name(source);
	}
	if (workload->name.len == 0) {
		workload->kind = kind;
		workload->name = whole(source->owner_name);
	}
}

/* Returns whether the conventions name a service after this kind of workload, not after its pod. */
static bool names_service(const char *kind)
{
	static const char *const kinds[] = { "Deployment", "ReplicaSet", "StatefulSet",
					     "DaemonSet",  "CronJob",	 "Job" };

	for (size_t i = 0; i < array_len(kinds); i++)
		if (strcmp(kind, kinds[i]) == 0)
			return true;
	return false;
}

static struct strview find_service_name(const struct workload_source *source,
					const struct workload *workload)
{
	if (!is_empty(source->service_name))
		return whole(source->service_name);
	if (!is_empty(source->app_instance))
		return whole(source->app_instance);
	if (!is_empty(source->app_name))
		return whole(source->app_name);
	if (names_service(workload->kind))
		return workload->name;
	return whole(source->pod_name);
}

struct workload workload_of(const struct workload_source *source)
{
	struct workload workload;

	find_controller(source, &workload);
	workload.service_name = find_service_name(source, &workload);
	workload.service_namespace = whole(is_empty(source->service_namespace)
						   ? source->namespace
						   : source->service_namespace);
	return workload;
}
