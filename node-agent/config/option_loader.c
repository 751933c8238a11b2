/* SPDX-License-Identifier: Apache-2.0 */
#include "config/option_loader.h"

#include "base/cleanup.h"
#include "config/destination_check.h"
#include "config/option_fields.h"
#include "config/option_sources.h"
#include "config/option_table.h"

#include <stdlib.h>
#include <string.h>

#define WARNINGS_MAX_BYTES 4096
#define PREFIX_MAX_BYTES 8192
#define DESTINATION_FILES_MAX 8

/* Loads the options of a command, or one destination from its file. */
struct loader {
	enum command_id command;
	struct options *options; /* borrowed; NULL when a file of a destination is loaded */
	struct destination *destination; /* borrowed */
	struct entry_list entries;
	size_t nr_applied; /* of the entries */
	struct strbuf *message, *warnings; /* borrowed */
};

static void loader_done(struct loader *loader)
{
	entry_list_done(&loader->entries);
}

static void *field_of(const struct loader *loader, const struct option *option)
{
	return option_field(option, loader->options, loader->destination);
}

/* Appends the reason why value_store() refused the entry's value. Returns -EINVAL or -ENOMEM. */
static int explain(struct loader *loader, const struct option_entry *entry, int error)
{
	const struct value_type *type = entry->option->type;
	struct strbuf *message = loader->message;

	if (error == -ENOMEM)
		return error;
	if (error == -ENOSPC)
		strbuf_appendf(message, "%s: too many values; at most %d", entry->where,
			       LIST_ITEMS_MAX);
	else if (error != -EINVAL && error != -ERANGE)
		strbuf_appendf(message, "%s: cannot read \"%s\": %s", entry->where, entry->text,
			       strerror(-error));
	else if (type->is_secret)
		strbuf_appendf(message, "%s: invalid value; expected %s", entry->where,
			       type->expected);
	else
		strbuf_appendf(message, "%s: invalid value \"%s\"; expected %s", entry->where,
			       entry->text, type->expected);
	return -EINVAL;
}

/* Returns whether one of the first `nr` attributes has the same key as `attribute`. */
static bool has_key(const struct string_list *attributes, size_t nr, const char *attribute)
{
	size_t len = strcspn(attribute, "=") + 1;

	for (size_t i = 0; i < nr; i++) {
		if (strncmp(attributes->items[i], attribute, len) == 0)
			return true;
	}
	return false;
}

/* Returns whether an entry of a stronger source overrides this one. */
static bool is_overridden(const struct loader *loader, const struct option_entry *entry)
{
	const struct option *option = entry->option;

	if (!option)
		return false;
	if (option->joins_environment && entry->source == SOURCE_ENVIRONMENT) {
		const struct string_list *attributes = field_of(loader, option);

		return has_key(attributes, attributes->nr, entry->text);
	}
	return entry_list_find(&loader->entries, option)->source != entry->source;
}

static int set(struct loader *loader, const struct option_entry *entry)
{
	const struct option *option = entry->option;

	if (entry->source == SOURCE_FILE && !value_is_list(option->type) &&
	    entry_list_find(&loader->entries, option) != entry) {
		strbuf_appendf(loader->message, "%s: takes one value, not a list", entry->where);
		return -EINVAL;
	}
	int r = value_store(option->type, entry->text, field_of(loader, option));
	return r < 0 ? explain(loader, entry, r) : 0;
}

static int apply(struct loader *loader, const struct option_entry *entry)
{
	struct strbuf *warnings = loader->warnings;

	if (is_overridden(loader, entry))
		return 0;
	switch (entry->kind) {
	case ENTRY_VALUE:
		return set(loader, entry);
	case ENTRY_REFUSAL:
		strbuf_append_str(loader->message, entry->text);
		return -EINVAL;
	case ENTRY_WARNING:
		break;
	}
	strbuf_appendf(warnings, "%s%.*s", warnings->len > 0 ? "; " : "", WARNINGS_MAX_BYTES - 1,
		       entry->text);
	return 0;
}

/* Applies the entries that were added since the last time, unless adding them failed. */
static int apply_new(struct loader *loader, int error)
{
	if (error == -ENOSPC) {
		strbuf_append_str(loader->message, "too many options");
		return -EINVAL;
	}
	for (; error == 0 && loader->nr_applied < loader->entries.nr; loader->nr_applied++)
		error = apply(loader, &loader->entries.items[loader->nr_applied]);
	return error;
}

