/* SPDX-License-Identifier: Apache-2.0 */
/* Every number of the profile is translated into one of the dictionary, once for each element that
 * a sample leads to. */
#include "store/ingest.h"

#include "base/array.h"
#include "store/stored_value.h"

#include <stdlib.h>

int ingest_init(struct ingest *ingest, struct dict *dict, const struct profile *from)
{
	*ingest = (struct ingest){ .dict = dict, .from = from };
	ingest->numbers = calloc(from->strings.nr_strings + from->nr_mappings + from->nr_functions +
					 from->nr_locations + from->nr_stacks + from->nr_resources +
					 from->nr_processes,
				 sizeof(*ingest->numbers));
	if (!ingest->numbers)
		return -ENOMEM;
	ingest->strings = ingest->numbers;
	ingest->mappings = ingest->strings + from->strings.nr_strings;
	ingest->functions = ingest->mappings + from->nr_mappings;
	ingest->locations = ingest->functions + from->nr_functions;
	ingest->stacks = ingest->locations + from->nr_locations;
	ingest->resources = ingest->stacks + from->nr_stacks;
	ingest->processes = ingest->resources + from->nr_resources;
	return 0;
}

void ingest_done(struct ingest *ingest)
{
	free(ingest->numbers);
	free(ingest->words);
}

static int keep(uint32_t *known, uint32_t id, uint32_t *ret_new)
{
	*known = id + 1;
	*ret_new = id;
	return 0;
}

static int put_string(struct ingest *ingest, uint32_t old, uint32_t *ret_new)
{
	uint32_t *known = &ingest->strings[old], id;

	if (*known)
		return keep(known, *known - 1, ret_new);
	int r = dict_add_string(ingest->dict, profile_string(ingest->from, old), &id);
	return r < 0 ? r : keep(known, id, ret_new);
}

static int put_mapping(struct ingest *ingest, uint32_t old, uint32_t *ret_new)
{
	const struct profile_mapping *mapping = &ingest->from->mappings[old];
	uint32_t *known = &ingest->mappings[old], id, words[MAPPING_WORDS];
	int r;

	if (*known)
		return keep(known, *known - 1, ret_new);
	if ((r = put_string(ingest, mapping->filename, &words[MAPPING_FILENAME])) < 0 ||
	    (r = put_string(ingest, mapping->build_id, &words[MAPPING_BUILD_ID])) < 0 ||
	    (r = put_string(ingest, mapping->go_build_id, &words[MAPPING_GO_BUILD_ID])) < 0 ||
	    (r = put_string(ingest, mapping->htlhash, &words[MAPPING_HTLHASH])) < 0 ||
	    (r = dict_add(ingest->dict, DICT_MAPPINGS, words, MAPPING_WORDS, &id)) < 0)
		return r;
	return keep(known, id, ret_new);
}

static int put_function(struct ingest *ingest, uint32_t old, uint32_t *ret_new)
{
	const struct profile_function *function = &ingest->from->functions[old];
	uint32_t *known = &ingest->functions[old], id, words[FUNCTION_WORDS];
	int r;

	if (*known)
		return keep(known, *known - 1, ret_new);
	words[FUNCTION_START_LINE] = function->start_line;
	if ((r = put_string(ingest, function->name, &words[FUNCTION_NAME])) < 0 ||
	    (r = put_string(ingest, function->system_name, &words[FUNCTION_SYSTEM_NAME])) < 0 ||
	    (r = put_string(ingest, function->filename, &words[FUNCTION_FILENAME])) < 0 ||
	    (r = dict_add(ingest->dict, DICT_FUNCTIONS, words, FUNCTION_WORDS, &id)) < 0)
		return r;
	return keep(known, id, ret_new);
}

static int put_frame(struct ingest *ingest, uint32_t old, uint32_t *ret_new)
{
	const struct profile_location *location = &ingest->from->locations[old];
	const struct profile_line *lines = profile_location_lines(ingest->from, location);
	uint32_t *known = &ingest->locations[old], id;
	size_t nr = FRAME_FIRST_FUNCTION + location->nr_lines;

	if (*known)
		return keep(known, *known - 1, ret_new);
	int r = array_grow(ingest->words, ingest->cap_words, nr, SIZE_MAX);
	if (r == 0)
		r = put_mapping(ingest, location->mapping, &ingest->words[FRAME_MAPPING]);
	for (uint32_t i = 0; r == 0 && i < location->nr_lines; i++)
		r = put_function(ingest, lines[i].function,
				 &ingest->words[FRAME_FIRST_FUNCTION + i]);
	if (r < 0)
		return r;
	ingest->words[FRAME_KIND] = location->kind;
	r = dict_add(ingest->dict, DICT_FRAMES, ingest->words, nr, &id);
	return r < 0 ? r : keep(known, id, ret_new);
}

