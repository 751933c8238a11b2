/* SPDX-License-Identifier: Apache-2.0 */
#include "sample_profile.h"

#include "profile/builder.h"

#include <stdbool.h>

#define MAX_BYTES (1 << 20)

/* 2026-11-20 15:22:33 UTC, 10 s at 100 Hz */
#define TIME_UNIX_NS 1795188153000000000
#define DURATION_NS 10000000000
#define PERIOD_NS 10000000

#define MAX_LINES 3

enum file {
	FILE_NONE,
	FILE_NGINX,
	FILE_POSTGRES,
	FILE_KERNEL,
	FILE_API,
	FILE_PARSER,
	FILE_RUNTIME,
	FILE_ANON,
	NR_FILES
};

static const struct {
	const char *name;
	const char *build_id;
	uint64_t limit;
} files[NR_FILES] = {
	[FILE_NGINX] = { "/usr/sbin/nginx", "8d2a1f0c9b7e6d5c4b3a29180706f5e4d3c2b1a0", 1290240 },
	[FILE_POSTGRES] = { "/usr/lib/postgresql/17/bin/postgres", "", 9437184 },
	[FILE_KERNEL] = { "[kernel.kallsyms]", "00112233445566778899aabbccddeeff00112233", 0 },
	[FILE_API] = { "/srv/api", "", 8388608 },
	[FILE_PARSER] = { "/srv/parser", "", 4194304 },
	[FILE_RUNTIME] = { "/usr/lib/libruntime.so", "", 2097152 },
	[FILE_ANON] = { "[anon]", "", 0 },
};

struct line {
	const char *name; /* NULL: none */
	const char *system_name;
	const char *source;
	uint32_t start_line;
	uint32_t line;
};

struct frame {
	enum file file;
	enum frame_kind kind;
	uint64_t address;
	struct line lines[MAX_LINES]; /* innermost first */
};

#define NAMED(name)                                                                                \
	{                                                                                          \
		{                                                                                  \
			name, name, "", 0, 0                                                       \
		}                                                                                  \
	}

/* Leaf first. */
static const struct frame serve_read[] = {
	{ FILE_KERNEL, FRAME_KERNEL, 0xffffffff81a00010, NAMED("vfs_read") },
	{ FILE_KERNEL, FRAME_KERNEL, 0xffffffff81000040, NAMED("do_syscall_64") },
	{ FILE_NGINX,
	  FRAME_NATIVE,
	  0x4a10,
	  { { "http::parse(char*)", "_ZN4http5parseEPc", "/src/http/parse.hh", 12, 15 },
	    { "http::serve(int)", "_ZN4http5serveEi", "http.cc", 30, 41 } } },
	{ FILE_NGINX, FRAME_NATIVE, 0x1200, { { "main", "main", "nginx.c", 0, 0 } } },
};
static const struct frame checkpoint[] = {
	{ FILE_NONE, FRAME_STOP, 3, NAMED("[stack truncated here]") },
	{ FILE_POSTGRES, FRAME_NATIVE, 0x1200, { { "main", "main", "main.c", 20, 0 } } },
};
static const struct frame swap[] = {
	{ FILE_KERNEL, FRAME_KERNEL, 0xffffffff81300020, NAMED("kswapd") },
	{ FILE_KERNEL, FRAME_KERNEL, 0xffffffff81100030, NAMED("kthread") },
};
static const struct frame go[] = {
	{ FILE_API,
	  FRAME_GO,
	  0x2040,
	  { { "json.encode", "json.encode", "/go/src/encoding/json/encode.go", 90, 95 },
	    { "main.reply", "main.reply", "/src/api/main.go", 60, 61 },
	    { "main.render", "main.render", "/src/api/main.go", 40, 41 } } },
	{ FILE_API,
	  FRAME_GO,
	  0x2100,
	  { { "main.handle", "main.handle", "/src/api/main.go", 30, 44 },
	    { "main.main", "main.main", "/src/api/main.go", 10, 12 } } },
};
static const struct frame rust[] = {
	{ FILE_PARSER,
	  FRAME_RUST,
	  0x3010,
	  { { "<alloc::vec::Vec<T>>::push", "push", "alloc/src/vec/mod.rs", 2000, 2010 },
	    { "parser::next", "next", "src/lib.rs", 70, 78 },
	    { "parser::run", "run", "src/lib.rs", 50, 55 } } },
};
static const struct frame java[] = {
	{ FILE_ANON, FRAME_JVM, 1, NAMED("Cart.total()") },
	{ FILE_RUNTIME, FRAME_NATIVE, 0x100, NAMED("JavaMain") },
};
static const struct frame node[] = {
	{ FILE_ANON, FRAME_V8JS, 2, { { "handler", "handler", "/srv/app.js", 3, 9 } } },
	{ FILE_RUNTIME, FRAME_NATIVE, 0x200, NAMED("node::Start") },
};
static const struct frame python[] = {
	{ FILE_ANON, FRAME_JIT, 3, NAMED("py::work") },
	{ FILE_RUNTIME, FRAME_NATIVE, 0x300, NAMED("Py_RunMain") },
};

