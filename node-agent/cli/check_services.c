/* SPDX-License-Identifier: Apache-2.0 */
/* The doctor's look at the two services the agent talks to. */
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/http_client.h"
#include "cli/doctor.h"
#include "k8s/kubelet.h"
#include "k8s/pod_list.h"
#include "otlp/transport_url.h"

#include <string.h>

#define POD_LIST_MAX_BYTES ((size_t)64 << 20)
#define CONNECT_TIMEOUT_NS (5 * NSEC_PER_SEC)
#define URL_MAX_BYTES 4096
#define BODY_MAX_BYTES 65536

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
		doctor_report_add(report, FINDING_OK, "kubelet", NULL,
				  "not configured (--kubelet-url): pods go by their UIDs");
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
		doctor_report_add(report, FINDING_OK, "kubelet", NULL, "%s knows %zu pods",
				  options->kubelet_url, pods->nr_pods);
}

static void add_silence(const char *url, const char *reason, struct doctor_report *report)
{
	doctor_report_add(report, FINDING_FAIL, "OTLP endpoint",
			  "see that it runs, and that --otlp-endpoint is its HTTP port (usually "
			  "4318)",
			  "%s: %s", url, reason);
}

static void add_answer(const char *url, unsigned int status, struct doctor_report *report)
{
	if (status == 404)
		doctor_report_add(report, FINDING_FAIL, "OTLP endpoint",
				  "enable profiles there (OpenTelemetry Collector: "
				  "--feature-gates=service.profilesSupport), or correct the URL",
				  "%s answers 404: it takes no profiles", url);
	else if (status == 401 || status == 403)
		doctor_report_add(report, FINDING_FAIL, "OTLP endpoint",
				  "give it the right credentials with otlp-header",
				  "%s answers %u: it does not know us", url, status);
	else
		doctor_report_add(report, FINDING_OK, "OTLP endpoint", NULL, "%s answers (%u)", url,
				  status);
}

void check_otlp(const struct doctor_host *host, struct doctor_report *report)
{
	_cleanup_(http_client_freep) struct http_client *client = NULL;
	_cleanup_(strbuf_done) struct strbuf url = strbuf_with_max(URL_MAX_BYTES);
	_cleanup_(strbuf_done) struct strbuf body = strbuf_with_max(BODY_MAX_BYTES);
	const struct options *options = host->options;
	struct http_response response;

	if (!options->export.endpoint) {
		doctor_report_add(report, FINDING_OK, "OTLP endpoint", NULL,
				  "not configured (--otlp-endpoint)");
		return;
	}
	if (transport_url(TRANSPORT_OTLP_HTTP, options->export.endpoint,
			  options->export.endpoint_is_full, &url) < 0) {
		doctor_report_add(report, FINDING_FAIL, "OTLP endpoint",
				  "write it like http://collector:4318", "%s is not a URL",
				  options->export.endpoint);
		return;
	}

	const struct http_client_opts opts = {
		.ca_file = options->export.ca_file,
		.use_proxy_env = true,
		.connect_timeout_ns = CONNECT_TIMEOUT_NS,
		.total_timeout_ns = options->export.timeout_ns,
	};
	const struct http_request request = {
		.url = strbuf_str(&url),
		.headers = (const char *const *)options->export.headers.items,
		.nr_headers = options->export.headers.nr,
		.body = "",
	};
	int r = http_client_new(&opts, &client);
	if (r < 0)
		add_silence(request.url, strerror(-r), report);
	else if (http_perform(client, &request, &body, &response) < 0)
		add_silence(request.url, http_client_error(client), report);
	else
		add_answer(strbuf_str(&url), response.status, report);
}
