/* SPDX-License-Identifier: Apache-2.0 */
#include "top/grouping.h"

#include "base/cleanup.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#define CONTAINER_ID_SHOWN 12
#define COMM_MAX_BYTES 15 /* of a process's name in the kernel */
#define OWN_PROGRAM "flamelet"
#define HOST "host" /* the service.name of what belongs to no service */

/* The owner of a pod's attribute, and its kind. */
static const struct {
	const char *key, *kind;
} workloads[] = {
	{ "k8s.deployment.name", "deployment" },
	{ "k8s.statefulset.name", "statefulset" },
	{ "k8s.daemonset.name", "daemonset" },
	{ "k8s.cronjob.name", "cronjob" },
	{ "k8s.job.name", "job" },
	{ "k8s.replicaset.name", "replicaset" },
	{ "k8s.replicationcontroller.name", "replicationcontroller" },
	{ "k8s.workload.name", "workload" },
};

static const char *attribute(const struct profile *profile, const struct profile_sample *sample,
			     const char *key)
{
	return profile_resource_get(profile, sample->resource, key);
}

/* Appends NAMESPACE/NAME. */
static void append_in_namespace(const struct profile *profile, const struct profile_sample *sample,
				const char *name, struct strbuf *out)
{
	const char *namespace = attribute(profile, sample, "k8s.namespace.name");

	if (namespace)
		strbuf_appendf(out, "%s/", namespace);
	strbuf_append_str(out, name);
}

static const char *append_workload(const struct profile *profile,
				   const struct profile_sample *sample, struct strbuf *out)
{
	for (size_t i = 0; i < array_len(workloads); i++) {
		const char *name = attribute(profile, sample, workloads[i].key);

		if (!name)
			continue;
		append_in_namespace(profile, sample, name, out);
		return workloads[i].kind;
	}
	return NULL;
}

static const char *append_pod(const struct profile *profile, const struct profile_sample *sample,
			      struct strbuf *out)
{
	const char *pod = attribute(profile, sample, "k8s.pod.name");
	const char *uid = attribute(profile, sample, "k8s.pod.uid");

	if (pod)
		append_in_namespace(profile, sample, pod, out);
	else if (uid)
		strbuf_appendf(out, "pod %s", uid);
	return pod || uid ? "pod" : NULL;
}

/* Appends the service or container of a process outside pods. */
static const char *append_service(const struct profile *profile,
				  const struct profile_sample *sample, struct strbuf *out)
{
	const char *service = attribute(profile, sample, "service.name");
	const char *container = attribute(profile, sample, "container.id");

	if (service && strcmp(service, HOST) != 0)
		strbuf_append_str(out, service);
	else if (container)
		strbuf_appendf(out, "container %.*s", CONTAINER_ID_SHOWN, container);
	else
		return NULL;
	return container ? "container" : "service";
}

/* The process 0 of the profile is unknown; all others without a pid are threads of the kernel. */
static bool is_kernel_thread(const struct profile *profile, const struct profile_sample *sample)
{
	return sample->process > 0 && profile->processes[sample->process].pid == 0;
}

/* Appends the name of a process; "[kworker]" stands for all such threads of the kernel. */
static const char *append_comm(const struct profile *profile, const struct profile_sample *sample,
			       struct strbuf *out)
{
	const char *comm = profile_string(profile, sample->process_comm);

	if (is_kernel_thread(profile, sample)) {
		strbuf_appendf(out, "[%.*s]", (int)strcspn(comm, "/"), comm);
		return "kernel thread";
	}
	strbuf_append_str(out, *comm ? comm : "[unnamed]");
	return "process";
}

/* Appends the name of a process. The kernel truncates it to 15 bytes; the program's name has the
 * rest. If the program has a different name, both are shown: "gunicorn (python3.11)". */
static const char *append_program(const struct profile *profile,
				  const struct profile_sample *sample, struct strbuf *out)
{
	const char *comm = profile_string(profile, sample->process_comm);
	uint32_t name = profile->processes[sample->process].name;
	const char *program = profile_string(profile, name);

	if (is_kernel_thread(profile, sample) || !*program)
		return append_comm(profile, sample, out);
	bool is_cut = strlen(comm) == COMM_MAX_BYTES;
	if (is_cut && strncmp(comm, program, strlen(comm)) == 0)
		strbuf_append_str(out, program);
	else if (strstr(program, comm))
		return append_comm(profile, sample, out);
	else
		strbuf_appendf(out, "%s (%s)", comm, program);
	return "process";
}