static int add_defaults(struct loader *loader)
{
	bool has_command = loader->options && loader->options->command.nr > 0;
	int r = 0;

	for (size_t i = 0; r == 0 && i < nr_option_rows; i++) {
		const struct option *option = &option_table[i];

		if (!option->fallback || !(option->commands & loader->command))
			continue;
		if (has_command && option->field == offsetof(struct options, duration_ns))
			continue; /* a command is sampled until it ends */
		r = entry_list_add(&loader->entries, SOURCE_DEFAULT, option, option->name,
				   option->fallback);
	}
	return r;
}

/* Refuses attributes with the same key. The message has `prefix` before the option's name. */
static int check_attributes(struct loader *loader, const struct string_list *attributes,
			    const char *prefix)
{
	for (size_t i = 0; i < attributes->nr; i++) {
		const char *attribute = attributes->items[i];

		if (!has_key(attributes, i, attribute))
			continue;
		strbuf_appendf(loader->message,
			       "%sresource-attribute: attribute \"%.*s\" is given twice", prefix,
			       (int)strcspn(attribute, "="), attribute);
		return -EINVAL;
	}
	return 0;
}

/* Checks a destination whose fields are set, and applies the resulting warnings. */
static int check_destination(struct loader *loader, const char *prefix)
{
	int r = destination_check(loader->destination, &loader->entries, prefix, loader->message);

	return apply_new(loader, r);
}

static int load_destination(struct loader *loader, const char *path)
{
	struct destination *destination = loader->destination;
	_cleanup_(strbuf_done) struct strbuf prefix = strbuf_with_max(PREFIX_MAX_BYTES);

	int r = source_read_file(COMMAND_DESTINATION, path, &loader->entries);
	if (r == 0)
		r = add_defaults(loader);
	r = apply_new(loader, r);
	if (r < 0)
		return r;
	strbuf_appendf(&prefix, "%s: ", path);
	if (!destination->endpoint) {
		strbuf_appendf(loader->message, "%sotlp-endpoint is missing; add it",
			       strbuf_str(&prefix));
		return -EINVAL;
	}
	r = check_attributes(loader, &destination->resource_attributes, strbuf_str(&prefix));
	return r < 0 ? r : check_destination(loader, strbuf_str(&prefix));
}

/* Appends the destination that a file describes. Only the file can set its options, so that no
 * destination gets the credentials of another one. */
static int add_destination(struct loader *loader, const char *path)
{
	struct options *options = loader->options;
	_cleanup_(loader_done) struct loader own = {
		.command = COMMAND_DESTINATION,
		.destination = &options->destinations[options->nr_destinations],
		.message = loader->message,
		.warnings = loader->warnings,
	};

	options->nr_destinations++;
	return load_destination(&own, path);
}

/* Fills the list of destinations: first the direct one, then those from files. */
static int collect_destinations(struct loader *loader)
{
	struct options *options = loader->options;
	const struct string_list *files = &options->destination_files;
	int r = 0;

	if (files->nr > DESTINATION_FILES_MAX) {
		strbuf_appendf(loader->message, "--destination: %zu are too many; at most %d",
			       files->nr, DESTINATION_FILES_MAX);
		return -EINVAL;
	}
	options->destinations = calloc(files->nr + 1, sizeof(*options->destinations));
	if (!options->destinations)
		return -ENOMEM;
	options->nr_destinations = loader->destination->endpoint != NULL;
	options->direct = &options->destinations[options->nr_destinations > 0 ? 0 : files->nr];
	*options->direct = *loader->destination;
	*loader->destination = (struct destination){ 0 };
	for (size_t i = 0; r == 0 && i < files->nr; i++)
		r = add_destination(loader, files->items[i]);
	return r;
}

/* A question to the record whose answer gets a format, and no name, goes to standard output. */
static int add_output(struct loader *loader)
{
	struct options *options = loader->options;
	bool asks = loader->command == COMMAND_QUERY || loader->command == COMMAND_DIFF;

	if (!asks || !options->output_format || options->outputs.nr > 0)
		return 0;
	return string_list_add(&options->outputs, "-");
}

/* Checks that each output has a format, by its name or by --format, and that --format has an
 * effect. */
