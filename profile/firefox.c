/* SPDX-License-Identifier: Apache-2.0 */
/* The format is described by docs-developer/CHANGELOG-formats.md and src/types/profile.ts of
 * https://github.com/firefox-devtools/profiler. Its tables are columns of the same length, which
 * refer to each other by index:
 *
 *	thread.samples ─▶ stackTable ─▶ frameTable ─▶ funcTable ─▶ resourceTable, sources
 *
 * A frame and a function are one of our frame rows each. */
#include "profile/firefox.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/json_text.h"
#include "profile/split.h"
#include "profile/used_rows.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define NO_PREFIX UINT32_MAX

/* The first one is what the viewer falls back to; it must be grey. */
static const struct category {
	const char *name, *color;
} categories[] = {
	{ "Other", "grey" },	   { "User", "yellow" }, { "Kernel", "orange" },
	{ "Go", "lightblue" },	   { "Rust", "red" },	 { "JVM", "magenta" },
	{ "JavaScript", "green" }, { "Python", "blue" }, { "JIT", "brown" },
	{ "Label", "purple" },
};

static const unsigned int category_of[] = {
	[FRAME_NATIVE] = 1, [FRAME_KERNEL] = 2, [FRAME_STOP] = 0, [FRAME_GO] = 3,
	[FRAME_RUST] = 4,   [FRAME_JVM] = 5,	[FRAME_V8JS] = 6, [FRAME_CPYTHON] = 7,
	[FRAME_JIT] = 8,    [FRAME_LABEL] = 9,
};

/* A node of the tree of stacks. */
struct node {
	uint32_t prefix; /* its parent, or NO_PREFIX */
	uint32_t row;
};

struct firefox {
	const struct profile *profile; /* borrowed */
	const struct caption *caption; /* borrowed */
	struct strbuf *out; /* borrowed */
	struct frame_rows rows;
	struct split split;
	struct node *nodes; /* owned; parents before their children */
	size_t nr_nodes, cap_nodes;
	struct htable index; /* of nodes */
	uint32_t *leaves; /* owned; the node of each stack of the split, or NO_PREFIX */
	/* Strings of the profile; ids begin with 1, indices with 0. */
	struct used_rows strings, modules, sources;
};

static void firefox_done(struct firefox *firefox)
{
	frame_rows_done(&firefox->rows);
	split_done(&firefox->split);
	free(firefox->nodes);
	free(firefox->leaves);
	htable_done(&firefox->index);
	used_rows_done(&firefox->strings);
	used_rows_done(&firefox->modules);
	used_rows_done(&firefox->sources);
}

static int descend(struct firefox *firefox, uint32_t row, uint32_t *node)
{
	const uint32_t key[] = { *node, row };
	uint32_t hash = hash_bytes(key, sizeof(key));

	struct htable_iter it = htable_lookup(&firefox->index, hash);
	for (uint32_t i; htable_next(&it, &i);) {
		if (firefox->nodes[i].prefix == *node && firefox->nodes[i].row == row) {
			*node = i;
			return 0;
		}
	}
	int r = array_grow(firefox->nodes, firefox->cap_nodes, firefox->nr_nodes + 1, NO_PREFIX);
	if (r == 0)
		r = htable_add(&firefox->index, hash, (uint32_t)firefox->nr_nodes);
	if (r < 0)
		return r;
	firefox->nodes[firefox->nr_nodes] = (struct node){ *node, row };
	*node = (uint32_t)firefox->nr_nodes++;
	return 0;
}

static int make_tree(struct firefox *firefox)
{
	const struct stack_sums *sums = &firefox->split.sums;
	int r = 0;

	firefox->leaves = calloc(sums->nr + 1, sizeof(*firefox->leaves));
	if (!firefox->leaves)
		return -ENOMEM;
	for (size_t i = 0; r == 0 && i < sums->nr; i++) {
		struct stack_walk walk = stack_walk_of(&firefox->rows, &sums->items[i]);
		uint32_t node = NO_PREFIX;

		while (r == 0 && stack_walk_next(&walk))
			r = descend(firefox, walk.row, &node);
		firefox->leaves[i] = node;
	}
	return r;
}

