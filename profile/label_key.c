/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/label_key.h"

#include "base/err.h"

#include <string.h>

static const struct label_key keys[] = {
	{ "namespace", LABEL_ATTRIBUTE, { "k8s.namespace.name" } },
	{ "pod", LABEL_ATTRIBUTE, { "k8s.pod.name", "k8s.pod.uid" } },
	{ "container", LABEL_ATTRIBUTE, { "k8s.container.name" } },
	{ "workload",
	  LABEL_ATTRIBUTE,
	  { "k8s.deployment.name", "k8s.statefulset.name", "k8s.daemonset.name", "k8s.cronjob.name",
	    "k8s.job.name", "k8s.replicaset.name", "k8s.replicationcontroller.name",
	    "k8s.workload.name" } },
	{ "node", LABEL_ATTRIBUTE, { "k8s.node.name" } },
	{ "host", LABEL_ATTRIBUTE, { "host.name" } },
	{ "service", LABEL_ATTRIBUTE, { "service.name" } },
	{ "comm", LABEL_COMM, { NULL } },
	{ "thread", LABEL_THREAD, { NULL } },
	{ "process", LABEL_PROCESS, { NULL } },
	{ "pid", LABEL_PID, { NULL } },
	{ "cgroup", LABEL_CGROUP, { NULL } },
	{ "cpu", LABEL_CPU, { NULL } },
	{ "reason", LABEL_REASON, { NULL } },
};

const char *label_key_word(size_t number)
{
	return number < array_len(keys) ? keys[number].word : NULL;
}

struct label_key label_key_of(const char *word)
{
	for (size_t i = 0; i < array_len(keys); i++)
		if (strcmp(keys[i].word, word) == 0)
			return keys[i];
	return (struct label_key){ word, LABEL_ATTRIBUTE, { word } };
}
