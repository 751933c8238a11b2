/* SPDX-License-Identifier: Apache-2.0 */
#include "commands/describe.h"

#include "base/text.h"

#include <inttypes.h>

#define SHOWN_MAX 4 /* shown elements of each list */
#define NAME_COLUMNS 60

/* Appends what separates two parts of the description, or two elements of a list. */
static void begin(struct strbuf *out, size_t start, size_t nth, const char *what)
{
	if (nth == 0)
		strbuf_appendf(out, "%s%s", out->len > start ? ", " : "", what);
	strbuf_append_char(out, ' ');
}

static void append_numbers(struct strbuf *out, size_t start, const char *what,
			   const struct number_list *list)
{
	for (size_t i = 0; i < list->nr && i < SHOWN_MAX; i++) {
		begin(out, start, i, what);
		strbuf_appendf(out, "%" PRIu32, list->items[i]);
	}
	if (list->nr > SHOWN_MAX)
		strbuf_append_str(out, " …");
}

static void append_names(struct strbuf *out, size_t start, const char *what, char *const *names,
			 size_t nr)
{
	for (size_t i = 0; i < nr && i < SHOWN_MAX; i++) {
		begin(out, start, i, what);
		text_append_name(out, names[i], NAME_COLUMNS, ELIDE_LEFT);
	}
	if (nr > SHOWN_MAX)
		strbuf_append_str(out, " …");
}

void describe_target(const struct options *options, struct strbuf *out)
{
	size_t start = out->len;

	append_names(out, start, "command", options->command.items, options->command.nr > 0);
	append_names(out, start, "namespace", options->namespaces.items, options->namespaces.nr);
	append_names(out, start, "pod", options->pods.items, options->pods.nr);
	append_names(out, start, "container", options->containers.items, options->containers.nr);
	append_names(out, start, "selector", options->selectors.items, options->selectors.nr);
	append_names(out, start, "cgroup", options->cgroups.items, options->cgroups.nr);
	append_names(out, start, "processes named", options->comms.items, options->comms.nr);
	append_numbers(out, start, "pid", &options->pids);
	append_numbers(out, start, "tid", &options->tids);
	append_numbers(out, start, "CPU", &options->cpus);
	if (out->len == start)
		strbuf_append_str(out, "the whole machine");
	append_names(out, start, "without namespace", options->excluded_namespaces.items,
		     options->excluded_namespaces.nr);
	append_names(out, start, "without container", options->excluded_containers.items,
		     options->excluded_containers.nr);
	append_names(out, start, "without selector", options->excluded_selectors.items,
		     options->excluded_selectors.nr);
}