static int firefox_init(struct firefox *firefox)
{
	const struct profile *p = firefox->profile;
	int r;

	if ((r = frame_rows_init(&firefox->rows, p)) < 0 ||
	    (r = split_init(&firefox->split, &firefox->rows, true)) < 0 ||
	    (r = used_rows_init(&firefox->strings, p->strings.nr_strings)) < 0 ||
	    (r = used_rows_init(&firefox->modules, p->strings.nr_strings)) < 0 ||
	    (r = used_rows_init(&firefox->sources, p->strings.nr_strings)) < 0)
		return r;
	return make_tree(firefox);
}

/* Writing. */

/* Begins a column, which follows others. */
static void begin(struct strbuf *out, const char *name)
{
	strbuf_appendf(out, ",\n\"%s\":[", name);
}

static void put_number(struct strbuf *out, size_t index, uint64_t number)
{
	strbuf_appendf(out, "%s%" PRIu64, index > 0 ? "," : "", number);
}

static void put_word(struct strbuf *out, size_t index, const char *word)
{
	if (index > 0)
		strbuf_append_char(out, ',');
	strbuf_append_str(out, word);
}

/* Writes a column whose rows are all the same. */
static void put_same(struct strbuf *out, const char *name, const char *word, size_t nr)
{
	begin(out, name);
	for (size_t i = 0; i < nr; i++)
		put_word(out, i, word);
	strbuf_append_char(out, ']');
}

static void begin_table(struct strbuf *out, const char *name, size_t nr)
{
	strbuf_appendf(out, ",\n\"%s\":{\"length\":%zu", name, nr);
}

static void put_stack_table(struct firefox *firefox)
{
	struct strbuf *out = firefox->out;

	strbuf_appendf(out, "\"stackTable\":{\"length\":%zu", firefox->nr_nodes);
	begin(out, "frame");
	for (size_t i = 0; i < firefox->nr_nodes; i++)
		put_number(out, i, firefox->nodes[i].row);
	strbuf_append_char(out, ']');
	begin(out, "prefix");
	for (size_t i = 0; i < firefox->nr_nodes; i++) {
		if (firefox->nodes[i].prefix == NO_PREFIX)
			put_word(out, i, "null");
		else
			put_number(out, i, firefox->nodes[i].prefix);
	}
	strbuf_append_str(out, "]}");
}

static void put_frame_table(struct firefox *firefox)
{
	size_t nr = firefox->rows.nr_rows;
	struct strbuf *out = firefox->out;

	begin_table(out, "frameTable", nr);
	put_same(out, "address", "-1", nr);
	put_same(out, "inlineDepth", "0", nr);
	begin(out, "category");
	for (size_t i = 0; i < nr; i++)
		put_number(out, i, category_of[firefox->rows.rows[i].kind]);
	strbuf_append_char(out, ']');
	put_same(out, "subcategory", "0", nr);
	begin(out, "func");
	for (size_t i = 0; i < nr; i++)
		put_number(out, i, i);
	strbuf_append_char(out, ']');
	put_same(out, "nativeSymbol", "null", nr);
	put_same(out, "innerWindowID", "0", nr);
	put_same(out, "line", "null", nr);
	put_same(out, "column", "null", nr);
	strbuf_append_char(out, '}');
}

/* Writes the names of functions: a string that may be the empty one, which stands for none. */
static void put_names(struct firefox *firefox)
{
	begin(firefox->out, "name");
	for (size_t i = 0; i < firefox->rows.nr_rows; i++)
		put_number(firefox->out, i,
			   used_rows_use(&firefox->strings, firefox->rows.rows[i].name) - 1);
	strbuf_append_char(firefox->out, ']');
}

static void put_resources(struct firefox *firefox)
{
	begin(firefox->out, "resource");
	for (size_t i = 0; i < firefox->rows.nr_rows; i++) {
		uint32_t module = firefox->rows.rows[i].module;

		if (module)
			put_number(firefox->out, i, used_rows_use(&firefox->modules, module) - 1);
		else
			put_word(firefox->out, i, "-1");
	}
	strbuf_append_char(firefox->out, ']');
}

