/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/oracle/formats/otlp_sample.h"

#include <stdlib.h>

#define MAX_BYTES (64u << 20)
#define DURATION_NS UINT64_C(10000000000)
#define PERIOD_NS UINT64_C(10000000)
#define FILE_BYTES 65536
#define NR_DEEP_FRAMES 1500
#define MAX_LINES 8

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

static int add_name(struct builder *builder, const struct otlp_frame *frame,
		    struct profile_line *ret_line)
{
	struct profile_function function = { 0 };
	int r;

	ret_line->line = 0;
	if ((r = builder_add_string(builder, frame->name, &function.name)) < 0 ||
	    (r = builder_add_string(builder, frame->system_name ? frame->system_name : "",
				    &function.system_name)) < 0)
		return r;
	return builder_add_function(builder, &function, &ret_line->function);
}

static int add_line(struct builder *builder, const struct otlp_line *line,
		    struct profile_line *ret_line)
{
	struct profile_function function = { .start_line = line->start_line };
	int r;

	ret_line->line = line->line;
	if ((r = builder_add_string(builder, line->name, &function.name)) < 0 ||
	    (r = builder_add_string(builder, line->source, &function.filename)) < 0)
		return r;
	function.system_name = function.name;
	return builder_add_function(builder, &function, &ret_line->function);
}

static int add_frame(struct builder *builder, const struct otlp_frame *frame, uint32_t *ret_id)
{
	struct profile_location location = { .address = frame->address, .kind = frame->kind };
	struct profile_line lines[MAX_LINES];
	size_t nr = 0;

	int r = add_mapping(builder, frame, &location.mapping);
	if (r == 0 && !frame->lines)
		r = add_name(builder, frame, &lines[nr++]);
	for (; r == 0 && frame->lines && frame->lines[nr].name; nr++)
		r = add_line(builder, &frame->lines[nr], &lines[nr]);
	return r < 0 ? r : builder_add_named_location(builder, &location, lines, nr, ret_id);
}

static int add_stack(struct builder *builder, const struct otlp_sample *sample, uint32_t *ret_id)
{
	_cleanup_free_ uint32_t *locations = calloc(sample->nr_frames + 1, sizeof(*locations));
	int r = locations ? 0 : -ENOMEM;

	for (size_t i = 0; r == 0 && i < sample->nr_frames; i++)
		r = add_frame(builder, &sample->frames[i], &locations[i]);
	return r < 0 ? r : builder_add_stack(builder, locations, sample->nr_frames, ret_id);
}

static int add_process(struct builder *builder, const struct otlp_process *process,
		       uint32_t *ret_id)
{
	int r;

	*ret_id = 0;
	if (!process)
		return 0;
	struct profile_process row = {
		.pid = process->pid,
		.start_ns = process->start_ns,
		.seen_ns = process->seen_ns,
	};
	if ((r = builder_add_string(builder, process->path ? process->path : "", &row.path)) < 0 ||
	    (r = builder_add_string(builder, process->name, &row.name)) < 0)
		return r;
	return builder_add_process(builder, &row, ret_id);
}