/* Flamelet and its workers are one application: they differ by name only. */
static bool is_own(const struct profile *profile, const struct profile_sample *sample)
{
	uint32_t name = profile->processes[sample->process].name;

	return strcmp(profile_string(profile, name), OWN_PROGRAM) == 0;
}

static const char *append_application(const struct profile *profile,
				      const struct profile_sample *sample, struct strbuf *out)
{
	const char *kind = append_workload(profile, sample, out);

	if (!kind)
		kind = append_pod(profile, sample, out);
	if (!kind)
		kind = append_service(profile, sample, out);
	if (kind || !is_own(profile, sample))
		return kind ? kind : append_program(profile, sample, out);
	strbuf_append_str(out, OWN_PROGRAM);
	return "process";
}

/* Appends the pod or service, else "host". */
static const char *append_pod_or_service(const struct profile *profile,
					 const struct profile_sample *sample, struct strbuf *out)
{
	const char *kind = append_pod(profile, sample, out);

	if (!kind)
		kind = append_service(profile, sample, out);
	if (!kind)
		strbuf_append_str(out, HOST);
	return kind ? kind : HOST;
}

static const char *append_workload_or_service(const struct profile *profile,
					      const struct profile_sample *sample,
					      struct strbuf *out)
{
	const char *kind = append_workload(profile, sample, out);

	return kind ? kind : append_pod_or_service(profile, sample, out);
}

static const char *append_container(const struct profile *profile,
				    const struct profile_sample *sample, struct strbuf *out)
{
	const char *container = attribute(profile, sample, "k8s.container.name");
	const char *kind = append_pod_or_service(profile, sample, out);

	if (container)
		strbuf_appendf(out, "/%s", container);
	return container ? "container" : kind;
}

static void append_owner(const struct profile *profile, const struct profile_sample *sample,
			 struct strbuf *out)
{
	size_t start = out->len;

	strbuf_append_str(out, " in ");
	if (strcmp(append_pod_or_service(profile, sample, out), HOST) == 0)
		strbuf_truncate(out, start);
}

static const char *append_process(const struct profile *profile,
				  const struct profile_sample *sample, struct strbuf *out)
{
	const char *kind = append_program(profile, sample, out);

	if (sample->pid > 0)
		strbuf_appendf(out, " %" PRIu32, sample->pid);
	append_owner(profile, sample, out);
	return kind;
}

static const char *append_thread(const struct profile *profile, const struct profile_sample *sample,
				 struct strbuf *out)
{
	if (is_kernel_thread(profile, sample)) {
		strbuf_appendf(out, "[%s]", profile_string(profile, sample->thread_comm));
		return "kernel thread";
	}
	strbuf_appendf(out, "%s of ", profile_string(profile, sample->thread_comm));
	append_process(profile, sample, out);
	return "thread";
}

static const char *append_function(const struct profile *profile,
				   const struct profile_sample *sample, struct strbuf *out)
{
	const struct profile_stack *stack = &profile->stacks[sample->stack];

	if (stack->nr == 0) {
		strbuf_append_str(out, "[no stack]");
		return "function";
	}
	uint32_t leaf = profile->stack_locations[stack->first];
	strbuf_append_str(out, profile_location_name(profile, leaf));
	return profile->locations[leaf].kind == FRAME_KERNEL ? "kernel function" : "function";
}

static const struct {
	const char *name;
	const char *(*append)(const struct profile *profile, const struct profile_sample *sample,
			      struct strbuf *out);
} groupings[] = {
	[BY_APPLICATION] = { "application", append_application },
	[BY_WORKLOAD] = { "workload", append_workload_or_service },
	[BY_POD] = { "pod", append_pod_or_service },
	[BY_CONTAINER] = { "container", append_container },
	[BY_PROCESS] = { "process", append_process },
	[BY_THREAD] = { "thread", append_thread },
	[BY_COMM] = { "comm", append_comm },
	[BY_FUNCTION] = { "function", append_function },
};

const char *grouping_name(enum grouping by)
{
	return groupings[by].name;
}

const char *grouping_append(enum grouping by, const struct profile *profile,
			    const struct profile_sample *sample, struct strbuf *out)
{
	return groupings[by].append(profile, sample, out);
}
