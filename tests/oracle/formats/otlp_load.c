/* SPDX-License-Identifier: Apache-2.0 */
/* A call tree needs no memory: the function at a place in it is a hash of the program and the way
 * there, out of as many functions as the program has, and the first ways are taken much more often
 * than the others. */
#include "tests/oracle/formats/otlp_load.h"

#include "profile/builder.h"

#include <inttypes.h>
#include <stdio.h>

#define PROGRAM_START UINT64_C(0x401000)
#define MAX_BYTES ((size_t)256 << 20)
#define NR_SAMPLES 8000
#define NR_CONTAINERS 60
#define NR_PROGRAMS 12
#define NR_FUNCTIONS 600 /* of a program; the kernel has as many */
#define NR_THREADS 8
#define NR_CPUS 64
#define MIN_FRAMES 12
#define MAX_FRAMES 45
#define MAX_KERNEL_FRAMES 12
#define KERNEL NR_PROGRAMS

struct load {
	struct builder *builder; /* owned */
	uint64_t random; /* state */
	uint32_t mappings[NR_PROGRAMS + 1];
	int error;
};

/* xorshift64* */
static uint32_t draw(struct load *load, uint32_t below)
{
	load->random ^= load->random >> 12;
	load->random ^= load->random << 25;
	load->random ^= load->random >> 27;
	return (uint32_t)((load->random * UINT64_C(2685821657736338717)) >> 33) % below;
}

static uint32_t mix(uint32_t a, uint32_t b)
{
	uint32_t x = (a ^ (b * UINT32_C(2654435761))) * UINT32_C(2246822519);

	return x ^ x >> 13;
}

static void keep_error(struct load *load, int r)
{
	if (r < 0 && load->error == 0)
		load->error = r;
}

static uint32_t add_string(struct load *load, const char *text)
{
	uint32_t id = 0;

	keep_error(load, builder_add_string(load->builder, text, &id));
	return id;
}

static void add_mapping(struct load *load, uint32_t program)
{
	struct profile_mapping mapping = {
		.start = PROGRAM_START,
		.limit = PROGRAM_START + (4 << 20),
		.offset = 0x1000,
	};
	char text[64];

	snprintf(text, sizeof(text), "/usr/lib/service/bin/program-%" PRIu32, program);
	mapping.filename = add_string(load, text);
	snprintf(text, sizeof(text), "%08" PRIx32 "c0ffee0123456789abcdef0123456789",
		 mix(program, 7));
	mapping.build_id = add_string(load, text);
	keep_error(load, builder_add_mapping(load->builder, &mapping, &load->mappings[program]));
}

static uint32_t add_function(struct load *load, uint32_t program, uint32_t number, bool has_name)
{
	static const char *const words[] = { "http",	 "server", "handle_request", "parse",
					     "Buffer",	 "encode", "std::vector",    "poll",
					     "dispatch", "json",   "session",	     "lookup",
					     "cache",	 "flush",  "worker",	     "append" };
	const char *first = words[mix(program, number) % array_len(words)];
	const char *second = words[mix(number, program) % array_len(words)];
	struct profile_function function = { 0 };
	uint32_t id = 0;
	char text[96];

	snprintf(text, sizeof(text), has_name ? "%s::%s_%" PRIu32 : "%s-%s+0x%" PRIx32, first,
		 second, number);
	function.name = add_string(load, text);
	if (has_name)
		function.system_name = function.name;
	if (has_name && program % 2 == 0 && program != KERNEL) {
		snprintf(text, sizeof(text), "/src/program-%" PRIu32 "/%s/%s.cc", program, first,
			 second);
		function.filename = add_string(load, text);
		function.start_line = 10 + number;
	}
	keep_error(load, builder_add_function(load->builder, &function, &id));
	return id;
}

/* Somewhere in a function. */
static uint32_t add_frame(struct load *load, uint32_t program, uint32_t number)
{
	bool has_name = program == KERNEL || program % 8 != 7;
	struct profile_line line = { .function = add_function(load, program, number, has_name) };
	uint32_t place = draw(load, 3);
	const struct profile_location location = {
		.address = PROGRAM_START + UINT64_C(64) * number + 8 * place,
		.mapping = load->mappings[program],
		.kind = program == KERNEL ? FRAME_KERNEL : FRAME_NATIVE,
	};
	uint32_t id = 0;

	if (has_name && program % 2 == 0 && program != KERNEL)
		line.line = 12 + number + place;
	keep_error(load, builder_add_named_location(load->builder, &location, &line, 1, &id));
	return id;
}