static int check_outputs(struct loader *loader)
{
	const struct options *options = loader->options;
	const struct options_input *input = &options->input;
	size_t nr_open = 0; /* outputs whose names imply no format */

	if (!input->format_from_name)
		return 0;
	for (size_t i = 0; i < options->outputs.nr; i++) {
		const char *path = options->outputs.items[i];
		const char *told = input->format_from_name(path);

		nr_open += !told || !*told;
		if (told || options->output_format)
			continue;
		strbuf_appendf(loader->message,
			       "-o: \"%s\" has no known extension (%s); "
			       "change the name or add --format",
			       path, input->output_extensions);
		return -EINVAL;
	}
	if (!options->output_format || options->outputs.nr == 0 || nr_open > 0)
		return 0;
	strbuf_appendf(loader->message,
		       "--format has no effect: the name \"%s\" already implies the format; leave "
		       "--format out, or write -o -",
		       options->outputs.items[0]);
	return -EINVAL;
}

/* Checks what is to be exported: files, or a range of a record. */
static int check_sources(struct loader *loader)
{
	const struct options *options = loader->options;
	const char *problem = NULL;

	if (options->stores.nr == 0 && options->files.nr == 0)
		problem = "no file given; usage: flamelet export FILE.pb.gz, or flamelet export "
			  "--store DIR RANGE";
	else if (options->stores.nr > 0 && options->files.nr > 1)
		problem = "with --store, only a range can be given, in one word, such as "
			  "14:05..14:07; to send files, leave --store out";
	else if (options->stores.nr > 0 && options->at_now)
		problem = "--at now is for files; what --store names keeps its times";
	else if (options->stores.nr == 0 && options->label_selectors.nr > 0)
		problem = "--select needs --store; the samples of a file are sent together";
	if (!problem)
		return 0;
	strbuf_append_str(loader->message, problem);
	return -EINVAL;
}

/* Checks that waits are recorded if some of them are selected. Waits for locks have no other
 * reasons. */
static int check_waits(struct loader *loader)
{
	const struct options *options = loader->options;
	bool wants_all_reasons = options->reasons == (1U << value_reasons.nr_words) - 1;
	bool wants_all = options->min_block_ns == 0 && !options->wakers;

	if (!(loader->command & (COMMAND_RECORD | COMMAND_AGENT)) ||
	    options_want_kind(options, OPTION_KIND_OFF_CPU) ||
	    options_want_kind(options, OPTION_KIND_WALL) ||
	    (wants_all_reasons && (wants_all || options_want_kind(options, OPTION_KIND_LOCK))))
		return 0;
	strbuf_append_str(loader->message,
			  "--reason, --min-block and --waker are for waits; add --kind offcpu");
	return -EINVAL;
}

/* The words of value_reasons "preempted" and "run-queue", which are the first two, and "throttled",
 * which is the last one. */
#define RUN_QUEUE_REASONS (3U | 1U << 16)

/* The kind "runq" is short for the waits for a CPU. */
static int choose_run_queue(struct loader *loader)
{
	struct options *options = loader->options;
	unsigned int all_reasons = (1U << value_reasons.nr_words) - 1;

	if (!options_want_kind(options, OPTION_KIND_RUN_QUEUE))
		return 0;
	if (options_want_kind(options, OPTION_KIND_OFF_CPU) || options->reasons != all_reasons) {
		strbuf_append_str(loader->message, "--kind: runq stands for offcpu with --reason "
						   "preempted,run-queue,throttled; leave it out");
		return -EINVAL;
	}
	options->kinds &= ~(1U << OPTION_KIND_RUN_QUEUE);
	options->kinds |= 1U << OPTION_KIND_OFF_CPU;
	options->reasons = RUN_QUEUE_REASONS;
	return 0;
}

/* Interrupts are the node's. An agent records those of the node beside the pods that it selects. */
static int check_interrupts(struct loader *loader)
{
	const struct options *options = loader->options;
	const struct string_list *const lists[] = {
		&options->namespaces, &options->pods,  &options->containers, &options->selectors,
		&options->cgroups,    &options->comms, &options->command,
	};
	size_t nr = options->pids.nr + options->tids.nr;

	for (size_t i = 0; i < array_len(lists); i++)
		nr += lists[i]->nr;
	if (loader->command != COMMAND_RECORD || nr == 0 ||
	    !options_want_kind(options, OPTION_KIND_IRQ))
		return 0;
	strbuf_append_str(loader->message,
			  "--kind: irq is of the whole machine, since interrupts belong to no "
			  "process; select nothing but CPUs");
	return -EINVAL;
}

/* Returns what is wrong with the kinds for the command, or NULL. A recording has one profile, and
 * `flamelet top` shows waits beside CPU time. */
