/* SPDX-License-Identifier: Apache-2.0 */
/* Names are made once and kept. What of a second's profile was added to it already is known by the
 * second's number. */
#include "tests/bench/store_load.h"

#include "base/clock.h"
#include "profile/builder.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_BYTES ((size_t)1 << 30)
#define MAX_NODES ((size_t)96 << 20)
#define MAX_FUNCTIONS ((size_t)16 << 20)
#define NAME_BYTES 160
#define MAX_DEPTH 256
#define SHORT_LIFE_S 4
#define PLACES 3 /* in a function, from which another one is called */
#define NONE UINT32_MAX

/* A number in the profile of a second. */
struct known {
	uint32_t second; /* counted from 1 on */
	uint32_t id;
};

struct load {
	struct model *model; /* borrowed */
	uint32_t samples_a_second;
	struct builder *builder; /* owned; of the current second */
	uint32_t second; /* counted from 1 on */
	struct known *functions, *stacks; /* owned; by number of the model */
	struct known *locations; /* owned; PLACES for each function */
	struct known modules[MODEL_NR_MODULES + 1];
	struct known resources[MODEL_NR_THREADS], processes[MODEL_NR_THREADS];
};

static uint32_t mix(uint32_t a, uint32_t b)
{
	uint32_t x = (a ^ (b * UINT32_C(2654435761))) * UINT32_C(2246822519);

	x ^= x >> 13;
	x *= UINT32_C(3266489917);
	return x ^ x >> 16;
}

static bool is_known(const struct load *load, struct known *known)
{
	if (known->second == load->second)
		return true;
	known->second = load->second;
	return false;
}

/* Names. */

static const char *const words[] = {
	"http",	   "server",  "request", "parse",  "buffer",   "encode",   "vector",   "poll",
	"handle",  "json",    "session", "lookup", "cache",    "flush",	   "worker",   "append",
	"stream",  "read",    "write",	 "copy",   "hash",     "map",	   "insert",   "find",
	"token",   "node",    "tree",	 "visit",  "emit",     "optimize", "register", "alloc",
	"collect", "mark",    "sweep",	 "lock",   "wait",     "notify",   "channel",  "select",
	"socket",  "connect", "accept",	 "send",   "receive",  "query",	   "index",    "scan",
	"filter",  "sort",    "merge",	 "reduce", "compress", "decode",   "sign",     "verify",
	"page",	   "fault",   "inode",	 "block",  "submit",   "complete", "schedule", "update",
};

static const char *word(uint32_t a, uint32_t b)
{
	return words[mix(a, b) % array_len(words)];
}

/* As they are in real programs: C, C++ with its system name, places without a symbol. */
static void name_function(uint32_t number, bool is_kernel, char name[static NAME_BYTES],
			  char system_name[static NAME_BYTES])
{
	uint32_t style = is_kernel ? 0 : number % 8;
	const char *a = word(number, 1), *b = word(number, 2), *c = word(number, 3);

	if (style < 3) {
		snprintf(name, NAME_BYTES, "%s_%s_%s_%" PRIx32, a, b, c, number);
		snprintf(system_name, NAME_BYTES, "%s", name);
	} else if (style < 7) {
		snprintf(name, NAME_BYTES, "%s::%s%" PRIu32 "::%s_%s(%s::%s const&, int)", a, b,
			 number, c, word(number, 4), word(number, 5), word(number, 6));
		snprintf(system_name, NAME_BYTES, "_ZN%zu%s%zu%s%" PRIu32 "%zu%s_%sERKNS_%s_%sEi",
			 strlen(a), a, strlen(b), b, number, strlen(c), c, word(number, 4),
			 word(number, 5), word(number, 6));
	} else {
		snprintf(name, NAME_BYTES, "lib%s-%s.so.6+0x%" PRIx32, a, b, number * 256);
		system_name[0] = '\0';
	}
}

static int add_text(struct load *load, uint32_t *ret_id, const char *format, uint32_t a, uint32_t b)
{
	char text[NAME_BYTES];

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	snprintf(text, sizeof(text), format, a, b);
#pragma GCC diagnostic pop
	return builder_add_string(load->builder, text, ret_id);
}

static int put_module(struct load *load, uint32_t module, uint32_t *ret_id)
{
	struct known *known = &load->modules[module];
	struct profile_mapping mapping = { .start = 0x1000, .limit = 0x900000, .offset = 0x1000 };
	int r;

	*ret_id = known->id;
	if (is_known(load, known))
		return 0;
	if ((r = add_text(load, &mapping.filename,
			  "/usr/lib/x86_64-linux-gnu/lib%" PRIx32 "-%" PRIx32 ".so", module,
			  mix(module, 8))) < 0 ||
	    (r = add_text(load, &mapping.build_id,
			  "%08" PRIx32 "%08" PRIx32 "0123456789abcdef01234567", mix(module, 9),
			  mix(module, 10))) < 0 ||
	    (r = builder_add_mapping(load->builder, &mapping, &known->id)) < 0)
		return r;
	*ret_id = known->id;
	return 0;
}

