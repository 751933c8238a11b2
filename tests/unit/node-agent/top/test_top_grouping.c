/* SPDX-License-Identifier: Apache-2.0 */
#include "top/grouping.h"

#include "unit.h"

#include "base/cleanup.h"
#include "profile/builder.h"

#include <string.h>

#define PLENTY_BYTES (1 << 20)
#define MAX_ATTRIBUTES 4

struct owner {
	struct attribute attributes[MAX_ATTRIBUTES];
	const char *comm, *thread;
	const char *program; /* "": not known */
	uint32_t pid;
	bool is_kernel_thread;
};

static const struct owner deployment = {
	.attributes = { { "k8s.namespace.name", "shop" },
			{ "k8s.pod.name", "cart-7d9f" },
			{ "k8s.deployment.name", "cart" },
			{ "k8s.container.name", "server" } },
	.comm = "java",
	.thread = "GC Thread#0",
	.program = "java",
	.pid = 12,
};
static const struct owner bare_pod = {
	.attributes = { { "k8s.namespace.name", "shop" }, { "k8s.pod.name", "debug" } },
	.comm = "sh",
	.thread = "sh",
	.program = "dash",
	.pid = 13,
};
static const struct owner unknown_pod = {
	.attributes = { { "k8s.pod.uid", "0123-4567" } },
	.comm = "a",
	.thread = "a",
	.program = "",
};
static const struct owner service = {
	.attributes = { { "service.name", "ssh.service" } },
	.comm = "sshd",
	.thread = "sshd",
	.program = "sshd",
	.pid = 14,
};
static const struct owner container = {
	.attributes = { { "service.name", "docker-0123456789ab" }, { "container.id", "0123" } },
	.comm = "nginx",
	.thread = "nginx",
	.program = "nginx",
	.pid = 15,
};
static const struct owner process = {
	.attributes = { { "service.name", "host" } },
	.comm = "a_very_long_nam",
	.thread = "worker",
	.program = "a_very_long_name_of_a_program",
	.pid = 16,
};
static const struct owner renamed = {
	.attributes = { { "service.name", "host" } },
	.comm = "gunicorn",
	.thread = "gunicorn",
	.program = "python3.11",
	.pid = 17,
};
static const struct owner symbolic_link = {
	.attributes = { { "service.name", "host" } },
	.comm = "ld",
	.thread = "ld",
	.program = "x86_64-linux-gnu-ld.bfd",
	.pid = 19,
};
static const struct owner own_worker = {
	.attributes = { { "service.name", "host" } },
	.comm = "rows-worker",
	.thread = "rows-worker",
	.program = "flamelet",
	.pid = 20,
};
static const struct owner kernel_thread = {
	.attributes = { { "service.name", "host" } },
	.comm = "kworker/3:1-events",
	.thread = "kworker/3:1-events",
	.program = "kworker",
	.pid = 18,
	.is_kernel_thread = true,
};

static uint32_t add_text(struct builder *builder, const char *text)
{
	uint32_t id = 0;

	assert_int_equal(builder_add_string(builder, text, &id), 0);
	return id;
}

static struct profile *profile_of(const struct owner *owner)
{
	struct builder *builder = NULL;

	assert_int_equal(builder_new(PLENTY_BYTES, &builder), 0);
	struct profile_process row = { .pid = owner->is_kernel_thread ? 0 : owner->pid,
				       .name = add_text(builder, owner->program) };
	struct profile_sample sample = {
		.process_comm = add_text(builder, owner->comm),
		.thread_comm = add_text(builder, owner->thread),
		.pid = owner->pid,
		.count = 1,
	};
	assert_int_equal(builder_add_process(builder, &row, &sample.process), 0);
	assert_int_equal(
		builder_add_resource(builder, owner->attributes, MAX_ATTRIBUTES, &sample.resource),
		0);
	assert_int_equal(builder_add_sample(builder, &sample), 0);
	return builder_seal(builder);
}

static void assert_named(enum grouping by, const struct owner *owner, const char *name,
			 const char *kind)
{
	_cleanup_(profile_unrefp) struct profile *profile = profile_of(owner);
	_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(PLENTY_BYTES);

	assert_string_equal(grouping_append(by, profile, &profile->samples[0], &out), kind);
	assert_string_equal(strbuf_str(&out), name);
}

static void an_application_is_a_workload_pod_service_or_program(void **state)
{
	(void)state;
	assert_named(BY_APPLICATION, &deployment, "shop/cart", "deployment");
	assert_named(BY_APPLICATION, &bare_pod, "shop/debug", "pod");
	assert_named(BY_APPLICATION, &unknown_pod, "pod 0123-4567", "pod");
	assert_named(BY_APPLICATION, &service, "ssh.service", "service");
	assert_named(BY_APPLICATION, &container, "docker-0123456789ab", "container");
	assert_named(BY_APPLICATION, &process, "a_very_long_name_of_a_program", "process");
	assert_named(BY_APPLICATION, &renamed, "gunicorn (python3.11)", "process");
	assert_named(BY_APPLICATION, &symbolic_link, "ld", "process");
	assert_named(BY_APPLICATION, &kernel_thread, "[kworker]", "kernel thread");
}

static void flamelet_and_its_workers_are_one_application(void **state)
{
	(void)state;
	assert_named(BY_APPLICATION, &own_worker, "flamelet", "process");
	assert_named(BY_PROCESS, &own_worker, "rows-worker (flamelet) 20", "process");
}

static void processes_outside_pods_and_services_are_one_row_by_workload_and_pod(void **state)
{
	(void)state;
	assert_named(BY_WORKLOAD, &deployment, "shop/cart", "deployment");
	assert_named(BY_WORKLOAD, &service, "ssh.service", "service");
	assert_named(BY_WORKLOAD, &process, "host", "host");
	assert_named(BY_WORKLOAD, &kernel_thread, "host", "host");
	assert_named(BY_POD, &deployment, "shop/cart-7d9f", "pod");
	assert_named(BY_POD, &process, "host", "host");
	assert_named(BY_CONTAINER, &deployment, "shop/cart-7d9f/server", "container");
	assert_named(BY_CONTAINER, &bare_pod, "shop/debug", "pod");
	assert_named(BY_CONTAINER, &process, "host", "host");
}

static void processes_and_threads_tell_where_they_run(void **state)
{
	(void)state;
	assert_named(BY_PROCESS, &deployment, "java 12 in shop/cart-7d9f", "process");
	assert_named(BY_PROCESS, &renamed, "gunicorn (python3.11) 17", "process");
	assert_named(BY_PROCESS, &kernel_thread, "[kworker] 18", "kernel thread");
	assert_named(BY_THREAD, &deployment, "GC Thread#0 of java 12 in shop/cart-7d9f", "thread");
	assert_named(BY_THREAD, &kernel_thread, "[kworker/3:1-events]", "kernel thread");
	assert_named(BY_COMM, &renamed, "gunicorn", "process");
	assert_named(BY_COMM, &kernel_thread, "[kworker]", "kernel thread");
}

static void a_sample_without_a_stack_has_no_function(void **state)
{
	(void)state;
	assert_named(BY_FUNCTION, &process, "[no stack]", "function");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_application_is_a_workload_pod_service_or_program),
		cmocka_unit_test(flamelet_and_its_workers_are_one_application),
		cmocka_unit_test(
			processes_outside_pods_and_services_are_one_row_by_workload_and_pod),
		cmocka_unit_test(processes_and_threads_tell_where_they_run),
		cmocka_unit_test(a_sample_without_a_stack_has_no_function),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
