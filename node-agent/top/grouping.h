/* SPDX-License-Identifier: Apache-2.0 */
/* What the rows of the table stand for, and which row a sample belongs to. An application is a
 * workload of Kubernetes, else a pod without one, else a service or container of the host, else all
 * processes with the same name. */
#ifndef TOP_GROUPING_H
#define TOP_GROUPING_H

#include "base/strbuf.h"
#include "profile/profile.h"

enum grouping {
	BY_APPLICATION,
	BY_WORKLOAD,
	BY_POD,
	BY_CONTAINER,
	BY_PROCESS,
	BY_THREAD, /* threads of a process that have the same name are one row */
	BY_COMM,
	BY_FUNCTION, /* the leaf of the stack */
	NR_GROUPINGS,
};

/* Returns "application", "pod" and so on. */
const char *grouping_name(enum grouping by);

/* Appends the name of the sample's row and returns what the name is: "deployment", "pod",
 * "service", "process", … */
const char *grouping_append(enum grouping by, const struct profile *profile,
			    const struct profile_sample *sample, struct strbuf *out);

#endif