static int add_sample(struct builder *builder, const struct otlp_sample *sample)
{
	struct profile_sample numbers = sample->numbers;
	int r;

	if ((r = add_stack(builder, sample, &numbers.stack)) < 0 ||
	    (r = builder_add_resource(builder, sample->attributes, sample->nr_attributes,
				      &numbers.resource)) < 0 ||
	    (r = builder_add_string(builder, sample->thread ? sample->thread : "",
				    &numbers.thread_comm)) < 0 ||
	    (r = builder_add_string(builder, sample->comm ? sample->comm : "",
				    &numbers.process_comm)) < 0 ||
	    (r = add_process(builder, sample->process, &numbers.process)) < 0)
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

/* Lists the samples that have a count, group by group, as a job must have them. Returns how
 * many. */
static size_t sort_samples(const struct profile *profile,
			   const struct export_attributes *attributes, uint32_t *samples)
{
	size_t nr = 0;

	for (uint32_t group = 0; group < attributes->nr_groups; group++)
		for (uint32_t i = 0; i < profile->nr_samples; i++)
			if (attributes->samples[i].group == group && profile->samples[i].count > 0)
				samples[nr++] = i;
	return nr;
}

int otlp_job_init(struct otlp_job *job, const struct profile *profile,
		  const struct attribute_opts *opts)
{
	*job = (struct otlp_job){
		.job = {
			.profile = profile,
			.drops_addresses = opts->preset == ATTRIBUTES_PYROSCOPE,
		},
		.samples = calloc(profile->nr_samples + 1, sizeof(*job->samples)),
	};
	if (!job->samples)
		return -ENOMEM;
	int r = attribute_maker_new(opts, &job->maker);
	if (r == 0)
		r = attribute_maker_make(job->maker, profile, 0, &job->attributes);
	if (r == 0)
		job->job.nr_samples = sort_samples(profile, &job->attributes, job->samples);
	job->job.attributes = &job->attributes;
	job->job.samples = job->samples;
	return r;
}

void otlp_job_done(struct otlp_job *job)
{
	export_attributes_done(&job->attributes);
	attribute_maker_free(job->maker);
	free(job->samples);
}

int otlp_encode_profile(const struct profile *profile, struct strbuf *out)
{
	_cleanup_(otlp_job_done) struct otlp_job job = { 0 };
	struct encode_result result;

	int r = otlp_job_init(&job, profile, OTLP_STANDARD);
	return r < 0 ? r : otlp_encode(&job.job, out, &result);
}

#define BUILD_ID "8d2a1f0c9b7e6d5c4b3a29180706f5e4d3c2b1a0"

static const struct otlp_frame serving[] = {
	{ "vfs_read", "vfs_read", FRAME_KERNEL, NULL, NULL, 0xffffffff81a00010, NULL },
	{ "libfoo.so+0x123", NULL, FRAME_NATIVE, "/usr/lib/libfoo.so", BUILD_ID, 0x123, NULL },
	{ "libbar.so+0x456", NULL, FRAME_NATIVE, "/usr/lib/libbar.so", NULL, 0x456, NULL },
	{ "http::serve(int)", "_ZN4http5serveEi", FRAME_NATIVE, "/usr/bin/web", BUILD_ID, 0x4a10,
	  NULL },
	{ "main", "main", FRAME_NATIVE, "/usr/bin/web", BUILD_ID, 0x1200, NULL },
};
/* The same functions, elsewhere in them. */
static const struct otlp_frame serving_too[] = {
	{ "vfs_read", "vfs_read", FRAME_KERNEL, NULL, NULL, 0xffffffff81a00020, NULL },
	{ "libfoo.so+0x123", NULL, FRAME_NATIVE, "/usr/lib/libfoo.so", BUILD_ID, 0x123, NULL },
	{ "libbar.so+0x456", NULL, FRAME_NATIVE, "/usr/lib/libbar.so", NULL, 0x456, NULL },
	{ "http::serve(int)", "_ZN4http5serveEi", FRAME_NATIVE, "/usr/bin/web", BUILD_ID, 0x4a30,
	  NULL },
	{ "main", "main", FRAME_NATIVE, "/usr/bin/web", BUILD_ID, 0x1208, NULL },
};
static const struct otlp_frame stopped[] = {
	{ "work", "work", FRAME_NATIVE, "/usr/bin/db", NULL, 0x10, NULL },
	{ "[no unwind data]", "[no unwind data]", FRAME_STOP, NULL, NULL, 3, NULL },
};
static const struct otlp_frame foreign_bytes[] = {
	{ "caf\xe9\xff", "caf\xe9\xff", FRAME_NATIVE, NULL, NULL, 1, NULL },
	{ "", NULL, FRAME_NATIVE, NULL, NULL, 2, NULL },
};
static const struct otlp_frame swapping[] = {
	{ "kswapd", "kswapd", FRAME_KERNEL, NULL, NULL, 0xffffffff81300020, NULL },
};

/* A name that was inlined at two lines of one function, and code that was made at run time. */
static const struct otlp_line encode_at_41[] = {
	{ "json.encode", "/go/json/encode.go", 90, 95 },
	{ "main.reply", "/src/web.go", 60, 0 },
	{ "main.handle", "/src/web.go", 30, 41 },
	{ 0 },
};
static const struct otlp_line encode_at_43[] = {
	{ "json.encode", "/go/json/encode.go", 90, 95 },
	{ "main.handle", "/src/web.go", 30, 43 },
	{ 0 },
};
static const struct otlp_line unknown_name[] = {
	{ "", "", 0, 7 },
	{ "poll", "poll.rs", 0, 8 },
	{ 0 },
};
static const struct otlp_frame inlined[] = {
	{ NULL, NULL, FRAME_GO, "/usr/bin/web", BUILD_ID, 0x10, encode_at_41 },
	{ NULL, NULL, FRAME_GO, "/usr/bin/web", BUILD_ID, 0x20, encode_at_43 },
	{ NULL, NULL, FRAME_RUST, "/usr/bin/web", BUILD_ID, 0x30, unknown_name },
	{ "Cart.total()", "Cart.total()", FRAME_JVM, NULL, NULL, 0x40, NULL },
	{ "handler app.js", "handler app.js", FRAME_V8JS, NULL, NULL, 0x50, NULL },
	{ "py::work", "py::work", FRAME_JIT, NULL, NULL, 0x60, NULL },
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

static const struct otlp_process server = { "/usr/bin/web", "web", 100, 0, 0 };
static const struct otlp_process worker = { "/usr/bin/web", "web", 101, 0, 0 };

static const struct otlp_sample samples[] = {
	{ WEB, serving, array_len(serving), "web",
	  .numbers = { .cgroup_id = 4711, .pid = 100, .tid = 100, .cpu = 0, .count = 7 },
	  .process = &server },
	{ WEB, serving, array_len(serving), "web",
	  .numbers = { .cgroup_id = 4711, .pid = 100, .tid = 101, .cpu = 0, .count = 5 },
	  .process = &server },
	{ WEB, serving_too, array_len(serving_too), "web",
	  .numbers = { .cgroup_id = 4711, .pid = 101, .tid = 102, .cpu = 0, .count = 4 },
	  .process = &worker },
	{ WEB, serving, array_len(serving), "web",
	  .numbers = { .cgroup_id = 4711, .pid = 100, .tid = 100, .cpu = 3, .count = 2 },
	  .process = &server },
	{ WEB, serving, array_len(serving), "logger\xfe",
	  .numbers = { .cgroup_id = 4711, .pid = 100, .tid = 103, .cpu = 3, .count = 1 },
	  .process = &server },
	{ DB, stopped, array_len(stopped), "db",
	  .numbers = { .cgroup_id = UINT64_C(1) << 40,
		       .pid = 200,
		       .tid = 200,
		       .cpu = 1,
		       .count = 3 } },
	{ DB, NULL, 0, "db",
	  .numbers = { .cgroup_id = UINT64_C(1) << 40,
		       .pid = 200,
		       .tid = 200,
		       .cpu = 1,
		       .count = 6 } },
	{ HOST, swapping, array_len(swapping), "kswapd0",
	  .numbers = { .pid = 50, .tid = 50, .cpu = 0, .count = 2 } },
	{ HOST, foreign_bytes, array_len(foreign_bytes), NULL,
	  .numbers = { .pid = 51, .tid = 51, .cpu = 127, .count = 9 } },
	{ HOST, inlined, array_len(inlined), "mixed",
	  .numbers = { .pid = 52, .tid = 52, .cpu = 0, .count = 10 } },
};

/* Deeper than is sent: f0 is the leaf. */
static void fill_deep_stack(struct otlp_frame *frames, char (*names)[8])
{
	for (size_t i = 0; i < NR_DEEP_FRAMES; i++) {
		snprintf(names[i], sizeof(names[i]), "f%zu", i);
		frames[i] = (struct otlp_frame){ names[i], names[i], FRAME_NATIVE, NULL,
						 NULL,	   i,	     NULL };
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
	all[array_len(samples)] = (struct otlp_sample){ DB, deep, NR_DEEP_FRAMES, "deep",
							.numbers = { .cgroup_id = UINT64_C(1) << 40,
								     .pid = 201,
								     .tid = 201,
								     .cpu = 1,
								     .count = 8 } };
	return otlp_profile_of(all, array_len(all));
}
