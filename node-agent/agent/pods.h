/* SPDX-License-Identifier: Apache-2.0 */
/* The node's pods, from where the options say that they are told. */
#ifndef AGENT_PODS_H
#define AGENT_PODS_H

#include "base/err.h"
#include "base/strbuf.h"
#include "config/options.h"
#include "k8s/pod_index.h"
#include "k8s/pod_watch.h"

/* Starts to watch them: at the kubelet, if there is one, and in the directory of logs. Stop the
 * watch, then free the index, which may be there when this fails, too. Errors: -EINVAL, with a
 * message, what should be the kubelet's URL is none; those of pod_watch_start(). */
int pods_start(const struct options *options, struct pod_index **ret_index,
	       struct pod_watch **ret_watch, struct strbuf *reterr_msg) must_check;

/* Waits for the first list, or until the end is asked for: a selection by pods would else exclude
 * them all at first. A recording has an end, so it waits longer than the agent. */
void pods_wait_first(const struct options *options, struct pod_watch *watch);

/* Other labels and annotations from the next refresh on. Errors: as pod_watch_set_keys(). */
int pods_set_keys(struct pod_watch *watch, const struct options *options) must_check;

#endif
