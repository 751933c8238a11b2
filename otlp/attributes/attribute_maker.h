/* SPDX-License-Identifier: Apache-2.0 */
/* Which attributes leave with a profile: those of its resources and their processes, and those of
 * its samples.
 *
 * A resource leaves with what the pipeline knows of it, less what the user excludes, and with the
 * user's own attributes where it has none of that key. Its samples leave in groups by their process
 * (attribute_processes.h). A sample leaves with its thread, its CPU and its cgroup, as far as they
 * are wanted. What leaves is valid UTF-8, without empty or equal keys, and cut to
 * ATTRIBUTE_NAME_MAX and ATTRIBUTE_VALUE_MAX.
 *
 * Presets. ATTRIBUTES_STANDARD is for the OpenTelemetry Collector: all names as the semantic
 * conventions have them, and thread name, thread id, CPU and cgroup on samples.
 * ATTRIBUTES_PYROSCOPE is for Pyroscope and Grafana, where each distinct set of attributes, those
 * of the samples included, is a series:
 *
 *	short names	namespace, pod, container, workload and node, which people filter by, stand beside k8s.pod.name and its
 *			kind. They say who the pod is: no annotation of that name takes their place.
 *	process		the name of the program, in place of process.pid, process.executable.name,
 *			process.executable.path and process.creation.time.
 *	samples		have no attributes unless asked for.
 *	left out	what would begin a new series of the same thing, or repeats what is there:
 *			k8s.pod.start_time and k8s.pod.uid (the pod's name changes with it but in stateful sets),
 *			k8s.container.restart_count and container.id (new with each restart). Where nobody says whose they are, all
 *			containers are thus one series, not one each;
 *			service.instance.id (is namespace, pod and container in one), flamelet.identity of a named container (differs
 *			while the kubelet does not answer), host.name (says what the node's name says), container.runtime.name,
 *			process.linux.cgroup (its service has a name; sessions would be a series each).
 *	names		every release takes them: other characters than A-Z a-z 0-9 _ . become "_", a digit in front gets one, and what
 *			releases before 2.0 make equal by turning "." into "_" gets a number behind. "service_name" and names
 *			beginning with two underscores are Pyroscope's own and are changed.
 *
 * The limit. Over `max_attributes` attributes, those of samples counted, the least important ones
 * stay behind, in this order: redundant ones and details of the image, IDs, pod annotations, pod
 * labels, the user's own, the workload; never who it is: namespace, pod, container, node,
 * service.name.
 *
 * The guard. Of each attribute of the samples of one resource, known by its content and not by a
 * number, at most `max_values` values leave within an hour, and as many of its programs. One that
 * did is free to leave again. When all places are taken, a new one has to wait until one was not
 * seen for an hour; of several new ones the most frequent go first. The others collapse: a name
 * becomes ATTRIBUTE_OTHER_TEXT, a number is left out, so that their samples join. Thread ids that
 * leave with a process.pid of their own resource are not limited: they are always new, and no more
 * than the samples. */
#ifndef OTLP_ATTRIBUTES_ATTRIBUTE_MAKER_H
#define OTLP_ATTRIBUTES_ATTRIBUTE_MAKER_H

#include "base/cleanup.h"
#include "base/err.h"
#include "otlp/attributes/attribute_names.h"
#include "otlp/attributes/export_attributes.h"
#include "profile/profile.h"

#include <stddef.h>
#include <stdint.h>

/* By preset: the guard's values, and the limit, which ATTRIBUTES_STANDARD has none of. Pyroscope
 * takes 30 with its own. */
#define ATTRIBUTES_STANDARD_MAX_VALUES 1024
#define ATTRIBUTES_PYROSCOPE_MAX_VALUES 20
#define ATTRIBUTES_PYROSCOPE_LIMIT 25

/* A mask. */
enum sample_attribute {
	SAMPLE_THREAD_NAME = 1, /* thread.name */
	SAMPLE_CPU = 2, /* cpu.logical_number */
	SAMPLE_CGROUP = 4, /* flamelet.cgroup.id */
	SAMPLE_THREAD_ID = 8, /* thread.id; not of processes that leave joined */
	SAMPLE_PID = 16, /* process.pid */
	SAMPLE_CONTAINER = 32, /* container.id */
};
#define SAMPLE_ATTRIBUTES_DEFAULT ((unsigned int)-1) /* the preset's */

struct attribute_opts {
	enum attribute_preset preset;
	unsigned int sample_attributes; /* mask, or SAMPLE_ATTRIBUTES_DEFAULT */
	/* Keys of attributes that do not leave, those of samples and short names as well; "*" at
	 * the end stands for any end */
	const char *const *excluded;
	size_t nr_excluded;
	const struct attribute *extra; /* of each resource that has no such key */
	size_t nr_extra;
	uint32_t max_values; /* 0: the preset's */
	uint32_t max_attributes; /* 0: the preset's */
};

/* Both only grow. */
struct attribute_maker_stats {
	uint64_t nr_samples_collapsed; /* sum of counts */
	/* Of resources, over max_attributes; again in each profile */
	uint64_t nr_attributes_dropped;
};

/* Remembers which values have left. Belongs to one thread, but for its stats. */
struct attribute_maker;

/* Copies what it needs. Errors: -ENOMEM. */
int attribute_maker_new(const struct attribute_opts *opts, struct attribute_maker **ret_maker)
	must_check;
void attribute_maker_free(struct attribute_maker *maker);
DEFINE_FREEP(struct attribute_maker, attribute_maker_free)

/* `now_ns` is CLOCK_MONOTONIC. Errors: -ENOMEM. */
int attribute_maker_make(struct attribute_maker *maker, const struct profile *profile,
			 uint64_t now_ns, struct export_attributes *ret_attributes) must_check;

/* From any thread. */
struct attribute_maker_stats attribute_maker_get_stats(const struct attribute_maker *maker);

#endif
