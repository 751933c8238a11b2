/* SPDX-License-Identifier: Apache-2.0 */
/* Both sides number their elements on their own, so every number is translated on the way:
 *
 *	sample ─▶ stack ─▶ location ─▶ mapping, lines ─▶ function ─▶ string
 *	   └────▶ resource, process, comm
 *
 * The translation of each element is remembered in an array as long as its table; an element is
 * looked up in the builder once, however many samples lead to it, and one that no sample leads
 * to not at all. */
#include "profile/copier.h"

#include "base/array.h"
#include "base/hash.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static_assert(sizeof(struct profile_mapping) == 40, "gap in struct profile_mapping");

void copier_done(struct copier *copier)
{
	free(copier->numbers);
	free(copier->stack);
	free(copier->lines);
	free(copier->attributes);
	htable_done(&copier->known_mappings);
}

static int know_mapping(struct copier *copier, uint32_t mapping)
{
	const struct profile_mapping *content = &builder_peek(copier->to)->mappings[mapping];

	return htable_add(&copier->known_mappings, hash_bytes(content, sizeof(*content)), mapping);
}

int copier_init(struct copier *copier, struct builder *to, const struct profile *from)
{
	*copier = (struct copier){ .to = to, .from = from };
	copier->numbers = calloc(from->strings.nr_strings + from->nr_mappings + from->nr_functions +
					 from->nr_locations + from->nr_stacks + from->nr_resources +
					 from->nr_processes,
				 sizeof(*copier->numbers));
	if (!copier->numbers)
		return -ENOMEM;
	copier->strings = copier->numbers;
	copier->mappings = copier->strings + from->strings.nr_strings;
	copier->functions = copier->mappings + from->nr_mappings;
	copier->locations = copier->functions + from->nr_functions;
	copier->stacks = copier->locations + from->nr_locations;
	copier->resources = copier->stacks + from->nr_stacks;
	copier->processes = copier->resources + from->nr_resources;

	for (size_t i = 0; i < builder_peek(to)->nr_mappings; i++) {
		int r = know_mapping(copier, (uint32_t)i);
		if (r < 0)
			return r;
	}
	return 0;
}

static int translate_string(struct copier *copier, uint32_t old, uint32_t *ret_new)
{
	uint32_t *known = &copier->strings[old];

	if (!*known) {
		int r = builder_add_string(copier->to, profile_string(copier->from, old), ret_new);
		if (r < 0)
			return r;
		*known = *ret_new + 1;
	}
	*ret_new = *known - 1;
	return 0;
}

static int find_mapping(struct copier *copier, const struct profile_mapping *mapping,
			uint32_t *ret_new)
{
	uint32_t hash = hash_bytes(mapping, sizeof(*mapping));
	uint32_t new;

	struct htable_iter it = htable_lookup(&copier->known_mappings, hash);
	while (htable_next(&it, &new)) {
		if (memcmp(&builder_peek(copier->to)->mappings[new], mapping, sizeof(*mapping)) ==
		    0) {
			*ret_new = new;
			return 0;
		}
	}

	int r = builder_add_mapping(copier->to, mapping, &new);
	if (r < 0)
		return r;
	r = know_mapping(copier, new);
	if (r < 0)
		return r;
	*ret_new = new;
	return 0;
}

int copier_add_mapping(struct copier *copier, uint32_t old, uint32_t *ret_new)
{
	struct profile_mapping mapping = copier->from->mappings[old];
	uint32_t *known = &copier->mappings[old];
	int r;

	if (!*known) {
		if ((r = translate_string(copier, mapping.filename, &mapping.filename)) < 0 ||
		    (r = translate_string(copier, mapping.build_id, &mapping.build_id)) < 0 ||
		    (r = translate_string(copier, mapping.go_build_id, &mapping.go_build_id)) < 0 ||
		    (r = translate_string(copier, mapping.htlhash, &mapping.htlhash)) < 0 ||
		    (r = find_mapping(copier, &mapping, ret_new)) < 0)
			return r;
		*known = *ret_new + 1;
	}
	*ret_new = *known - 1;
	return 0;
}

int copier_add_function(struct copier *copier, uint32_t old, uint32_t *ret_new)
{
	struct profile_function function = copier->from->functions[old];
	uint32_t *known = &copier->functions[old];
	int r;

	if (!*known) {
		if ((r = translate_string(copier, function.name, &function.name)) < 0 ||
		    (r = translate_string(copier, function.system_name, &function.system_name)) <
			    0 ||
		    (r = translate_string(copier, function.filename, &function.filename)) < 0 ||
		    (r = builder_add_function(copier->to, &function, ret_new)) < 0)
			return r;
		*known = *ret_new + 1;
	}
	*ret_new = *known - 1;
	return 0;
}

