/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/pods.h"

#include "agent/signals.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "k8s/kubelet.h"

#define MAX_PODS 8192

/* If there are rules, the start waits for the first list of pods. `record` ends if no pod matches.
 * The agent selects again when the list comes, so a silent kubelet need not delay the rest. */
#define FIRST_PODS_WAIT_NS (2 * NSEC_PER_SEC)
#define FIRST_PODS_RECORD_WAIT_NS (10 * NSEC_PER_SEC)
#define SIGNALS_EVERY_NS (100 * NSEC_PER_MSEC)

static int make_kubelet(const struct options *options, struct strbuf *reterr_msg,
			struct kubelet **ret_kubelet)
{
	if (!options->kubelet_url)
		return 0;
	const struct kubelet_opts opts = { .url = options->kubelet_url,
					   .node_name = options->node_name,
					   .ca_file = options->kubelet_ca_file,
					   .token_file = options->kubelet_token_file,
					   .verify = options->kubelet_verify };
	int r = kubelet_new(&opts, ret_kubelet);
	if (r < 0)
		strbuf_appendf(reterr_msg,
			       "--kubelet-url: %s is not supported; expected a URL like "
			       "https://10.0.0.1:10250, without a path",
			       options->kubelet_url);
	return r;
}

static struct pod_watch_opts watch_opts(const struct options *options)
{
	return (struct pod_watch_opts){
		.logs_dir = options->pod_logs,
		.label_keys = (const char *const *)options->pod_labels.items,
		.nr_label_keys = options->pod_labels.nr,
		.annotation_keys = (const char *const *)options->pod_annotations.items,
		.nr_annotation_keys = options->pod_annotations.nr,
	};
}

int pods_start(const struct options *options, struct pod_index **ret_index,
	       struct pod_watch **ret_watch, struct strbuf *reterr_msg)
{
	_cleanup_(kubelet_freep) struct kubelet *kubelet = NULL;
	struct pod_watch_opts opts = watch_opts(options);

	int r = make_kubelet(options, reterr_msg, &kubelet);
	if (r == 0)
		r = pod_index_new(MAX_PODS, ret_index);
	if (r < 0)
		return r;
	opts.kubelet = kubelet;
	opts.index = *ret_index;
	r = pod_watch_start(&opts, ret_watch);
	if (r == 0)
		take_ptr(kubelet);
	return r;
}

void pods_wait_first(const struct options *options, struct pod_watch *watch)
{
	bool is_recording = options->input.command != COMMAND_AGENT;
	uint64_t wait_ns = is_recording ? FIRST_PODS_RECORD_WAIT_NS : FIRST_PODS_WAIT_NS;
	uint64_t deadline_ns = clock_mono_ns() + wait_ns;

	while (!signals_stop_requested() && clock_mono_ns() < deadline_ns &&
	       !pod_watch_wait_first(watch, clock_mono_ns() + SIGNALS_EVERY_NS))
		;
}

int pods_set_keys(struct pod_watch *watch, const struct options *options)
{
	const struct pod_watch_opts keys = watch_opts(options);

	return pod_watch_set_keys(watch, &keys);
}
