/* SPDX-License-Identifier: Apache-2.0 */
/* Adds a sealed profile to a builder.
 *
 * Both sides number their elements on their own, so every number is translated on the way:
 *
 *	sample ─▶ stack ─▶ location ─▶ mapping, lines ─▶ function ─▶ string
 *	   └────▶ resource, process, comm
 *
 * The translation of each element is remembered in an array as long as its table; an element is
 * looked up in the builder once, however many samples lead to it, and one that no sample leads
 * to not at all. When the builder is full, samples made of known elements still get in and the
 * others are counted as lost. */
#include "profile/merge.h"

#include "base/array.h"
#include "base/hash.h"
#include "base/htable.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static_assert(sizeof(struct profile_mapping) == 40, "gap in struct profile_mapping");

/* Translations hold the new number + 1; 0 stands for "not asked yet". */
struct merge {
	struct builder *to; /* borrowed */
	const struct profile *from; /* borrowed */
	uint32_t *numbers; /* owned; the memory of the following */
	uint32_t *strings;
	uint32_t *mappings;
	uint32_t *functions;
	uint32_t *locations;
	uint32_t *stacks;
	uint32_t *resources;
	uint32_t *processes;
	struct htable known_mappings; /* of the builder, by content */
	uint32_t *stack; /* owned; the translated stack */
	size_t cap_stack;
	struct profile_line *lines; /* owned; those of a location, translated */
	size_t cap_lines;
	struct attribute *attributes; /* owned; those of a resource */
	size_t cap_attributes;
};

static void merge_done(struct merge *merge)
{
	free(merge->numbers);
	free(merge->stack);
	free(merge->lines);
	free(merge->attributes);
	htable_done(&merge->known_mappings);
}

static int know_mapping(struct merge *merge, uint32_t mapping)
{
	const struct profile_mapping *content = &builder_peek(merge->to)->mappings[mapping];

	return htable_add(&merge->known_mappings, hash_bytes(content, sizeof(*content)), mapping);
}

static int merge_init(struct merge *merge, struct builder *to, const struct profile *from)
{
	*merge = (struct merge){ .to = to, .from = from };
	merge->numbers = calloc(from->strings.nr_strings + from->nr_mappings + from->nr_functions +
					from->nr_locations + from->nr_stacks + from->nr_resources +
					from->nr_processes,
				sizeof(*merge->numbers));
	if (!merge->numbers)
		return -ENOMEM;
	merge->strings = merge->numbers;
	merge->mappings = merge->strings + from->strings.nr_strings;
	merge->functions = merge->mappings + from->nr_mappings;
	merge->locations = merge->functions + from->nr_functions;
	merge->stacks = merge->locations + from->nr_locations;
	merge->resources = merge->stacks + from->nr_stacks;
	merge->processes = merge->resources + from->nr_resources;

	for (size_t i = 0; i < builder_peek(to)->nr_mappings; i++) {
		int r = know_mapping(merge, (uint32_t)i);
		if (r < 0)
			return r;
	}
	return 0;
}

static int translate_string(struct merge *merge, uint32_t old, uint32_t *ret_new)
{
	uint32_t *known = &merge->strings[old];

	if (!*known) {
		int r = builder_add_string(merge->to, profile_string(merge->from, old), ret_new);
		if (r < 0)
			return r;
		*known = *ret_new + 1;
	}
	*ret_new = *known - 1;
	return 0;
}

static int add_mapping(struct merge *merge, const struct profile_mapping *mapping,
		       uint32_t *ret_new)
{
	uint32_t hash = hash_bytes(mapping, sizeof(*mapping));
	uint32_t new;

	struct htable_iter it = htable_lookup(&merge->known_mappings, hash);
	while (htable_next(&it, &new)) {
		if (memcmp(&builder_peek(merge->to)->mappings[new], mapping, sizeof(*mapping)) ==
		    0) {
			*ret_new = new;
			return 0;
		}
	}

	int r = builder_add_mapping(merge->to, mapping, &new);
	if (r < 0)
		return r;
	r = know_mapping(merge, new);
	if (r < 0)
		return r;
	*ret_new = new;
	return 0;
}

static int translate_mapping(struct merge *merge, uint32_t old, uint32_t *ret_new)
{
	struct profile_mapping mapping = merge->from->mappings[old];
	uint32_t *known = &merge->mappings[old];
	int r;

	if (!*known) {
		if ((r = translate_string(merge, mapping.filename, &mapping.filename)) < 0 ||
		    (r = translate_string(merge, mapping.build_id, &mapping.build_id)) < 0 ||
		    (r = translate_string(merge, mapping.go_build_id, &mapping.go_build_id)) < 0 ||
		    (r = translate_string(merge, mapping.htlhash, &mapping.htlhash)) < 0 ||
		    (r = add_mapping(merge, &mapping, ret_new)) < 0)
			return r;
		*known = *ret_new + 1;
	}
	*ret_new = *known - 1;
	return 0;
}

static int translate_function(struct merge *merge, uint32_t old, uint32_t *ret_new)
{
	struct profile_function function = merge->from->functions[old];
	uint32_t *known = &merge->functions[old];
	int r;

	if (!*known) {
		if ((r = translate_string(merge, function.name, &function.name)) < 0 ||
		    (r = translate_string(merge, function.system_name, &function.system_name)) <
			    0 ||
		    (r = translate_string(merge, function.filename, &function.filename)) < 0 ||
		    (r = builder_add_function(merge->to, &function, ret_new)) < 0)
			return r;
		*known = *ret_new + 1;
	}
	*ret_new = *known - 1;
	return 0;
}