static int put_stack(struct ingest *ingest, uint32_t old, uint32_t *ret_new)
{
	const struct profile_stack *stack = &ingest->from->stacks[old];
	const uint32_t *locations = ingest->from->stack_locations + stack->first;
	uint32_t *known = &ingest->stacks[old], node[NODE_WORDS] = { 0 }, id = 0;
	int r = 0;

	if (*known)
		return keep(known, *known - 1, ret_new);
	for (size_t i = stack->nr; r == 0 && i-- > 0;) {
		node[NODE_PARENT] = id;
		r = put_frame(ingest, locations[i], &node[NODE_FRAME]);
		if (r == 0)
			r = dict_add(ingest->dict, DICT_NODES, node, NODE_WORDS, &id);
	}
	return r < 0 ? r : keep(known, id, ret_new);
}

static int put_resource(struct ingest *ingest, uint32_t old, uint32_t *ret_new)
{
	const struct profile_resource *resource = &ingest->from->resources[old];
	const struct profile_attribute *attributes = ingest->from->attributes + resource->first;
	uint32_t *known = &ingest->resources[old], id = 0;

	if (*known)
		return keep(known, *known - 1, ret_new);
	int r = array_grow(ingest->words, ingest->cap_words, 2 * resource->nr + 1, SIZE_MAX);
	for (size_t i = 0; r == 0 && i < resource->nr; i++) {
		r = put_string(ingest, attributes[i].key, &ingest->words[2 * i]);
		if (r == 0)
			r = put_string(ingest, attributes[i].value, &ingest->words[2 * i + 1]);
	}
	if (r == 0)
		r = dict_add(ingest->dict, DICT_RESOURCES, ingest->words, 2 * resource->nr, &id);
	return r < 0 ? r : keep(known, id, ret_new);
}

static int put_process(struct ingest *ingest, uint32_t old, uint32_t *ret_new)
{
	const struct profile_process *process = &ingest->from->processes[old];
	uint32_t *known = &ingest->processes[old], id;
	uint32_t words[PROCESS_WORDS] = {
		[PROCESS_PID] = process->pid,
		[PROCESS_START_LOW] = (uint32_t)process->start_ns,
		[PROCESS_START_HIGH] = (uint32_t)(process->start_ns >> 32),
	};
	int r;

	if (*known)
		return keep(known, *known - 1, ret_new);
	if ((r = put_string(ingest, process->path, &words[PROCESS_PATH])) < 0 ||
	    (r = put_string(ingest, process->name, &words[PROCESS_NAME])) < 0 ||
	    (r = dict_add(ingest->dict, DICT_PROCESSES, words, PROCESS_WORDS, &id)) < 0)
		return r;
	return keep(known, id, ret_new);
}

/* Adds the program of a process: what all processes that run it have in common. */
static int put_program(struct ingest *ingest, uint32_t old, uint32_t *ret_new)
{
	const struct profile_process *process = &ingest->from->processes[old];
	uint32_t words[PROCESS_WORDS] = { 0 };
	int r;

	if ((r = put_string(ingest, process->path, &words[PROCESS_PATH])) < 0 ||
	    (r = put_string(ingest, process->name, &words[PROCESS_NAME])) < 0)
		return r;
	return dict_add(ingest->dict, DICT_PROCESSES, words, PROCESS_WORDS, ret_new);
}

int ingest_program(struct ingest *ingest, const struct profile_sample *sample, uint32_t *ret_labels)
{
	uint32_t words[LABELS_WORDS] = {
		[LABELS_CGROUP_LOW] = (uint32_t)sample->cgroup_id,
		[LABELS_CGROUP_HIGH] = (uint32_t)(sample->cgroup_id >> 32),
	};
	int r;

	if ((r = put_resource(ingest, sample->resource, &words[LABELS_RESOURCE])) < 0 ||
	    (r = put_program(ingest, sample->process, &words[LABELS_PROCESS])) < 0 ||
	    (r = put_string(ingest, sample->process_comm, &words[LABELS_PROCESS_COMM])) < 0)
		return r;
	return dict_add(ingest->dict, DICT_LABELS, words, LABELS_WORDS, ret_labels);
}

