/* SPDX-License-Identifier: Apache-2.0 */
/* Labels of pprof samples: numbers and names of a sample, and attributes of its resource. Some
 * attributes have a short name as labels. */
#ifndef PROFILE_PPROF_LABELS_H
#define PROFILE_PPROF_LABELS_H

#include <stdbool.h>

enum pprof_label {
	PPROF_LABEL_COMM,
	PPROF_LABEL_THREAD,
	PPROF_LABEL_PID,
	PPROF_LABEL_TID,
	PPROF_LABEL_CPU,
	PPROF_LABEL_CGROUP_ID,
	PPROF_LABEL_REASON,
	PPROF_LABEL_REQUEST, /* of other programs: identifies a request; not kept */
	PPROF_LABEL_ATTRIBUTE,
};

/* Returns the name of a label that Flamelet writes, one of those before PPROF_LABEL_REQUEST.
 * Static. */
const char *pprof_label_name(enum pprof_label label);

/* Returns the meaning of a label's name, which may be another program's. */
enum pprof_label pprof_label_find(const char *name);

/* Attributes that have a short name, in the order in which they are written. */
struct pprof_short_name {
	const char *attribute;
	const char *label;
};
#define PPROF_NR_SHORT_NAMES 7
extern const struct pprof_short_name pprof_short_names[PPROF_NR_SHORT_NAMES];

bool pprof_has_short_name(const char *attribute);

/* Returns the attribute of a label, which has its short or long name; static or the label
 * itself. */
const char *pprof_attribute_of(const char *label);

#endif