static void put_sources(struct firefox *firefox)
{
	begin(firefox->out, "source");
	for (size_t i = 0; i < firefox->rows.nr_rows; i++) {
		uint32_t source = firefox->rows.rows[i].source;

		if (source)
			put_number(firefox->out, i, used_rows_use(&firefox->sources, source) - 1);
		else
			put_word(firefox->out, i, "null");
	}
	strbuf_append_char(firefox->out, ']');
}

static void put_lines(struct firefox *firefox)
{
	begin(firefox->out, "lineNumber");
	for (size_t i = 0; i < firefox->rows.nr_rows; i++) {
		uint32_t line = firefox->rows.rows[i].start_line;

		if (line)
			put_number(firefox->out, i, line);
		else
			put_word(firefox->out, i, "null");
	}
	strbuf_append_char(firefox->out, ']');
}

static void put_func_table(struct firefox *firefox)
{
	size_t nr = firefox->rows.nr_rows;
	struct strbuf *out = firefox->out;

	begin_table(out, "funcTable", nr);
	put_names(firefox);
	begin(out, "isJS");
	for (size_t i = 0; i < nr; i++)
		put_word(out, i, firefox->rows.rows[i].kind == FRAME_V8JS ? "true" : "false");
	strbuf_append_char(out, ']');
	put_same(out, "relevantForJS", "false", nr);
	put_resources(firefox);
	put_sources(firefox);
	put_lines(firefox);
	put_same(out, "columnNumber", "null", nr);
	strbuf_append_char(out, '}');
}

/* Files of code. The viewer shows their names before those of functions. They stand behind all
 * other strings. */
static void put_resource_table(struct firefox *firefox)
{
	const struct used_rows *modules = &firefox->modules;
	struct strbuf *out = firefox->out;

	begin_table(out, "resourceTable", modules->nr);
	begin(out, "lib");
	for (size_t i = 0; i < modules->nr; i++)
		put_number(out, i, i);
	strbuf_append_char(out, ']');
	begin(out, "name");
	for (size_t i = 0; i < modules->nr; i++)
		put_number(out, i, firefox->strings.nr + i);
	strbuf_append_char(out, ']');
	put_same(out, "host", "null", modules->nr);
	put_same(out, "type", "1", modules->nr); /* a library */
	strbuf_append_char(out, '}');
}

static void put_source_table(struct firefox *firefox)
{
	const struct used_rows *sources = &firefox->sources;
	struct strbuf *out = firefox->out;

	begin_table(out, "sources", sources->nr);
	put_same(out, "uuid", "null", sources->nr);
	begin(out, "filename");
	for (size_t i = 0; i < sources->nr; i++)
		put_number(out, i, used_rows_use(&firefox->strings, sources->elements[i]) - 1);
	strbuf_append_str(out, "]}");
}

