/* SPDX-License-Identifier: Apache-2.0 */
#include "dump/dump.h"

#include "base/cleanup.h"
#include "base/printable.h"
#include "base/strview.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define INDENT "    "

const struct profile_sample *dump_find_sample(const struct dump *dump, uint32_t tid)
{
	for (size_t i = 0; i < dump->profile->nr_samples; i++)
		if (dump->profile->samples[i].tid == tid)
			return &dump->profile->samples[i];
	return NULL;
}

const char *dump_kernel_stack(const struct thread_info *thread)
{
	return thread->state != 'R' && thread->kernel_stack ? thread->kernel_stack : "";
}

static void append_kernel_stack(const char *names, struct strbuf *out)
{
	struct strview rest = strview_of(names, SIZE_MAX), name;

	while (strview_next(&rest, '\n', &name))
		if (name.len > 0)
			strbuf_appendf(out, INDENT "%.*s [kernel]\n", (int)name.len, name.text);
}

/* Appends the place of a line of a location: its source, or else its file. */
static void append_place(const struct profile *profile, const struct profile_location *location,
			 const struct profile_line *line, struct strbuf *out)
{
	const struct profile_function *function = &profile->functions[line->function];
	const struct profile_mapping *mapping = &profile->mappings[location->mapping];
	const char *source = profile_string(profile, function->filename);
	const char *file = profile_string(profile, mapping->filename);

	if (!*source && !*file)
		return;
	strbuf_append_str(out, "  (");
	printable_append(out, *source ? source : file);
	if (*source && line->line > 0)
		strbuf_appendf(out, ":%" PRIu32, line->line);
	strbuf_append_char(out, ')');
}

static void append_location(const struct profile *profile, const struct profile_location *location,
			    struct strbuf *out)
{
	const struct profile_line *lines = profile_location_lines(profile, location);

	for (uint32_t i = 0; i < location->nr_lines; i++) {
		const struct profile_function *function = &profile->functions[lines[i].function];

		strbuf_append_str(out, INDENT);
		printable_append(out, profile_string(profile, function->name));
		if (i + 1 < location->nr_lines)
			strbuf_append_str(out, " [inlined]");
		append_place(profile, location, &lines[i], out);
		strbuf_append_char(out, '\n');
	}
}

static void append_user_stack(const struct dump *dump, uint32_t tid, struct strbuf *out)
{
	const struct profile_sample *sample = dump_find_sample(dump, tid);
	const struct profile *profile = dump->profile;

	if (!sample && dump->stopped_ns == 0)
		return;
	if (!sample) {
		strbuf_append_str(out, INDENT "[no user stack: the thread did not stop in time]\n");
		return;
	}
	const struct profile_stack *stack = &profile->stacks[sample->stack];
	for (size_t i = 0; i < stack->nr; i++)
		append_location(profile,
				&profile->locations[profile->stack_locations[stack->first + i]],
				out);
}

static void append_thread_name(const struct thread_info *thread, struct strbuf *out)
{
	strbuf_appendf(out, "%" PRIu32 " \"", thread->tid);
	printable_append(out, thread->comm);
	strbuf_append_char(out, '"');
}

/* Returns whether two threads are shown together. */
static bool are_alike(const struct dump *dump, const struct thread_info *a,
		      const struct thread_info *b)
{
	const struct profile_sample *of_a = dump_find_sample(dump, a->tid);
	const struct profile_sample *of_b = dump_find_sample(dump, b->tid);

	return a->state == b->state && of_a && of_b && of_a->stack == of_b->stack &&
	       strcmp(dump_kernel_stack(a), dump_kernel_stack(b)) == 0;
}

/* Appends a thread and those like it that come after it, and marks them. */
static void append_group(const struct dump *dump, size_t first, bool *is_shown, struct strbuf *out)
{
	const struct thread_list *threads = dump->threads;
	const struct thread_info *thread = &threads->items[first];
	size_t nr = 1;

	strbuf_append_str(out, "\nthread ");
	append_thread_name(thread, out);
	for (size_t i = first + 1; i < threads->nr; i++) {
		if (is_shown[i] || !are_alike(dump, thread, &threads->items[i]))
			continue;
		is_shown[i] = true;
		strbuf_append_str(out, ", ");
		append_thread_name(&threads->items[i], out);
		nr++;
	}
	strbuf_appendf(out, ": %s", thread_state_name(thread->state));
	if (nr > 1)
		strbuf_appendf(out, " (%zu threads at the same place)", nr);
	strbuf_append_char(out, '\n');
	append_kernel_stack(dump_kernel_stack(thread), out);
	append_user_stack(dump, thread->tid, out);
}

/* Returns whether the process has the attribute. */
static bool append_attribute(const struct dump *dump, const char *before, const char *key,
			     struct strbuf *out)
{
	const struct profile *profile = dump->profile;
	const char *value = profile->nr_samples > 0
				    ? profile_resource_get(profile, profile->samples[0].resource,
							   key)
				    : NULL;

	if (!value)
		return false;
	strbuf_append_str(out, before);
	printable_append(out, value);
	return true;
}

static void append_head(const struct dump *dump, struct strbuf *out)
{
	strbuf_appendf(out, "pid %" PRIu32 ": ", dump->pid);
	printable_append(out,
			 *dump->command_line ? dump->command_line : dump->threads->items[0].comm);
	if (!append_attribute(dump, "\nnamespace ", "k8s.namespace.name", out))
		(void)append_attribute(dump, "\npod ", "k8s.pod.uid", out);
	(void)append_attribute(dump, ", pod ", "k8s.pod.name", out);
	(void)append_attribute(dump, ", container ", "k8s.container.name", out);
	strbuf_appendf(out, "\n%zu %s", dump->threads->nr,
		       dump->threads->nr == 1 ? "thread" : "threads");
	if (dump->stopped_ns > 0)
		strbuf_appendf(out, ", stopped for %.1f ms", (double)dump->stopped_ns / 1e6);
	strbuf_append_char(out, '\n');
}

int dump_append_text(const struct dump *dump, struct strbuf *out)
{
	_cleanup_free_ bool *is_shown = calloc(dump->threads->nr + 1, sizeof(*is_shown));

	if (!is_shown)
		return -ENOMEM;
	append_head(dump, out);
	for (size_t i = 0; i < dump->threads->nr; i++)
		if (!is_shown[i])
			append_group(dump, i, is_shown, out);
	return strbuf_error(out);
}
