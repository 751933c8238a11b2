/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a profile whose tree has about NODES nodes, the same in each run, to standard output.
 *
 *	viewer_profile NODES FORMAT
 *
 * Stacks are random walks through functions: each function prefers few of those that it calls, so
 * that the tree has wide boxes, and a long tail of boxes with single samples, like recordings of a
 * whole node. */
#include "base/cleanup.h"
#include "base/fileio.h"
#include "base/parse.h"
#include "profile/builder.h"
#include "profile/output.h"

#include <stdio.h>
#include <stdlib.h>

#define MAX_BYTES ((size_t)1 << 30)
#define NR_FUNCTIONS 14000
#define NR_PROCESSES 40
#define DEPTH_MIN 12
#define DEPTH_MAX 60
#define CALLEES_MAX 12
#define PERIOD_NS 10000000
#define DURATION_NS 60000000000
#define SLOTS ((size_t)1 << 20)

static const char *const spaces[] = { "net", "json", "storage", "std", "http2", "cache", "auth" };
static const char *const classes[] = { "Parser",    "Connection", "Pool<std::string>",	    "Index",
				       "Scheduler", "Buffer",	  "LruMap<uint64_t, Entry>" };
static const char *const methods[] = {
	"handle", "read_some", "insert_or_assign", "commit",
	"flush",  "lookup",    "encode_field",	   "wait_for_completion"
};

/* A walk, and the set of the nodes that walks have been to. */
struct walks {
	struct builder *builder;
	uint64_t random;
	uint64_t *slots;
	size_t nr_nodes;
};

/* SplitMix64. */
static uint64_t mix(uint64_t value)
{
	value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
	value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
	return value ^ (value >> 31);
}

static uint32_t random_below(struct walks *walks, uint32_t limit)
{
	walks->random += 0x9e3779b97f4a7c15;
	return (uint32_t)((mix(walks->random) >> 32) * limit >> 32);
}

static void visit(struct walks *walks, uint64_t node)
{
	size_t slot = node % SLOTS;

	while (walks->slots[slot] && walks->slots[slot] != node)
		slot = (slot + 1) % SLOTS;
	walks->nr_nodes += walks->slots[slot] == 0;
	walks->slots[slot] = node;
}

static int add_function(struct builder *builder, uint32_t nth, uint32_t *ret_location)
{
	const struct profile_location location = { .address = 1 + nth,
						   .kind = nth % 9 ? FRAME_NATIVE : FRAME_KERNEL };
	uint64_t hash = mix(nth);
	struct profile_function function = { 0 };
	struct profile_line line = { 0 };
	char name[160];

	snprintf(name, sizeof(name), "%s::%s::%s_%u", spaces[hash % array_len(spaces)],
		 classes[(hash >> 8) % array_len(classes)],
		 methods[(hash >> 16) % array_len(methods)], nth);
	int r = builder_add_string(builder, name, &function.name);
	if (r == 0)
		r = builder_add_function(builder, &function, &line.function);
	return r < 0 ? r : builder_add_named_location(builder, &location, &line, 1, ret_location);
}

/* The callee that comes next: the first ones are the most frequent. */
static uint32_t step(struct walks *walks, uint32_t function)
{
	uint32_t nth = 0;

	while (nth < CALLEES_MAX - 1 && random_below(walks, 100) < 3)
		nth++;
	return (uint32_t)(mix(((uint64_t)function << 8) + nth) % NR_FUNCTIONS);
}

static int add_walk(struct walks *walks)
{
	uint32_t leaf_first[DEPTH_MAX], process = random_below(walks, NR_PROCESSES);
	uint32_t depth = DEPTH_MIN + random_below(walks, DEPTH_MAX - DEPTH_MIN + 1);
	uint32_t function = process % 8;
	uint64_t node = mix(process + 1);
	struct profile_sample sample = { .pid = process + 1, .tid = process + 1, .count = 1 };
	char name[32];
	int r = 0;

	snprintf(name, sizeof(name), "worker-%u", process);
	visit(walks, node);
	for (uint32_t i = 0; i < depth && r == 0; i++) {
		function = step(walks, function);
		node = mix(node * 31 + function + 1);
		visit(walks, node);
		r = add_function(walks->builder, function, &leaf_first[depth - 1 - i]);
	}
	if (r == 0)
		r = builder_add_string(walks->builder, name, &sample.process_comm);
	if (r == 0)
		r = builder_add_stack(walks->builder, leaf_first, depth, &sample.stack);
	return r < 0 ? r : builder_add_sample(walks->builder, &sample);
}

static int make_profile(uint32_t nr_nodes, struct profile **ret_profile)
{
	struct walks walks = { .slots = calloc(SLOTS, sizeof(*walks.slots)) };

	int r = walks.slots ? builder_new(MAX_BYTES, &walks.builder) : -ENOMEM;
	while (r == 0 && walks.nr_nodes < nr_nodes)
		r = add_walk(&walks);
	free(walks.slots);
	if (r < 0) {
		builder_free(walks.builder);
		return r;
	}
	builder_set_time(walks.builder, 0, DURATION_NS, PERIOD_NS);
	*ret_profile = builder_seal(walks.builder);
	return 0;
}

static int write_profile(uint32_t nr_nodes, enum output_format format)
{
	const struct caption caption = { .subject = "walks", .title = "walks", .subtitle = "" };
	_cleanup_(profile_unrefp) struct profile *profile = NULL;
	_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(MAX_BYTES);

	int r = make_profile(nr_nodes, &profile);
	if (r < 0)
		return r;
	const struct output_content content = output_content_of(profile);
	r = output_encode(&content, format, &caption, &out);
	return r < 0 ? r : fd_write_all(STDOUT_FILENO, out.data, out.len);
}

int main(int argc, char **argv)
{
	enum output_format format;
	uint32_t nr_nodes = 0;

	if (argc != 3 || parse_u32(argv[1], &nr_nodes) < 0 || nr_nodes > SLOTS / 2 ||
	    output_format_of("-", argv[2], &format) < 0) {
		fprintf(stderr, "usage: viewer_profile NODES FORMAT\n");
		return 2;
	}
	return write_profile(nr_nodes, format) < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
