/* SPDX-License-Identifier: Apache-2.0 */
#include "dump/dump.h"

#include "base/json_text.h"
#include "base/strview.h"

#include <inttypes.h>

/* Appends a member with a comma before it. */
static void append_text(const char *key, const char *value, struct strbuf *out)
{
	strbuf_append_char(out, ',');
	json_append_member(out, key, value);
}

static void append_kernel_stack(const char *names, struct strbuf *out)
{
	struct strview rest = strview_of(names, SIZE_MAX), name;
	const char *separator = "";

	strbuf_append_str(out, ",\"kernel\":[");
	while (strview_next(&rest, '\n', &name)) {
		if (name.len == 0)
			continue;
		strbuf_appendf(out, "%s\"%.*s\"", separator, (int)name.len, name.text);
		separator = ",";
	}
	strbuf_append_char(out, ']');
}

static const char *kind_name(enum frame_kind kind)
{
	static const char *const names[] = {
		[FRAME_NATIVE] = "native", [FRAME_KERNEL] = "kernel",	[FRAME_STOP] = "stop",
		[FRAME_GO] = "go",	   [FRAME_RUST] = "rust",	[FRAME_JVM] = "jvm",
		[FRAME_V8JS] = "v8js",	   [FRAME_CPYTHON] = "cpython", [FRAME_JIT] = "jit",
	};

	return names[kind];
}

static void append_location(const struct profile *profile, const struct profile_location *location,
			    bool is_first, struct strbuf *out)
{
	const struct profile_line *lines = profile_location_lines(profile, location);
	const struct profile_mapping *mapping = &profile->mappings[location->mapping];

	for (uint32_t i = 0; i < location->nr_lines; i++) {
		const struct profile_function *function = &profile->functions[lines[i].function];

		strbuf_appendf(out, "%s{\"kind\":\"%s\"", is_first && i == 0 ? "" : ",",
			       kind_name(location->kind));
		append_text("function", profile_string(profile, function->name), out);
		append_text("source", profile_string(profile, function->filename), out);
		append_text("file", profile_string(profile, mapping->filename), out);
		strbuf_appendf(out, ",\"line\":%" PRIu32 ",\"inlined\":%s}", lines[i].line,
			       i + 1 < location->nr_lines ? "true" : "false");
	}
}

static void append_user_stack(const struct dump *dump, uint32_t tid, struct strbuf *out)
{
	const struct profile_sample *sample = dump_find_sample(dump, tid);
	const struct profile *profile = dump->profile;

	strbuf_appendf(out, ",\"stopped\":%s,\"stack\":[", sample ? "true" : "false");
	if (sample) {
		const struct profile_stack *stack = &profile->stacks[sample->stack];

		for (size_t i = 0; i < stack->nr; i++)
			append_location(
				profile,
				&profile->locations[profile->stack_locations[stack->first + i]],
				i == 0, out);
	}
	strbuf_append_char(out, ']');
}

static void append_thread(const struct dump *dump, const struct thread_info *thread,
			  struct strbuf *out)
{
	strbuf_appendf(out, "{\"tid\":%" PRIu32, thread->tid);
	append_text("name", thread->comm, out);
	append_text("state", thread_state_name(thread->state), out);
	append_kernel_stack(dump_kernel_stack(thread), out);
	append_user_stack(dump, thread->tid, out);
	strbuf_append_char(out, '}');
}

static void append_attributes(const struct profile *profile, struct strbuf *out)
{
	const char *separator = "";

	strbuf_append_str(out, ",\"attributes\":{");
	if (profile->nr_samples > 0) {
		const struct profile_resource *resource =
			&profile->resources[profile->samples[0].resource];

		for (size_t i = 0; i < resource->nr; i++) {
			const struct profile_attribute *attribute =
				&profile->attributes[resource->first + i];

			strbuf_append_str(out, separator);
			json_append_member(out, profile_string(profile, attribute->key),
					   profile_string(profile, attribute->value));
			separator = ",";
		}
	}
	strbuf_append_char(out, '}');
}

int dump_append_json(const struct dump *dump, struct strbuf *out)
{
	strbuf_appendf(out, "{\"pid\":%" PRIu32, dump->pid);
	append_text("command", dump->command_line, out);
	append_attributes(dump->profile, out);
	strbuf_appendf(out, ",\"stopped_us\":%" PRIu64 ",\"threads\":[", dump->stopped_ns / 1000);
	for (size_t i = 0; i < dump->threads->nr; i++) {
		if (i > 0)
			strbuf_append_char(out, ',');
		append_thread(dump, &dump->threads->items[i], out);
	}
	strbuf_append_str(out, "]}\n");
	return strbuf_error(out);
}