static int put_function(struct load *load, struct model_function function, uint32_t *ret_id)
{
	struct known *known = &load->functions[function.number];
	struct profile_function row = { .start_line = mix(function.number, 11) % 5000 };
	char name[NAME_BYTES], system_name[NAME_BYTES];
	int r;

	*ret_id = known->id;
	if (is_known(load, known))
		return 0;
	name_function(function.number, function.program == 0, name, system_name);
	if ((r = builder_add_string(load->builder, name, &row.name)) < 0 ||
	    (r = builder_add_string(load->builder, system_name, &row.system_name)) < 0)
		return r;
	if (function.number % 8 < 7)
		r = add_text(load, &row.filename,
			     "/usr/src/package-%" PRIu32 "/src/part%" PRIu32 ".cc",
			     function.program, function.number / 16);
	if (r == 0)
		r = builder_add_function(load->builder, &row, &known->id);
	*ret_id = known->id;
	return r;
}

/* The files of a program are its own; its popular functions are in a few of them. */
static uint32_t module_of(struct model_function function)
{
	uint32_t of_program = MODEL_NR_MODULES / MODEL_NR_PROGRAMS;
	uint32_t number = mix(function.number, 12) % of_program;

	return function.program == 0 ? 0
				     : 1 + (function.program - 1) * of_program +
					       mix(function.number, 13) % (number + 1);
}

static int put_location(struct load *load, uint32_t node, uint32_t *ret_id)
{
	struct model_function function = model_function(load->model,
							model_node(load->model, node).function);
	uint32_t place = mix(node, 14) % PLACES;
	struct known *known = &load->locations[(size_t)function.number * PLACES + place];
	struct profile_location location = {
		.address = 0x1000 + UINT64_C(64) * function.number + place,
		.kind = function.program == 0 ? FRAME_KERNEL : FRAME_NATIVE,
	};
	struct profile_line line = { .line = 10 + place };
	int r;

	*ret_id = known->id;
	if (is_known(load, known))
		return 0;
	if ((r = put_function(load, function, &line.function)) < 0 ||
	    (r = put_module(load, module_of(function), &location.mapping)) < 0 ||
	    (r = builder_add_named_location(load->builder, &location, &line, 1, &known->id)) < 0)
		return r;
	*ret_id = known->id;
	return 0;
}

static int put_stack(struct load *load, uint32_t leaf, uint32_t *ret_id)
{
	struct known *known = &load->stacks[leaf];
	uint32_t locations[MAX_DEPTH];
	size_t nr = 0;
	int r = 0;

	*ret_id = known->id;
	if (is_known(load, known))
		return 0;
	for (uint32_t node = leaf; r == 0 && node != 0 && nr < MAX_DEPTH; nr++) {
		r = put_location(load, node, &locations[nr]);
		node = model_node(load->model, node).parent;
	}
	if (r == 0)
		r = builder_add_stack(load->builder, locations, nr, &known->id);
	*ret_id = known->id;
	return r;
}

/* Labels. */

static bool is_short(uint32_t thread)
{
	return thread < MODEL_NR_SHORT;
}

/* The pod of a thread, or NONE for those of the host. */
static uint32_t pod_of(uint32_t thread)
{
	return thread < MODEL_NR_SHORT + MODEL_NR_PODS * 6 ? thread % MODEL_NR_PODS : NONE;
}

static uint32_t pid_of(const struct load *load, uint32_t thread)
{
	if (is_short(thread))
		return 100000 + load->second / SHORT_LIFE_S * MODEL_NR_SHORT + thread;
	return 1000 + (pod_of(thread) == NONE ? thread : thread % (MODEL_NR_PODS * 2));
}

static int add_resource(struct load *load, uint32_t pod, uint32_t *ret_id)
{
	char name[96], uid[64], container[80], service[64], image[96];
	const struct attribute attributes[] = {
		{ "k8s.pod.label.app.kubernetes.io/name", service },
		{ "service.name", service },
		{ "service.namespace", word(pod % 10, 20) },
		{ "k8s.namespace.name", word(pod % 10, 20) },
		{ "k8s.pod.name", name },
		{ "k8s.pod.uid", uid },
		{ "k8s.pod.start_time", "2026-11-21T08:00:00Z" },
		{ "k8s.deployment.name", service },
		{ "k8s.node.name", "node-7" },
		{ "container.id", container },
		{ "k8s.container.name", "main" },
		{ "container.image.name", image },
		{ "host.name", "node-7.example" },
	};

	snprintf(service, sizeof(service), "%s-%s", word(pod, 21), word(pod, 22));
	snprintf(name, sizeof(name), "%s-%08" PRIx32 "-%05" PRIx32, service, mix(pod, 23),
		 mix(pod, 24) & 0xfffff);
	snprintf(uid, sizeof(uid), "%08" PRIx32 "-1111-4222-8333-%08" PRIx32 "0000", mix(pod, 25),
		 mix(pod, 26));
	snprintf(container, sizeof(container),
		 "%08" PRIx32 "%08" PRIx32 "%08" PRIx32 "%08" PRIx32 "%032" PRIu32, mix(pod, 27),
		 mix(pod, 28), mix(pod, 29), mix(pod, 30), pod);
	snprintf(image, sizeof(image), "registry.example/shop/%s", service);
	return builder_add_resource(load->builder, attributes, array_len(attributes), ret_id);
}