static int translate_lines(struct copier *copier, const struct profile_location *location)
{
	const struct profile_line *old = profile_location_lines(copier->from, location);

	int r = 0;

	if (location->nr_lines > copier->cap_lines)
		r = array_grow(copier->lines, copier->cap_lines, location->nr_lines, SIZE_MAX);
	for (uint32_t i = 0; r == 0 && i < location->nr_lines; i++) {
		copier->lines[i].line = old[i].line;
		r = copier_add_function(copier, old[i].function, &copier->lines[i].function);
	}
	return r;
}

int copier_add_location(struct copier *copier, uint32_t old, uint32_t *ret_new)
{
	struct profile_location location = copier->from->locations[old];
	uint32_t *known = &copier->locations[old];
	int r;

	if (!*known) {
		if ((r = copier_add_mapping(copier, location.mapping, &location.mapping)) < 0 ||
		    (r = translate_lines(copier, &location)) < 0 ||
		    (r = builder_add_named_location(copier->to, &location, copier->lines,
						    location.nr_lines, ret_new)) < 0)
			return r;
		*known = *ret_new + 1;
	}
	*ret_new = *known - 1;
	return 0;
}

static int add_stack(struct copier *copier, const struct profile_stack *stack, uint32_t *ret_new)
{
	int r = array_grow(copier->stack, copier->cap_stack, stack->nr, SIZE_MAX);
	if (r < 0)
		return r;
	for (size_t i = 0; i < stack->nr; i++) {
		uint32_t old = copier->from->stack_locations[stack->first + i];

		r = copier_add_location(copier, old, &copier->stack[i]);
		if (r < 0)
			return r;
	}
	return builder_add_stack(copier->to, copier->stack, stack->nr, ret_new);
}

int copier_add_stack(struct copier *copier, uint32_t old, uint32_t *ret_new)
{
	uint32_t *known = &copier->stacks[old];

	if (!*known) {
		int r = add_stack(copier, &copier->from->stacks[old], ret_new);
		if (r < 0)
			return r;
		*known = *ret_new + 1;
	}
	*ret_new = *known - 1;
	return 0;
}

static int add_resource(struct copier *copier, const struct profile_resource *resource,
			uint32_t *ret_new)
{
	int r = array_grow(copier->attributes, copier->cap_attributes, resource->nr, SIZE_MAX);
	if (r < 0)
		return r;
	for (size_t i = 0; i < resource->nr; i++) {
		const struct profile_attribute *old =
			&copier->from->attributes[resource->first + i];

		copier->attributes[i] = (struct attribute){
			.key = profile_string(copier->from, old->key),
			.value = profile_string(copier->from, old->value),
		};
	}
	return builder_add_resource(copier->to, copier->attributes, resource->nr, ret_new);
}

static int translate_resource(struct copier *copier, uint32_t old, uint32_t *ret_new)
{
	uint32_t *known = &copier->resources[old];

	if (!*known) {
		int r = add_resource(copier, &copier->from->resources[old], ret_new);
		if (r < 0)
			return r;
		*known = *ret_new + 1;
	}
	*ret_new = *known - 1;
	return 0;
}

static int translate_process(struct copier *copier, uint32_t old, uint32_t *ret_new)
{
	struct profile_process process = copier->from->processes[old];
	uint32_t *known = &copier->processes[old];
	int r;

	if (!*known) {
		if ((r = translate_string(copier, process.path, &process.path)) < 0 ||
		    (r = translate_string(copier, process.name, &process.name)) < 0 ||
		    (r = builder_add_process(copier->to, &process, ret_new)) < 0)
			return r;
		*known = *ret_new + 1;
	}
	*ret_new = *known - 1;
	return 0;
}

int copier_add_sample(struct copier *copier, struct profile_sample sample)
{
	int r;

	if ((r = translate_resource(copier, sample.resource, &sample.resource)) < 0 ||
	    (r = translate_process(copier, sample.process, &sample.process)) < 0 ||
	    (r = translate_string(copier, sample.process_comm, &sample.process_comm)) < 0 ||
	    (r = translate_string(copier, sample.thread_comm, &sample.thread_comm)) < 0)
		return r;
	if (builder_drops_times(copier->to))
		sample.time_ns = 0;
	return builder_add_sample(copier->to, &sample);
}
