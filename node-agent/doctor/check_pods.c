/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the sources of pod names other than the kubelet. */
#include "base/cleanup.h"
#include "doctor/doctor.h"
#include "k8s/pod_logs.h"

#include <string.h>

#define POD_LIST_MAX_BYTES ((size_t)64 << 20)

void check_node_name(const struct doctor_host *host, struct doctor_report *report)
{
	const struct options *options = host->options;

	if (options->node_name)
		doctor_report_ok(report, "node name", "%s", options->node_name);
	else if (options->kubelet_url)
		doctor_report_add(
			report, FINDING_WARN, "node name",
			"set --node-name; in a pod, set env NODE_NAME from fieldRef spec.nodeName",
			"unknown: the kubelet's certificate is verified against its address, but "
			"usually has only the node's name");
	else
		doctor_report_ok(report, "node name", "not configured (--node-name)");
}

/* Warns only if there is a kubelet: other hosts have no such directories. */
static void add_no_logs(const struct options *options, int error, struct doctor_report *report)
{
	if (options->kubelet_url)
		doctor_report_add(
			report, FINDING_WARN, "pod logs",
			"in a pod, mount the host's /var/log as a hostPath and name it "
			"with --pod-logs",
			"%s/pods: %s: no fallback for pod names if the kubelet does not answer",
			options->pod_logs, strerror(-error));
	else
		doctor_report_ok(report, "pod logs", "none in %s", options->pod_logs);
}

void check_pod_logs(const struct doctor_host *host, struct doctor_report *report)
{
	_cleanup_(pod_list_freep) struct pod_list *pods = NULL;
	const struct options *options = host->options;
	size_t nr_containers = 0;

	if (!options->pod_logs) {
		doctor_report_ok(report, "pod logs", "not configured (--pod-logs)");
		return;
	}

	int r = pod_logs_list(options->pod_logs, POD_LIST_MAX_BYTES, &pods);
	if (r < 0) {
		add_no_logs(options, r, report);
		return;
	}
	for (size_t i = 0; i < pods->nr_pods; i++)
		nr_containers += pods->pods[i].nr_containers;
	doctor_report_ok(report, "pod logs", "%s names %zu pods and %zu containers",
			 options->pod_logs, pods->nr_pods, nr_containers);
}