/* Fills in the frames from one on towards the leaf; the root is the last of them. */
static void add_branch(struct load *load, uint32_t program, uint32_t *frames, size_t nr)
{
	uint32_t way = program;

	for (size_t i = nr; i-- > 0;) {
		uint32_t turn = draw(load, 10);

		way = mix(way, turn < 7 ? 0 : turn - 6);
		frames[i] = add_frame(load, program, way % NR_FUNCTIONS);
	}
}

static uint32_t add_stack(struct load *load, uint32_t program)
{
	uint32_t frames[MAX_KERNEL_FRAMES + MAX_FRAMES];
	size_t nr_kernel = draw(load, 5) == 0 ? 1 + draw(load, MAX_KERNEL_FRAMES) : 0;
	size_t nr_user = MIN_FRAMES + draw(load, MAX_FRAMES - MIN_FRAMES);
	uint32_t id = 0;

	add_branch(load, KERNEL, frames, nr_kernel);
	add_branch(load, program, frames + nr_kernel, nr_user);
	keep_error(load, builder_add_stack(load->builder, frames, nr_kernel + nr_user, &id));
	return id;
}

static uint32_t add_resource(struct load *load, uint32_t container)
{
	char service[32];
	char pod[64];
	char uid[64];
	char container_id[80];
	const struct attribute attributes[] = {
		{ "k8s.pod.label.app.kubernetes.io/name", service },
		{ "service.name", service },
		{ "service.namespace", "shop" },
		{ "k8s.namespace.name", "shop" },
		{ "k8s.pod.name", pod },
		{ "k8s.pod.uid", uid },
		{ "k8s.pod.start_time", "2026-11-21T08:00:00Z" },
		{ "k8s.deployment.name", service },
		{ "k8s.node.name", "node-7" },
		{ "container.id", container_id },
		{ "k8s.container.name", "main" },
		{ "k8s.container.restart_count", "0" },
		{ "container.image.name", "registry.example/shop/program" },
		{ "container.image.tags", "1.27.3" },
		{ "host.name", "node-7.example" },
		{ "flamelet.identity", "kubelet" },
	};
	uint32_t id = 0;

	snprintf(service, sizeof(service), "service-%" PRIu32, container % NR_PROGRAMS);
	snprintf(pod, sizeof(pod), "%s-%08" PRIx32, service, mix(container, 1));
	snprintf(uid, sizeof(uid), "%08" PRIx32 "-1111-4222-8333-%012" PRIu32, mix(container, 2),
		 container);
	snprintf(container_id, sizeof(container_id), "%08" PRIx32 "%056" PRIu32, mix(container, 3),
		 container);
	keep_error(load,
		   builder_add_resource(load->builder, attributes, array_len(attributes), &id));
	return id;
}

static void add_sample(struct load *load)
{
	/* Some containers have much more to do than others. */
	uint32_t container = draw(load, 1 + draw(load, NR_CONTAINERS));
	uint32_t thread = draw(load, NR_THREADS);
	struct profile_sample sample = {
		.cgroup_id = 1000 + container,
		.stack = add_stack(load, container % NR_PROGRAMS),
		.resource = add_resource(load, container),
		.pid = 100 + container,
		.tid = 10000 + container * NR_THREADS + thread,
		.cpu = draw(load, NR_CPUS),
		.count = 1 + draw(load, 2),
	};
	char name[16];

	snprintf(name, sizeof(name), "worker-%" PRIu32, thread);
	sample.thread_comm = add_string(load, name);
	sample.process_comm = add_string(load, "program");
	keep_error(load, builder_add_sample(load->builder, &sample));
}

struct profile *otlp_load_profile(void)
{
	_cleanup_(builder_freep) struct builder *builder = NULL;
	struct load load = { .random = UINT64_C(88172645463325252) };

	if (builder_new(MAX_BYTES, &builder) < 0)
		return NULL;
	load.builder = builder;
	for (uint32_t program = 0; program < NR_PROGRAMS; program++)
		add_mapping(&load, program);
	for (size_t i = 0; i < NR_SAMPLES; i++)
		add_sample(&load);
	if (load.error < 0)
		return NULL;
	builder_set_time(builder, UINT64_C(1795188153000000000), UINT64_C(15000000000),
			 UINT64_C(52631578));
	return builder_seal(take_ptr(builder));
}