static const char *find_fault_of_kinds(enum command_id command, const struct options *options)
{
	unsigned int kinds = options->kinds;
	unsigned int cpu = 1U << OPTION_KIND_CPU, off_cpu = 1U << OPTION_KIND_OFF_CPU;

	if (command == COMMAND_TOP && kinds != cpu && kinds != (cpu | off_cpu))
		return "--kind: top shows cpu or cpu,offcpu";
	if (command == COMMAND_AGENT && options_want_kind(options, OPTION_KIND_WALL))
		return "--kind: wall is for recordings; an agent has both halves of it with "
		       "cpu,offcpu";
	if (command == COMMAND_AGENT && options_want_event(options))
		return "--kind: hw:EVENT and sw:EVENT are for recordings; use flamelet record";
	if (options->event_period > 0 && !options_want_event(options))
		return "--event-period is for events; add --kind hw:cycles or another event";
	if (command == COMMAND_RECORD && (kinds & (kinds - 1)) != 0)
		return "--kind: a recording has one kind; record one after the other, or all of "
		       "them with flamelet agent";
	return NULL;
}

static int check_kinds(struct loader *loader)
{
	const char *fault = find_fault_of_kinds(loader->command, loader->options);

	if (!fault)
		return 0;
	strbuf_append_str(loader->message, fault);
	return -EINVAL;
}

/* Checks that the options of allocations are for a kind that has them. */
static int check_allocations(struct loader *loader)
{
	const struct options *options = loader->options;

	if (loader->command == COMMAND_COPY_HEAP ||
	    (!options->counts_objects && !options->heap_library) ||
	    options_want_kind(options, OPTION_KIND_ALLOC) ||
	    options_want_kind(options, OPTION_KIND_HEAP))
		return 0;
	strbuf_append_str(loader->message, "--objects and --heap-library are for allocations; add "
					   "--kind alloc or --kind heap");
	return -EINVAL;
}

static int check_profiled(struct loader *loader)
{
	int r = choose_run_queue(loader);

	if (r == 0)
		r = check_kinds(loader);
	if (r == 0)
		r = check_allocations(loader);
	if (r == 0)
		r = check_interrupts(loader);
	return r < 0 ? r : check_waits(loader);
}

/* Checks options that depend on each other. */
static int check_all(struct loader *loader)
{
	const struct options *options = loader->options;

	if (loader->command == COMMAND_EXPORT && check_sources(loader) < 0)
		return -EINVAL;
	if (options->ranges.nr > (loader->command == COMMAND_DIFF ? 2 : 1)) {
		strbuf_appendf(loader->message,
			       "unexpected argument \"%s\"; a range is one word, such as "
			       "14:05..14:07",
			       options->ranges.items[options->ranges.nr - 1]);
		return -EINVAL;
	}
	int r = check_profiled(loader);
	if (r == 0)
		r = check_outputs(loader);
	if (r == 0)
		r = check_attributes(loader, &options->resource_attributes, "--");
	return r < 0 ? r : check_destination(loader, "--");
}

/* Reads the sources, from the strongest to the weakest. */
static int read_sources(struct loader *loader)
{
	struct options *options = loader->options;
	struct entry_list *entries = &loader->entries;

	int r = apply_new(loader, source_read_command_line(&options->input, entries));
	if (r < 0 || options->help || options->help_all)
		return r;
	if (options->config_file)
		r = source_read_file(loader->command, options->config_file, entries);
	if (r == 0)
		r = source_read_environment(loader->command, entries);
	if (r == 0)
		r = source_read_cluster(&options->input, entries);
	if (r == 0)
		r = add_defaults(loader);
	return apply_new(loader, r);
}

int options_load(const struct options_input *input, struct options *ret_options,
		 struct strbuf *message)
{
	_cleanup_(destination_done) struct destination direct = { 0 };
	_cleanup_(options_done) struct options options = {
		.input = *input,
		.warnings = strbuf_with_max(WARNINGS_MAX_BYTES),
	};
	_cleanup_(loader_done) struct loader loader = {
		.command = input->command,
		.options = &options,
		.destination = &direct,
		.message = message,
		.warnings = &options.warnings,
	};

	int r = read_sources(&loader);
	if (r < 0)
		return r;
	if (!options.help && !options.help_all) {
		r = add_output(&loader);
		if (r == 0)
			r = check_all(&loader);
		if (r == 0)
			r = collect_destinations(&loader);
		if (r < 0)
			return r;
	}
	*ret_options = options;
	options = (struct options){ 0 };
	return 0;
}