static int translate_lines(struct merge *merge, const struct profile_location *location)
{
	const struct profile_line *old = profile_location_lines(merge->from, location);

	int r = 0;

	if (location->nr_lines > merge->cap_lines)
		r = array_grow(merge->lines, merge->cap_lines, location->nr_lines, SIZE_MAX);
	for (uint32_t i = 0; r == 0 && i < location->nr_lines; i++) {
		merge->lines[i].line = old[i].line;
		r = translate_function(merge, old[i].function, &merge->lines[i].function);
	}
	return r;
}

static int translate_location(struct merge *merge, uint32_t old, uint32_t *ret_new)
{
	struct profile_location location = merge->from->locations[old];
	uint32_t *known = &merge->locations[old];
	int r;

	if (!*known) {
		if ((r = translate_mapping(merge, location.mapping, &location.mapping)) < 0 ||
		    (r = translate_lines(merge, &location)) < 0 ||
		    (r = builder_add_named_location(merge->to, &location, merge->lines,
						    location.nr_lines, ret_new)) < 0)
			return r;
		*known = *ret_new + 1;
	}
	*ret_new = *known - 1;
	return 0;
}

static int add_stack(struct merge *merge, const struct profile_stack *stack, uint32_t *ret_new)
{
	int r = array_grow(merge->stack, merge->cap_stack, stack->nr, SIZE_MAX);
	if (r < 0)
		return r;
	for (size_t i = 0; i < stack->nr; i++) {
		uint32_t old = merge->from->stack_locations[stack->first + i];

		r = translate_location(merge, old, &merge->stack[i]);
		if (r < 0)
			return r;
	}
	return builder_add_stack(merge->to, merge->stack, stack->nr, ret_new);
}

static int translate_stack(struct merge *merge, uint32_t old, uint32_t *ret_new)
{
	uint32_t *known = &merge->stacks[old];

	if (!*known) {
		int r = add_stack(merge, &merge->from->stacks[old], ret_new);
		if (r < 0)
			return r;
		*known = *ret_new + 1;
	}
	*ret_new = *known - 1;
	return 0;
}

static int add_resource(struct merge *merge, const struct profile_resource *resource,
			uint32_t *ret_new)
{
	int r = array_grow(merge->attributes, merge->cap_attributes, resource->nr, SIZE_MAX);
	if (r < 0)
		return r;
	for (size_t i = 0; i < resource->nr; i++) {
		const struct profile_attribute *old = &merge->from->attributes[resource->first + i];

		merge->attributes[i] = (struct attribute){
			.key = profile_string(merge->from, old->key),
			.value = profile_string(merge->from, old->value),
		};
	}
	return builder_add_resource(merge->to, merge->attributes, resource->nr, ret_new);
}

static int translate_resource(struct merge *merge, uint32_t old, uint32_t *ret_new)
{
	uint32_t *known = &merge->resources[old];

	if (!*known) {
		int r = add_resource(merge, &merge->from->resources[old], ret_new);
		if (r < 0)
			return r;
		*known = *ret_new + 1;
	}
	*ret_new = *known - 1;
	return 0;
}

static int translate_process(struct merge *merge, uint32_t old, uint32_t *ret_new)
{
	struct profile_process process = merge->from->processes[old];
	uint32_t *known = &merge->processes[old];
	int r;

	if (!*known) {
		if ((r = translate_string(merge, process.path, &process.path)) < 0 ||
		    (r = translate_string(merge, process.name, &process.name)) < 0 ||
		    (r = builder_add_process(merge->to, &process, ret_new)) < 0)
			return r;
		*known = *ret_new + 1;
	}
	*ret_new = *known - 1;
	return 0;
}

static int merge_sample(struct merge *merge, struct profile_sample sample)
{
	int r;

	if ((r = translate_stack(merge, sample.stack, &sample.stack)) < 0 ||
	    (r = translate_resource(merge, sample.resource, &sample.resource)) < 0 ||
	    (r = translate_process(merge, sample.process, &sample.process)) < 0 ||
	    (r = translate_string(merge, sample.process_comm, &sample.process_comm)) < 0 ||
	    (r = translate_string(merge, sample.thread_comm, &sample.thread_comm)) < 0)
		return r;
	if (builder_drops_times(merge->to))
		sample.time_ns = 0;
	return builder_add_sample(merge->to, &sample);
}

/* Returns the first error and adds the counts of all samples that had one. */
static int merge_samples(struct merge *merge, uint64_t *lost)
{
	int first_error = 0;

	for (size_t i = 0; i < merge->from->nr_samples; i++) {
		int r = merge_sample(merge, merge->from->samples[i]);
		if (r < 0) {
			*lost += merge->from->samples[i].count;
			first_error = first_error ? first_error : r;
		}
	}
	return first_error;
}

static int merge_whole(struct builder *builder, const struct profile *profile, uint64_t *lost)
{
	_cleanup_(merge_done) struct merge merge;

	int r = merge_init(&merge, builder, profile);
	if (r == 0)
		r = builder_join(builder, profile);
	if (r < 0) {
		*lost = profile_total(profile);
		return r;
	}
	return merge_samples(&merge, lost);
}

int merge_profile(struct builder *builder, const struct profile *profile, uint64_t *ret_lost)
{
	uint64_t lost = 0;
	int r = merge_whole(builder, profile, &lost);

	/* Set on failure as well, unlike other results: it counts the lost samples. */
	if (ret_lost)
		*ret_lost = lost;
	return r;
}
