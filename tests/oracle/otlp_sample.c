/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/oracle/otlp_sample.h"

#include <stdlib.h>

#define MAX_BYTES (64u << 20)
#define DURATION_NS UINT64_C(10000000000)
#define PERIOD_NS UINT64_C(10000000)
#define FILE_BYTES 65536
#define NR_DEEP_FRAMES 1500

static int add_mapping(struct builder *builder, const struct otlp_frame *frame, uint32_t *ret_id)
{
	struct profile_mapping mapping = { .limit = FILE_BYTES };
	int r;

	if (!frame->file) {
		*ret_id = 0;
		return 0;
	}
	if ((r = builder_add_string(builder, frame->file, &mapping.filename)) < 0 ||
	    (r = builder_add_string(builder, frame->build_id ? frame->build_id : "",
				    &mapping.build_id)) < 0)
		return r;
	return builder_add_mapping(builder, &mapping, ret_id);
}

static int add_frame(struct builder *builder, const struct otlp_frame *frame, uint32_t *ret_id)
{
	struct profile_location location = { .address = frame->address, .kind = frame->kind };
	struct profile_function function = { 0 };
	int r;

	if ((r = builder_add_string(builder, frame->name, &function.name)) < 0 ||
	    (r = builder_add_string(builder, frame->system_name ? frame->system_name : "",
				    &function.system_name)) < 0 ||
	    (r = builder_add_function(builder, &function, &location.function)) < 0 ||
	    (r = add_mapping(builder, frame, &location.mapping)) < 0)
		return r;
	return builder_add_location(builder, &location, ret_id);
}

static int add_stack(struct builder *builder, const struct otlp_sample *sample, uint32_t *ret_id)
{
	_cleanup_free_ uint32_t *locations = calloc(sample->nr_frames + 1, sizeof(*locations));
	int r = locations ? 0 : -ENOMEM;

	for (size_t i = 0; r == 0 && i < sample->nr_frames; i++)
		r = add_frame(builder, &sample->frames[i], &locations[i]);
	return r < 0 ? r : builder_add_stack(builder, locations, sample->nr_frames, ret_id);
}

static int add_sample(struct builder *builder, const struct otlp_sample *sample)
{
	struct profile_sample numbers = sample->numbers;
	int r;

	if ((r = add_stack(builder, sample, &numbers.stack)) < 0 ||
	    (r = builder_add_resource(builder, sample->attributes, sample->nr_attributes,
				      &numbers.resource)) < 0 ||
	    (r = builder_add_string(builder, sample->thread ? sample->thread : "",
				    &numbers.thread_comm)) < 0)
		return r;
	return builder_add_sample(builder, &numbers);
}

struct profile *otlp_profile_of(const struct otlp_sample *samples, size_t nr)
{
	_cleanup_(builder_freep) struct builder *builder = NULL;

	int r = builder_new(MAX_BYTES, &builder);
	for (size_t i = 0; r == 0 && i < nr; i++)
		r = add_sample(builder, &samples[i]);
	if (r < 0)
		return NULL;
	builder_set_time(builder, OTLP_SAMPLE_TIME_NS, DURATION_NS, PERIOD_NS);
	return builder_seal(take_ptr(builder));
}

#define BUILD_ID "8d2a1f0c9b7e6d5c4b3a29180706f5e4d3c2b1a0"

static const struct otlp_frame serving[] = {
	{ "vfs_read", "vfs_read", FRAME_KERNEL, NULL, NULL, 0xffffffff81a00010 },
	{ "libfoo.so+0x123", NULL, FRAME_NATIVE, "/usr/lib/libfoo.so", BUILD_ID, 0x123 },
	{ "libbar.so+0x456", NULL, FRAME_NATIVE, "/usr/lib/libbar.so", NULL, 0x456 },
	{ "http::serve(int)", "_ZN4http5serveEi", FRAME_NATIVE, "/usr/bin/web", BUILD_ID, 0x4a10 },
	{ "main", "main", FRAME_NATIVE, "/usr/bin/web", BUILD_ID, 0x1200 },
};
/* The same functions, elsewhere in them. */
static const struct otlp_frame serving_too[] = {
	{ "vfs_read", "vfs_read", FRAME_KERNEL, NULL, NULL, 0xffffffff81a00020 },
	{ "libfoo.so+0x123", NULL, FRAME_NATIVE, "/usr/lib/libfoo.so", BUILD_ID, 0x123 },
	{ "libbar.so+0x456", NULL, FRAME_NATIVE, "/usr/lib/libbar.so", NULL, 0x456 },
	{ "http::serve(int)", "_ZN4http5serveEi", FRAME_NATIVE, "/usr/bin/web", BUILD_ID, 0x4a30 },
	{ "main", "main", FRAME_NATIVE, "/usr/bin/web", BUILD_ID, 0x1208 },
};
static const struct otlp_frame stopped[] = {
	{ "work", "work", FRAME_NATIVE, "/usr/bin/db", NULL, 0x10 },
	{ "[no unwind data]", "[no unwind data]", FRAME_STOP, NULL, NULL, 3 },
};
static const struct otlp_frame foreign_bytes[] = {
	{ "caf\xe9\xff", "caf\xe9\xff", FRAME_NATIVE, NULL, NULL, 1 },
	{ "", NULL, FRAME_NATIVE, NULL, NULL, 2 },
};
static const struct otlp_frame swapping[] = {
	{ "kswapd", "kswapd", FRAME_KERNEL, NULL, NULL, 0xffffffff81300020 },
};