static const struct attribute web[] = {
	{ "service.name", "web" },
	{ "k8s.namespace.name", "shop" },
	{ "k8s.pod.name", "web-0" },
	{ "k8s.pod.uid", "6f2c1b1e-1111-4222-8333-944445555666" },
	{ "k8s.container.name", "nginx" },
	{ "container.id", "1f2e3d4c5b6a79880102030405060708090a0b0c0d0e0f101112131415161718" },
	{ "k8s.pod.label.team", "till" },
	{ "flamelet.identity", "kubelet" },
};
static const struct attribute db[] = {
	{ "service.name", "db" },
	{ "k8s.namespace.name", "shop" },
	{ "k8s.pod.name", "db-0" },
	{ "k8s.pod.uid", "0a1b2c3d-1111-4222-8333-944445555666" },
	{ "k8s.container.name", "postgres" },
	{ "container.id", "ffeeddccbbaa99887766554433221100ffeeddccbbaa99887766554433221100" },
};

struct sample {
	const struct frame *frames;
	size_t nr_frames;
	const struct attribute *attributes;
	size_t nr_attributes;
	const char *process_comm;
	const char *thread_comm;
	struct profile_sample numbers;
};

#define HOST_SAMPLE(frames, comm, number, times)                                                   \
	{                                                                                          \
		frames, array_len(frames), NULL, 0, comm, comm,                                    \
		{                                                                                  \
			.cgroup_id = 1, .pid = (number), .tid = (number), .cpu = 0,                \
			.count = (times)                                                           \
		}                                                                                  \
	}

static const struct sample samples[] = {
	{ serve_read,
	  array_len(serve_read),
	  web,
	  array_len(web),
	  "nginx",
	  "nginx",
	  { .cgroup_id = 4711, .pid = 100, .tid = 100, .cpu = 0, .count = 7 } },
	{ serve_read,
	  array_len(serve_read),
	  web,
	  array_len(web),
	  "nginx",
	  "nginx",
	  { .cgroup_id = 4711, .pid = 100, .tid = 101, .cpu = 1, .count = 5 } },
	{ checkpoint,
	  array_len(checkpoint),
	  db,
	  array_len(db),
	  "postgres",
	  "checkpointer",
	  { .cgroup_id = 4712, .pid = 200, .tid = 202, .cpu = 1, .count = 3 } },
	{ swap,
	  array_len(swap),
	  NULL,
	  0,
	  "kswapd0",
	  "kswapd0",
	  { .cgroup_id = 1, .pid = 50, .tid = 50, .cpu = 0, .count = 2 } },
	HOST_SAMPLE(go, "api", 60, 10),
	HOST_SAMPLE(rust, "parser", 61, 8),
	HOST_SAMPLE(java, "java", 62, 6),
	HOST_SAMPLE(node, "node", 63, 5),
	HOST_SAMPLE(python, "python3", 64, 4),
};

