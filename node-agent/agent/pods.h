/* SPDX-License-Identifier: Apache-2.0 */
/* The node's pods, from the sources that the options name. */
#ifndef AGENT_PODS_H
#define AGENT_PODS_H

#include "base/err.h"
#include "base/strbuf.h"
#include "config/options.h"
#include "k8s/pod_index.h"
#include "k8s/pod_watch.h"

/* Starts to watch the pods: at the kubelet, if the options have its URL, and in the directory of
 * logs. Stop the watch, then free the index; the index may exist even if this fails. Errors:
 * -EINVAL with a message if the kubelet's URL is invalid; those of pod_watch_start(). */
int pods_start(const struct options *options, struct pod_index **ret_index,
	       struct pod_watch **ret_watch, struct strbuf *reterr_msg) must_check;

/* Waits for the first list of pods, or until the end is asked for. Otherwise a selection by pods
 * would exclude all of them at first. A recording has an end, so it waits longer than the agent. */
void pods_wait_first(const struct options *options, struct pod_watch *watch);

/* Changes the labels and annotations to read, from the next refresh on. Errors: those of
 * pod_watch_set_keys(). */
int pods_set_keys(struct pod_watch *watch, const struct options *options) must_check;

#endif