static int put_labels(struct ingest *ingest, const struct profile_sample *sample, bool with_cpu,
		      uint32_t *ret_labels)
{
	uint32_t words[LABELS_WORDS] = {
		[LABELS_PID] = sample->pid,
		[LABELS_CGROUP_LOW] = (uint32_t)sample->cgroup_id,
		[LABELS_CGROUP_HIGH] = (uint32_t)(sample->cgroup_id >> 32),
		[LABELS_CPU] = with_cpu ? sample->cpu + 1 : 0,
		[LABELS_REASON] = sample->reason,
	};
	int r;

	if ((r = put_resource(ingest, sample->resource, &words[LABELS_RESOURCE])) < 0 ||
	    (r = put_process(ingest, sample->process, &words[LABELS_PROCESS])) < 0 ||
	    (r = put_string(ingest, sample->process_comm, &words[LABELS_PROCESS_COMM])) < 0 ||
	    (r = put_string(ingest, sample->thread_comm, &words[LABELS_THREAD_COMM])) < 0)
		return r;
	return dict_add(ingest->dict, DICT_LABELS, words, LABELS_WORDS, ret_labels);
}

static int put_sample(struct ingest *ingest, struct block_rows *rows,
		      const struct profile_sample *sample, uint32_t second, bool with_cpu)
{
	struct block_row row = { .second = second, .value = stored_value(ingest->from, sample) };
	int r;

	if ((r = put_labels(ingest, sample, with_cpu, &row.labels)) < 0 ||
	    (r = put_stack(ingest, sample->stack, &row.node)) < 0 ||
	    (r = array_grow(rows->items, rows->cap, rows->nr + 1, rows->max)) < 0)
		return r;
	rows->items[rows->nr++] = row;
	return 0;
}

/* The functions that are looked up together. */
struct function_batch {
	uint32_t words[WORD_TABLE_BATCH * FUNCTION_WORDS];
	size_t starts[WORD_TABLE_BATCH + 1];
	uint32_t old[WORD_TABLE_BATCH];
	size_t nr;
};

static void find_batch(struct ingest *ingest, struct function_batch *batch)
{
	uint32_t ids[WORD_TABLE_BATCH];

	word_table_find_all(&ingest->dict->tables[DICT_FUNCTIONS], batch->words, batch->starts,
			    batch->nr, ids);
	for (size_t i = 0; i < batch->nr; i++)
		if (ids[i] != WORD_TABLE_NONE)
			ingest->functions[batch->old[i]] = ids[i] + 1;
	batch->nr = 0;
}

/* Most strings and functions of a second are known from those before. Looked up one by one, they
 * would take most of the time, in which the CPU waits for memory. */
static void find_known(struct ingest *ingest)
{
	const struct profile *from = ingest->from;
	const uint32_t *strings = ingest->strings;
	struct function_batch batch = { .nr = 0 };

	dict_find_strings(ingest->dict, from->strings.strings, from->strings.nr_strings,
			  ingest->strings);
	for (uint32_t i = 0; i < from->nr_functions; i++) {
		const struct profile_function *function = &from->functions[i];
		uint32_t *words = batch.words + batch.nr * FUNCTION_WORDS;

		if (!strings[function->name] || !strings[function->system_name] ||
		    !strings[function->filename])
			continue;
		words[FUNCTION_NAME] = strings[function->name] - 1;
		words[FUNCTION_SYSTEM_NAME] = strings[function->system_name] - 1;
		words[FUNCTION_FILENAME] = strings[function->filename] - 1;
		words[FUNCTION_START_LINE] = function->start_line;
		batch.old[batch.nr++] = i;
		batch.starts[batch.nr] = batch.nr * FUNCTION_WORDS;
		if (batch.nr == WORD_TABLE_BATCH)
			find_batch(ingest, &batch);
	}
	find_batch(ingest, &batch);
}

int ingest_profile(struct dict *dict, struct block_rows *rows, const struct profile *profile,
		   uint32_t second, bool with_cpu, uint64_t *lost)
{
	_cleanup_(ingest_done) struct ingest ingest;
	int first_error = ingest_init(&ingest, dict, profile);

	if (first_error < 0) {
		*lost += stored_nr_samples(profile);
		return first_error;
	}
	find_known(&ingest);
	for (size_t i = 0; i < profile->nr_samples; i++) {
		int r = put_sample(&ingest, rows, &profile->samples[i], second, with_cpu);

		if (r < 0) {
			*lost += stored_weight(profile, &profile->samples[i]);
			first_error = first_error ? first_error : r;
		}
	}
	return first_error;
}