/* Returns the last part of a module's path. */
static const char *module_name(const struct firefox *firefox, size_t module)
{
	const char *path = profile_string(firefox->profile, firefox->modules.elements[module]);
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

static void put_strings(struct firefox *firefox)
{
	const struct used_rows *strings = &firefox->strings;

	begin(firefox->out, "stringArray");
	for (size_t i = 0; i < strings->nr; i++) {
		const char *text = profile_string(firefox->profile, strings->elements[i]);

		put_word(firefox->out, i, "");
		json_append_text(firefox->out, *text ? text : "[unnamed]");
	}
	for (size_t i = 0; i < firefox->modules.nr; i++) {
		put_word(firefox->out, strings->nr + i, "");
		json_append_text(firefox->out, module_name(firefox, i));
	}
	strbuf_append_char(firefox->out, ']');
}

/* The strings come last, as the other tables tell which ones are used. */
static void put_shared(struct firefox *firefox)
{
	strbuf_append_str(firefox->out, ",\n\"shared\":{");
	put_stack_table(firefox);
	put_frame_table(firefox);
	put_func_table(firefox);
	put_source_table(firefox);
	put_resource_table(firefox);
	strbuf_append_str(firefox->out, ",\n\"nativeSymbols\":{\"length\":0,\"libIndex\":[],"
					"\"address\":[],\"name\":[],\"functionSize\":[]}");
	put_strings(firefox);
	strbuf_append_char(firefox->out, '}');
}

/* The shared tables tell which files there are. */
static void put_libs(struct firefox *firefox)
{
	struct strbuf *out = firefox->out;

	strbuf_append_str(out, ",\n\"libs\":[");
	for (size_t i = 0; i < firefox->modules.nr; i++) {
		const char *path = profile_string(firefox->profile, firefox->modules.elements[i]);

		strbuf_append_str(out, i > 0 ? ",\n{\"arch\":\"\"," : "{\"arch\":\"\",");
		json_append_member(out, "name", module_name(firefox, i));
		strbuf_append_char(out, ',');
		json_append_member(out, "path", path);
		strbuf_append_char(out, ',');
		json_append_member(out, "debugName", module_name(firefox, i));
		strbuf_append_char(out, ',');
		json_append_member(out, "debugPath", path);
		strbuf_append_str(out, ",\"breakpadId\":\"\",\"codeId\":null}");
	}
	strbuf_append_char(out, ']');
}

/* Writes nanoseconds as milliseconds. */
static void put_ms(struct strbuf *out, uint64_t time_ns)
{
	strbuf_appendf(out, "%" PRIu64 ".%06" PRIu64, time_ns / NSEC_PER_MSEC,
		       time_ns % NSEC_PER_MSEC);
}

static bool has_cpu_time(const struct profile *profile)
{
	return profile->type == PROFILE_CPU && profile->period > 0;
}

/* Writes a value: of CPU time in milliseconds, else as it is. */
static void put_weight(const struct firefox *firefox, size_t index, uint64_t count)
{
	if (index > 0)
		strbuf_append_char(firefox->out, ',');
	if (has_cpu_time(firefox->profile))
		put_ms(firefox->out, count * firefox->profile->period);
	else
		strbuf_appendf(firefox->out, "%" PRIu64, count);
}

static const char *weight_type(const struct profile *profile)
{
	bool is_bytes = strcmp(profile_type_names(profile->type)->sample_unit, "bytes") == 0;

	if (has_cpu_time(profile))
		return "tracing-ms";
	return is_bytes ? "bytes" : "samples";
}

/* Writes how much CPU time was used since the sample before, in nanoseconds: all of the time. */
static void put_cpu_deltas(const struct firefox *firefox, const struct split_part *part)
{
	const struct stack_sum *sums = firefox->split.sums.items + part->first;

	begin(firefox->out, "threadCPUDelta");
	for (size_t i = 0; i < part->nr; i++)
		put_number(firefox->out, i,
			   i > 0 ? sums[i - 1].count * firefox->profile->period : 0);
	strbuf_append_char(firefox->out, ']');
}

static void put_samples(const struct firefox *firefox, const struct split_part *part)
{
	const struct stack_sum *sums = firefox->split.sums.items + part->first;
	struct strbuf *out = firefox->out;
	uint64_t before = 0;

	strbuf_appendf(out, "\"samples\":{\"length\":%zu,\"weightType\":\"%s\"", part->nr,
		       weight_type(firefox->profile));
	begin(out, "stack");
	for (size_t i = 0; i < part->nr; i++) {
		uint32_t leaf = firefox->leaves[part->first + i];

		if (leaf == NO_PREFIX)
			put_word(out, i, "null");
		else
			put_number(out, i, leaf);
	}
	strbuf_append_char(out, ']');
	begin(out, "weight");
	for (size_t i = 0; i < part->nr; i++)
		put_weight(firefox, i, sums[i].count);
	strbuf_append_char(out, ']');
	begin(out, "time");
	for (size_t i = 0; i < part->nr; i++) {
		put_weight(firefox, i, before);
		before += sums[i].count;
	}
	strbuf_append_char(out, ']');
	if (has_cpu_time(firefox->profile))
		put_cpu_deltas(firefox, part);
	strbuf_append_char(out, '}');
}

static void put_thread(const struct firefox *firefox, size_t number, const struct split_part *part)
{
	struct strbuf *out = firefox->out;

	strbuf_appendf(out,
		       "%s{\"processType\":\"default\",\"processStartupTime\":0,"
		       "\"processShutdownTime\":null,\"registerTime\":0,\"unregisterTime\":null,"
		       "\"pausedRanges\":[],\"isMainThread\":false,\"pid\":\"0\",\"tid\":%zu,",
		       number > 0 ? ",\n" : "", number);
	json_append_member(out, "processName", firefox->caption->title);
	strbuf_append_char(out, ',');
	json_append_member(out, "name",
			   part->root == NO_ROOT ? "all"
						 : frame_row_name(&firefox->rows, part->root));
	strbuf_append_str(out, ",\n\"markers\":{\"length\":0,\"data\":[],\"name\":[],"
			       "\"startTime\":[],\"endTime\":[],\"phase\":[],\"category\":[]},\n");
	put_samples(firefox, part);
	strbuf_append_char(out, '}');
}

/* A profile without threads is refused, so one without samples has an empty one. */
static void put_threads(const struct firefox *firefox)
{
	const struct split_part none = { .root = NO_ROOT };

	strbuf_append_str(firefox->out, ",\n\"threads\":[");
	if (firefox->split.nr_parts == 0)
		put_thread(firefox, 0, &none);
	for (size_t i = 0; i < firefox->split.nr_parts; i++)
		put_thread(firefox, i, &firefox->split.parts[i]);
	strbuf_append_str(firefox->out, "]}\n");
}

static void put_categories(struct strbuf *out)
{
	strbuf_append_str(out, ",\"categories\":[");
	for (size_t i = 0; i < array_len(categories); i++)
		strbuf_appendf(out,
			       "%s{\"name\":\"%s\",\"color\":\"%s\",\"subcategories\":[\"Other\"]}",
			       i > 0 ? "," : "", categories[i].name, categories[i].color);
	strbuf_append_char(out, ']');
}

static void put_entry(struct strbuf *out, const char *label, const char *value)
{
	strbuf_append_char(out, '{');
	json_append_member(out, "label", label);
	strbuf_append_str(out, ",\"format\":\"string\",");
	json_append_member(out, "value", value);
	strbuf_append_char(out, '}');
}

static void put_meta(const struct firefox *firefox)
{
	const struct profile *p = firefox->profile;
	struct strbuf *out = firefox->out;

	strbuf_append_str(out, "{\"meta\":{\"preprocessedProfileVersion\":60,\"version\":31,"
			       "\"product\":\"Flamelet\",\"importedFrom\":\"Flamelet\","
			       "\"processType\":0,\"stackwalk\":1,\"debug\":false,"
			       "\"symbolicated\":true,\"symbolicationNotSupported\":true,"
			       "\"usesOnlyOneStackType\":true,\"sourceCodeIsNotOnSearchfox\":true,"
			       "\"markerSchema\":[],\"platform\":\"X11\",\"oscpu\":\"Linux\","
			       "\"sampleUnits\":{\"time\":\"ms\",\"eventDelay\":\"ms\","
			       "\"threadCPUDelta\":\"ns\"},\"interval\":");
	put_ms(out, has_cpu_time(p) ? p->period : NSEC_PER_MSEC);
	strbuf_append_str(out, ",\"startTime\":");
	put_ms(out, p->time_unix_ns);
	put_categories(out);
	strbuf_append_str(out, ",\"keepProfileThreadOrder\":true,\"initialSelectedThreads\":[0]");
	strbuf_append_str(out, ",\"extra\":[{\"label\":\"Flamelet\",\"entries\":[");
	put_entry(out, "Profile", firefox->caption->title);
	strbuf_append_char(out, ',');
	put_entry(out, "Origin", firefox->caption->subtitle);
	strbuf_append_str(out, "]}]}");
}

int firefox_encode(const struct profile *profile, const struct caption *caption, struct strbuf *out)
{
	_cleanup_(firefox_done) struct firefox firefox = {
		.profile = profile,
		.caption = caption,
		.out = out,
	};

	int r = firefox_init(&firefox);
	if (r == 0) {
		put_meta(&firefox);
		put_shared(&firefox);
		put_libs(&firefox);
		put_threads(&firefox);
		r = strbuf_error(out);
	}
	strbuf_fail(out, r);
	return r;
}