static int put_resource(struct load *load, uint32_t thread, uint32_t *ret_id)
{
	struct known *known = &load->resources[thread];
	int r = 0;

	*ret_id = pod_of(thread) == NONE ? 0 : known->id;
	if (pod_of(thread) == NONE || is_known(load, known))
		return 0;
	r = add_resource(load, pod_of(thread), &known->id);
	*ret_id = known->id;
	return r;
}

static int put_process(struct load *load, uint32_t thread, uint32_t *ret_id)
{
	struct known *known = &load->processes[thread];
	uint32_t program = model_program_of(thread);
	struct profile_process process = { .pid = pid_of(load, thread) };
	int r;

	*ret_id = known->id;
	if (is_known(load, known))
		return 0;
	process.start_ns = UINT64_C(10000000) * (mix(process.pid, 31) % 100000000);
	if ((r = add_text(load, &process.path, "/usr/bin/program-%" PRIu32, program, 0)) < 0 ||
	    (r = add_text(load, &process.name, "program-%" PRIu32, program, 0)) < 0 ||
	    (r = builder_add_process(load->builder, &process, &known->id)) < 0)
		return r;
	*ret_id = known->id;
	return 0;
}

static int add_sample(struct load *load)
{
	struct profile_sample sample = { .cpu = model_random(load->model, LOAD_CPUS), .count = 1 };
	struct model_pair pair;
	int r;

	if ((r = model_draw(load->model, &pair)) < 0)
		return r;
	uint32_t program = model_program_of(pair.thread);
	sample.pid = pid_of(load, pair.thread);
	sample.tid = sample.pid + pair.thread;
	sample.cgroup_id = pod_of(pair.thread) == NONE ? 1 : 5000 + pod_of(pair.thread);
	if ((r = put_stack(load, pair.node, &sample.stack)) < 0 ||
	    (r = put_resource(load, pair.thread, &sample.resource)) < 0 ||
	    (r = put_process(load, pair.thread, &sample.process)) < 0 ||
	    (r = add_text(load, &sample.process_comm, "program-%" PRIu32, program, 0)) < 0 ||
	    (r = add_text(load, &sample.thread_comm, "worker-%" PRIu32, pair.thread % 8, 0)) < 0)
		return r;
	return builder_add_sample(load->builder, &sample);
}

int load_second(struct load *load, uint64_t second, struct profile **ret_profile)
{
	uint32_t nr = load->samples_a_second;
	int r = builder_new(MAX_BYTES, &load->builder);

	load->second++;
	model_begin_second(load->model);
	/* Up to a tenth more or less. */
	nr = nr - nr / 10 + model_random(load->model, nr / 5);
	for (uint32_t i = 0; r == 0 && i < nr; i++)
		r = add_sample(load);
	if (r < 0) {
		builder_free(take_ptr(load->builder));
		return r;
	}
	builder_set_time(load->builder, second * NSEC_PER_SEC, NSEC_PER_SEC,
			 NSEC_PER_SEC / LOAD_HZ);
	*ret_profile = builder_seal(take_ptr(load->builder));
	return 0;
}

void load_free(struct load *load)
{
	if (!load)
		return;
	builder_free(load->builder);
	model_dealloc(load->functions, MAX_FUNCTIONS * sizeof(*load->functions));
	model_dealloc(load->locations, MAX_FUNCTIONS * PLACES * sizeof(*load->locations));
	model_dealloc(load->stacks, MAX_NODES * sizeof(*load->stacks));
	free(load);
}

int load_new(struct model *model, unsigned int busy_percent, struct load **ret_load)
{
	_cleanup_(load_freep) struct load *load = calloc(1, sizeof(*load));

	if (!load)
		return -ENOMEM;
	load->model = model;
	load->samples_a_second = LOAD_CPUS * LOAD_HZ * busy_percent / 100;
	load->functions = model_alloc(MAX_FUNCTIONS * sizeof(*load->functions));
	load->locations = model_alloc(MAX_FUNCTIONS * PLACES * sizeof(*load->locations));
	load->stacks = model_alloc(MAX_NODES * sizeof(*load->stacks));
	if (!load->functions || !load->locations || !load->stacks)
		return -ENOMEM;
	*ret_load = take_ptr(load);
	return 0;
}