static const struct attribute web[] = {
	{ "service.name", "web" },
	{ "k8s.namespace.name", "shop" },
	{ "k8s.pod.name", "web-0" },
	{ "k8s.pod.name", "second value of a key" },
	{ "k8s.pod.label.note", "sm\xf8rrebr\xf8"
				"d" },
};
static const struct attribute db[] = { { "service.name", "db" } };

#define WEB web, array_len(web)
#define DB db, array_len(db)
#define HOST NULL, 0

static const struct otlp_sample samples[] = {
	{ WEB,
	  serving,
	  array_len(serving),
	  "web",
	  { .cgroup_id = 4711, .pid = 100, .tid = 100, .cpu = 0, .count = 7 } },
	{ WEB,
	  serving,
	  array_len(serving),
	  "web",
	  { .cgroup_id = 4711, .pid = 100, .tid = 101, .cpu = 0, .count = 5 } },
	{ WEB,
	  serving_too,
	  array_len(serving_too),
	  "web",
	  { .cgroup_id = 4711, .pid = 101, .tid = 102, .cpu = 0, .count = 4 } },
	{ WEB,
	  serving,
	  array_len(serving),
	  "web",
	  { .cgroup_id = 4711, .pid = 100, .tid = 100, .cpu = 3, .count = 2 } },
	{ WEB,
	  serving,
	  array_len(serving),
	  "logger\xfe",
	  { .cgroup_id = 4711, .pid = 100, .tid = 103, .cpu = 3, .count = 1 } },
	{ DB,
	  stopped,
	  array_len(stopped),
	  "db",
	  { .cgroup_id = UINT64_C(1) << 40, .pid = 200, .tid = 200, .cpu = 1, .count = 3 } },
	{ DB,
	  NULL,
	  0,
	  "db",
	  { .cgroup_id = UINT64_C(1) << 40, .pid = 200, .tid = 200, .cpu = 1, .count = 6 } },
	{ HOST,
	  swapping,
	  array_len(swapping),
	  "kswapd0",
	  { .pid = 50, .tid = 50, .cpu = 0, .count = 2 } },
	{ HOST,
	  foreign_bytes,
	  array_len(foreign_bytes),
	  NULL,
	  { .pid = 51, .tid = 51, .cpu = 127, .count = 9 } },
};

/* Deeper than is sent: f0 is the leaf. */
static void fill_deep_stack(struct otlp_frame *frames, char (*names)[8])
{
	for (size_t i = 0; i < NR_DEEP_FRAMES; i++) {
		snprintf(names[i], sizeof(names[i]), "f%zu", i);
		frames[i] = (struct otlp_frame){ names[i], names[i], FRAME_NATIVE, NULL, NULL, i };
	}
}

struct profile *otlp_sample_profile(void)
{
	static struct otlp_frame deep[NR_DEEP_FRAMES];
	static char names[NR_DEEP_FRAMES][8];
	struct otlp_sample all[array_len(samples) + 1];

	for (size_t i = 0; i < array_len(samples); i++)
		all[i] = samples[i];
	fill_deep_stack(deep, names);
	all[array_len(samples)] = (struct otlp_sample){
		DB,
		deep,
		NR_DEEP_FRAMES,
		"deep",
		{ .cgroup_id = UINT64_C(1) << 40, .pid = 201, .tid = 201, .cpu = 1, .count = 8 }
	};
	return otlp_profile_of(all, array_len(all));
}