static int add_file(struct builder *builder, enum file file, uint32_t *ret_id)
{
	struct profile_mapping mapping = { .limit = files[file].limit };
	int r;

	if (file == FILE_NONE) {
		*ret_id = 0;
		return 0;
	}
	if ((r = builder_add_string(builder, files[file].name, &mapping.filename)) < 0 ||
	    (r = builder_add_string(builder, files[file].build_id, &mapping.build_id)) < 0)
		return r;
	return builder_add_mapping(builder, &mapping, ret_id);
}

static int add_line(struct builder *builder, const struct line *line, struct profile_line *ret_line)
{
	struct profile_function function = { .start_line = line->start_line };
	int r;

	ret_line->line = line->line;
	if ((r = builder_add_string(builder, line->name, &function.name)) < 0 ||
	    (r = builder_add_string(builder, line->system_name, &function.system_name)) < 0 ||
	    (r = builder_add_string(builder, line->source, &function.filename)) < 0)
		return r;
	return builder_add_function(builder, &function, &ret_line->function);
}

static int set_lines(struct builder *builder, const struct frame *frame, uint32_t location)
{
	struct profile_line lines[MAX_LINES];
	size_t nr = 0;
	int r = 0;

	for (; r == 0 && nr < MAX_LINES && frame->lines[nr].name; nr++)
		r = add_line(builder, &frame->lines[nr], &lines[nr]);
	return r < 0 ? r : builder_set_lines(builder, location, frame->kind, lines, nr);
}

/* As the agent does: first the place, then what it is. */
static int add_frame(struct builder *builder, const uint32_t *mappings, const struct frame *frame,
		     uint32_t *ret_id)
{
	bool is_user = frame->kind != FRAME_KERNEL && frame->kind != FRAME_STOP;
	const struct profile_location location = {
		.mapping = mappings[frame->file],
		.address = frame->address,
		.kind = is_user ? FRAME_NATIVE : frame->kind,
	};

	int r = builder_add_location(builder, &location, ret_id);
	if (r < 0 || builder_peek(builder)->locations[*ret_id].nr_lines > 0)
		return r;
	return set_lines(builder, frame, *ret_id);
}

static int add_sample(struct builder *builder, const uint32_t *mappings,
		      const struct sample *sample)
{
	struct profile_sample numbers = sample->numbers;
	uint32_t locations[8];
	int r = 0;

	for (size_t i = 0; r == 0 && i < sample->nr_frames; i++)
		r = add_frame(builder, mappings, &sample->frames[i], &locations[i]);
	if (r < 0 ||
	    (r = builder_add_stack(builder, locations, sample->nr_frames, &numbers.stack)) < 0 ||
	    (r = builder_add_resource(builder, sample->attributes, sample->nr_attributes,
				      &numbers.resource)) < 0 ||
	    (r = builder_add_string(builder, sample->process_comm, &numbers.process_comm)) < 0 ||
	    (r = builder_add_string(builder, sample->thread_comm, &numbers.thread_comm)) < 0)
		return r;
	return builder_add_sample(builder, &numbers);
}

struct profile *sample_profile(void)
{
	_cleanup_(builder_freep) struct builder *builder = NULL;
	uint32_t mappings[NR_FILES];

	int r = builder_new(MAX_BYTES, &builder);
	for (unsigned int file = 0; r == 0 && file < NR_FILES; file++)
		r = add_file(builder, (enum file)file, &mappings[file]);
	for (size_t i = 0; r == 0 && i < array_len(samples); i++)
		r = add_sample(builder, mappings, &samples[i]);
	if (r < 0)
		return NULL;
	builder_set_time(builder, TIME_UNIX_NS, DURATION_NS, PERIOD_NS);
	return builder_seal(take_ptr(builder));
}
