/* SPDX-License-Identifier: Apache-2.0 */
/* Asks the kubelet for its pods, as the agent would. */
#include "base/cleanup.h"
#include "doctor/doctor.h"
#include "k8s/kubelet.h"
#include "k8s/pod_list.h"

#include <string.h>

#define POD_LIST_MAX_BYTES ((size_t)64 << 20)

void check_kubelet(const struct doctor_host *host, struct doctor_report *report)
{
	_cleanup_(kubelet_freep) struct kubelet *kubelet = NULL;
	_cleanup_(pod_list_freep) struct pod_list *pods = NULL;
	const struct options *options = host->options;
	const struct pod_list_opts list_opts = { .max_bytes = POD_LIST_MAX_BYTES };
	const struct kubelet_opts opts = {
		.url = options->kubelet_url,
		.node_name = options->node_name,
		.ca_file = options->kubelet_ca_file,
		.token_file = options->kubelet_token_file,
		.verify = options->kubelet_verify,
	};

	if (!options->kubelet_url) {
		doctor_report_ok(report, "kubelet",
				 "not configured (--kubelet-url): pods are shown by their UIDs");
		return;
	}

	int r = kubelet_new(&opts, &kubelet);
	if (r < 0) {
		doctor_report_add(report, FINDING_FAIL, "kubelet", "see --kubelet-url", "%s: %s",
				  options->kubelet_url, strerror(-r));
		return;
	}
	r = kubelet_get_pods(kubelet, &list_opts, &pods);
	if (r < 0)
		doctor_report_add(report, FINDING_FAIL, "kubelet", NULL, "%s: %s",
				  options->kubelet_url, kubelet_error(kubelet));
	else
		doctor_report_ok(report, "kubelet", "%s knows %zu pods", options->kubelet_url,
				 pods->nr_pods);
}
