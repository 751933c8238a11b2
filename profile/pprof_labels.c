/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/pprof_labels.h"

#include "base/err.h"

#include <string.h>

const struct pprof_short_name pprof_short_names[PPROF_NR_SHORT_NAMES] = {
	{ "k8s.namespace.name", "namespace" }, { "k8s.pod.name", "pod" },
	{ "k8s.container.name", "container" }, { "container.id", "container_id" },
	{ "k8s.pod.uid", "pod_uid" },	       { "service.name", "service" },
	{ "flamelet.identity", "identity" },
};

/* The first name of each is ours. */
static const struct {
	const char *name;
	enum pprof_label label;
} names[] = {
	{ "comm", PPROF_LABEL_COMM },
	{ "thread", PPROF_LABEL_THREAD },
	{ "pid", PPROF_LABEL_PID },
	{ "tid", PPROF_LABEL_TID },
	{ "cpu", PPROF_LABEL_CPU },
	{ "cgroup_id", PPROF_LABEL_CGROUP_ID },
	{ "reason", PPROF_LABEL_REASON },
	{ "thread_comm", PPROF_LABEL_THREAD },
	{ "thread_name", PPROF_LABEL_THREAD },
	{ "thread.name", PPROF_LABEL_THREAD },
	{ "thread_id", PPROF_LABEL_TID },
	{ "thread.id", PPROF_LABEL_TID },
	{ "trace_id", PPROF_LABEL_REQUEST },
	{ "span_id", PPROF_LABEL_REQUEST },
	{ "profile_id", PPROF_LABEL_REQUEST },
};

const char *pprof_label_name(enum pprof_label label)
{
	return names[label].name;
}

enum pprof_label pprof_label_find(const char *name)
{
	for (size_t i = 0; i < array_len(names); i++)
		if (strcmp(names[i].name, name) == 0)
			return names[i].label;
	return PPROF_LABEL_ATTRIBUTE;
}

bool pprof_has_short_name(const char *attribute)
{
	for (size_t i = 0; i < PPROF_NR_SHORT_NAMES; i++)
		if (strcmp(pprof_short_names[i].attribute, attribute) == 0)
			return true;
	return false;
}

const char *pprof_attribute_of(const char *label)
{
	for (size_t i = 0; i < PPROF_NR_SHORT_NAMES; i++)
		if (strcmp(pprof_short_names[i].label, label) == 0)
			return pprof_short_names[i].attribute;
	return label;
}
