/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses the attributes that are sent with a profile: those of its resources, processes and
 * samples.
 *
 * A resource leaves with what the pipeline knows of it, less what the user excludes, and with the
 * user's own attributes unless it has one of that key. Its samples leave in groups by their process
 * (attribute_processes.h). A sample leaves with its thread, its CPU and its cgroup, as far as the
 * user wants them. All text that leaves is valid UTF-8, is not longer than ATTRIBUTE_NAME_MAX and
 * ATTRIBUTE_VALUE_MAX, and no key is empty or there twice.
 *
 * Presets. ATTRIBUTES_STANDARD is for the OpenTelemetry Collector. It uses the names of the
 * semantic conventions, and samples have thread name, thread id, CPU and cgroup.
 * ATTRIBUTES_PYROSCOPE is for Pyroscope and Grafana, where each distinct set of attributes is a
 * series, including the attributes of samples:
 *
 *	short names	namespace, pod, container, workload and node, which people filter by, are
 *			added to k8s.pod.name and the like. They say who the pod is: an annotation
 *			of such a name does not take their place.
 *	process		the name of the program replaces process.pid, process.executable.name,
 *			process.executable.path and process.creation.time.
 *	samples		have no attributes unless the user asks for some.
 *	left out	attributes that would begin a new series of the same thing, or repeat
 *			another one:
 *			k8s.pod.start_time and k8s.pod.uid, as the pod's name changes with them
 *			except in stateful sets;
 *			k8s.container.restart_count and container.id, which are new with each
 *			restart. Containers whose owner nobody knows are thus one series, not one
 *			each;
 *			service.instance.id, which is namespace, pod and container in one;
 *			flamelet.identity of a container with a name, as it differs while the
 *			kubelet does not answer;
 *			host.name, which repeats the node's name, and container.runtime.name;
 *			process.linux.cgroup: its service has a name, and sessions would be a series
 *			each.
 *	names		are such that every release takes them: any character but [A-Za-z0-9_.]
 *			becomes "_", and a digit in front gets one. Names that releases before 2.0
 *			make equal by turning "." into "_" get a number at their end. "service_name"
 *			and names that begin with two underscores are Pyroscope's own and are
 *			changed.
 *
 * The limit. Over `max_attributes` attributes, including those of samples, the least important ones
 * stay behind, in this order: redundant ones and details of the image, IDs, pod annotations, pod
 * labels, the user's own, the workload. Namespace, pod, container, node and service.name always
 * leave.
 *
 * The guard. Of each attribute of the samples of one resource, at most `max_values` values leave
 * within an hour, and as many names of programs. The guard knows a resource by its content and not
 * by its number. A value that left is free to leave again. When all places are taken, a new value
 * waits until another one was not seen for an hour; of several new values the most frequent ones go
 * first. Values without a place collapse: a name becomes ATTRIBUTE_OTHER_TEXT and a number is left
 * out, so that their samples join. Thread ids that leave with a process.pid of their own resource
 * have no limit: they are always new, and there are no more of them than samples. */
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
	SAMPLE_REASON = 64, /* flamelet.wait.reason; of waits only */
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

/* Both counters only grow. */
struct attribute_maker_stats {
	uint64_t nr_samples_collapsed; /* that were taken */
	/* of resources over max_attributes; counted in each profile */
	uint64_t nr_attributes_dropped;
};

/* Remembers the values that were sent. Belongs to one thread, except for its statistics. */
struct attribute_maker;

/* Copies the options. Errors: -ENOMEM. */
int attribute_maker_new(const struct attribute_opts *opts, struct attribute_maker **ret_maker)
	must_check;
void attribute_maker_free(struct attribute_maker *maker);
DEFINE_FREEP(struct attribute_maker, attribute_maker_free)

/* Makes the attributes of a profile. `now_ns` is CLOCK_MONOTONIC. Errors: -ENOMEM. */
int attribute_maker_make(struct attribute_maker *maker, const struct profile *profile,
			 uint64_t now_ns, struct export_attributes *ret_attributes) must_check;

/* May be called from any thread. */
struct attribute_maker_stats attribute_maker_get_stats(const struct attribute_maker *maker);

#endif
