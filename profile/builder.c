/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of a profile under construction, each with an index from content to row.
 *
 * A sample costs one lookup for its stack and one for itself; when both are known nothing is
 * allocated and one counter goes up. Rows are in plain arrays, the indexes (base/htable.h)
 * hold only hash and row number, so nothing is allocated for a single element.
 *
 * Adding a row always goes the same way, so that a failure leaves the tables as they were:
 *
 *	find an equal row ─▶ make room in the array ─▶ row_budget_book() ─▶ write the row, count it
 *
 * row_budget_book() is the last step that can fail. It files the row in the index and charges its
 * bytes to the budget: what the row takes and its share of the index. Arrays double, so up to as
 * much again may be reserved, but the system gives no memory for pages that were never written.
 *
 * Some rows are not indexed: mappings, because what they are is only known later; location 0,
 * because a jump to address 0 outside of all files is a real location and not "none"; and
 * samples once they have their resource, which is why no sample may be added after
 * builder_set_resource(). */
#include "profile/builder.h"

#include "base/array.h"
#include "base/hash.h"
#include "base/htable.h"
#include "base/minmax.h"
#include "profile/location_rows.h"
#include "profile/row_budget.h"

#include <assert.h>
#include <string.h>

/* These are hashed and compared as bytes, so they must have no gaps. */
static_assert(PROFILE_SAMPLE_KEY_BYTES == 52, "gap in struct profile_sample");
static_assert(sizeof(struct profile_function) == 16, "gap in struct profile_function");
static_assert(sizeof(struct profile_attribute) == 8, "gap in struct profile_attribute");

struct builder {
	struct profile *profile; /* owned until sealed */
	struct row_budget budget;
	struct htable functions;
	struct location_rows locations;
	struct htable stacks;
	struct htable resources;
	struct htable processes;
	struct htable samples;
	bool has_type; /* builder_set_type() was called */
	bool has_time; /* builder_set_time() was called */
	bool drops_times; /* builder_drop_times() was called */
};

/* Element 0 of the tables whose empty element is all zeros. None is charged. */
static int add_zero_elements(struct profile *p)
{
	int r;

	if ((r = array_grow(p->mappings, p->cap_mappings, 1, ROWS_MAX)) < 0 ||
	    (r = array_grow(p->functions, p->cap_functions, 1, ROWS_MAX)) < 0 ||
	    (r = array_grow(p->lines, p->cap_lines, 1, ROWS_MAX)) < 0 ||
	    (r = array_grow(p->locations, p->cap_locations, 1, ROWS_MAX)) < 0 ||
	    (r = array_grow(p->stacks, p->cap_stacks, 1, ROWS_MAX)) < 0 ||
	    (r = array_grow(p->resources, p->cap_resources, 1, ROWS_MAX)) < 0 ||
	    (r = array_grow(p->processes, p->cap_processes, 1, ROWS_MAX)) < 0)
		return r;

	p->mappings[p->nr_mappings++] = (struct profile_mapping){ 0 };
	p->functions[p->nr_functions++] = (struct profile_function){ 0 };
	p->lines[p->nr_lines++] = (struct profile_line){ 0 };
	p->locations[p->nr_locations++] = (struct profile_location){ 0 };
	p->stacks[p->nr_stacks++] = (struct profile_stack){ 0 };
	p->resources[p->nr_resources++] = (struct profile_resource){ 0 };
	p->processes[p->nr_processes++] = (struct profile_process){ 0 };
	return 0;
}

static int index_zero_elements(struct builder *builder)
{
	const struct profile_function none = { 0 };
	uint32_t nothing = hash_bytes("", 0);

	int r = htable_add(&builder->functions, hash_bytes(&none, sizeof(none)), 0);
	if (r == 0)
		r = htable_add(&builder->stacks, nothing, 0);
	return r < 0 ? r : htable_add(&builder->resources, nothing, 0);
}

int builder_new(size_t max_bytes, struct builder **ret_builder)
{
	_cleanup_(builder_freep) struct builder *builder = calloc(1, sizeof(*builder));
	if (!builder)
		return -ENOMEM;

	builder->budget.max_bytes = max_bytes;
	builder->profile = calloc(1, sizeof(*builder->profile));
	if (!builder->profile)
		return -ENOMEM;
	builder->profile->nr_refs = 1;
	builder->locations.profile = builder->profile;
	builder->locations.budget = &builder->budget;

	int r = intern_init(&builder->profile->strings, ROWS_MAX, 0);
	if (r == 0)
		r = add_zero_elements(builder->profile);
	if (r == 0)
		r = index_zero_elements(builder);
	if (r < 0)
		return r;
	*ret_builder = take_ptr(builder);
	return 0;
}

void builder_free(struct builder *builder)
{
	if (!builder)
		return;
	profile_unref(builder->profile);
	htable_done(&builder->functions);
	location_rows_done(&builder->locations);
	htable_done(&builder->stacks);
	htable_done(&builder->resources);
	htable_done(&builder->processes);
	htable_done(&builder->samples);
	free(builder);
}

void builder_set_room(struct builder *builder, size_t bytes)
{
	builder->budget.max_bytes = builder->budget.nr_bytes + bytes;
}

size_t builder_bytes(const struct builder *builder)
{
	return builder->budget.nr_bytes;
}

const struct profile *builder_peek(const struct builder *builder)
{
	return builder->profile;
}

/* Finds an existing string, when the budget is used up. */
static int find_string(const struct intern *strings, const char *text, uint32_t *ret_id)
{
	struct htable_iter it = htable_lookup(&strings->index, hash_bytes(text, strlen(text)));

	for (uint32_t id; htable_next(&it, &id);) {
		if (strcmp(intern_get(strings, id), text) == 0) {
			*ret_id = id;
			return 0;
		}
	}
	return -ENOSPC;
}

int builder_add_string(struct builder *builder, const char *text, uint32_t *ret_id)
{
	struct intern *strings = &builder->profile->strings;
	size_t bytes = strlen(text) + 1 + sizeof(*strings->strings) + ROW_INDEX_BYTES;
	size_t nr_before = strings->nr_strings;

	if (!row_budget_has_room(&builder->budget, bytes))
		return find_string(strings, text, ret_id);

	int r = intern_add(strings, text, ret_id);
	if (r < 0)
		return r;
	if (strings->nr_strings > nr_before)
		builder->budget.nr_bytes += bytes;
	return 0;
}

int builder_add_mapping(struct builder *builder, const struct profile_mapping *mapping,
			uint32_t *ret_id)
{
	struct profile *p = builder->profile;

	if (!row_budget_has_room(&builder->budget, sizeof(*mapping)))
		return -ENOSPC;
	int r = array_grow(p->mappings, p->cap_mappings, p->nr_mappings + 1, ROWS_MAX);
	if (r < 0)
		return r;

	builder->budget.nr_bytes += sizeof(*mapping);
	p->mappings[p->nr_mappings] = *mapping;
	*ret_id = (uint32_t)p->nr_mappings++;
	return 0;
}

int builder_add_function(struct builder *builder, const struct profile_function *function,
			 uint32_t *ret_id)
{
	struct profile *p = builder->profile;
	uint32_t hash = hash_bytes(function, sizeof(*function));

	struct htable_iter it = htable_lookup(&builder->functions, hash);
	for (uint32_t id; htable_next(&it, &id);) {
		if (memcmp(&p->functions[id], function, sizeof(*function)) == 0) {
			*ret_id = id;
			return 0;
		}
	}

	int r = array_grow(p->functions, p->cap_functions, p->nr_functions + 1, ROWS_MAX);
	if (r == 0)
		r = row_budget_book(&builder->budget, &builder->functions, hash, p->nr_functions,
				    sizeof(*function));
	if (r < 0)
		return r;
	p->functions[p->nr_functions] = *function;
	*ret_id = (uint32_t)p->nr_functions++;
	return 0;
}

int builder_add_location(struct builder *builder, const struct profile_location *location,
			 uint32_t *ret_id)
{
	return location_rows_add(&builder->locations, location, ret_id);
}

int builder_add_named_location(struct builder *builder, const struct profile_location *location,
			       const struct profile_line *lines, size_t nr, uint32_t *ret_id)
{
	return location_rows_add_named(&builder->locations, location, lines, nr, ret_id);
}

int builder_set_lines(struct builder *builder, uint32_t location, enum frame_kind kind,
		      const struct profile_line *lines, size_t nr)
{
	return location_rows_set_lines(&builder->locations, location, kind, lines, nr);
}

void builder_move_location(struct builder *builder, uint32_t location, uint32_t mapping,
			   uint64_t address)
{
	struct profile_location *moved = &builder->profile->locations[location];

	moved->mapping = mapping;
	moved->address = address;
}

static bool find_stack(const struct builder *builder, const uint32_t *locations, size_t nr,
		       uint32_t hash, uint32_t *ret_id)
{
	const struct profile *p = builder->profile;
	struct htable_iter it = htable_lookup(&builder->stacks, hash);

	for (uint32_t id; htable_next(&it, &id);) {
		const struct profile_stack *stack = &p->stacks[id];

		if (stack->nr == nr &&
		    (nr == 0 || memcmp(p->stack_locations + stack->first, locations,
				       nr * sizeof(*locations)) == 0)) {
			*ret_id = id;
			return true;
		}
	}
	return false;
}

int builder_add_stack(struct builder *builder, const uint32_t *locations, size_t nr,
		      uint32_t *ret_id)
{
	struct profile *p = builder->profile;
	size_t bytes = nr * sizeof(*locations);
	uint32_t hash = hash_bytes(locations, bytes);

	if (find_stack(builder, locations, nr, hash, ret_id))
		return 0;

	int r = array_grow(p->stack_locations, p->cap_stack_locations, p->nr_stack_locations + nr,
			   ROWS_MAX);
	if (r == 0)
		r = array_grow(p->stacks, p->cap_stacks, p->nr_stacks + 1, ROWS_MAX);
	if (r == 0)
		r = row_budget_book(&builder->budget, &builder->stacks, hash, p->nr_stacks,
				    sizeof(*p->stacks) + bytes);
	if (r < 0)
		return r;

	memcpy(p->stack_locations + p->nr_stack_locations, locations, bytes);
	p->stacks[p->nr_stacks] = (struct profile_stack){ p->nr_stack_locations, nr };
	p->nr_stack_locations += nr;
	*ret_id = (uint32_t)p->nr_stacks++;
	return 0;
}

void builder_prefetch_stack(const struct builder *builder, const uint32_t *locations, size_t nr)
{
	htable_prefetch(&builder->stacks, hash_bytes(locations, nr * sizeof(*locations)));
}

/* Writes the attributes after the last one without counting them. Returns their number. */
static int stage_attributes(struct builder *builder, const struct attribute *attributes, size_t nr)
{
	struct profile *p = builder->profile;
	int nr_staged = 0;

	int r = array_grow(p->attributes, p->cap_attributes, p->nr_attributes + nr, ROWS_MAX);
	if (r < 0)
		return r;
	for (size_t i = 0; i < nr; i++) {
		struct profile_attribute *staged = &p->attributes[p->nr_attributes + nr_staged];

		if (!attributes[i].value || !*attributes[i].value)
			continue;
		r = builder_add_string(builder, attributes[i].key, &staged->key);
		if (r < 0)
			return r;
		r = builder_add_string(builder, attributes[i].value, &staged->value);
		if (r < 0)
			return r;
		nr_staged++;
	}
	return nr_staged;
}

/* Finds a resource with the staged attributes. */
static bool find_resource(const struct builder *builder, size_t nr_staged, uint32_t hash,
			  uint32_t *ret_id)
{
	const struct profile *p = builder->profile;
	struct htable_iter it = htable_lookup(&builder->resources, hash);

	for (uint32_t id; htable_next(&it, &id);) {
		const struct profile_resource *resource = &p->resources[id];

		if (resource->nr == nr_staged &&
		    (nr_staged == 0 ||
		     memcmp(p->attributes + resource->first, p->attributes + p->nr_attributes,
			    nr_staged * sizeof(*p->attributes)) == 0)) {
			*ret_id = id;
			return true;
		}
	}
	return false;
}

int builder_add_resource(struct builder *builder, const struct attribute *attributes, size_t nr,
			 uint32_t *ret_id)
{
	struct profile *p = builder->profile;

	int nr_staged = stage_attributes(builder, attributes, nr);
	if (nr_staged < 0)
		return nr_staged;
	size_t bytes = (size_t)nr_staged * sizeof(*p->attributes);
	uint32_t hash = hash_bytes(nr_staged ? p->attributes + p->nr_attributes : NULL, bytes);
	if (find_resource(builder, (size_t)nr_staged, hash, ret_id))
		return 0;

	int r = array_grow(p->resources, p->cap_resources, p->nr_resources + 1, ROWS_MAX);
	if (r < 0)
		return r;
	r = row_budget_book(&builder->budget, &builder->resources, hash, p->nr_resources,
			    sizeof(*p->resources) + bytes);
	if (r < 0)
		return r;
	p->resources[p->nr_resources] = (struct profile_resource){ p->nr_attributes,
								   (size_t)nr_staged };
	p->nr_attributes += (size_t)nr_staged;
	*ret_id = (uint32_t)p->nr_resources++;
	return 0;
}

static uint32_t hash_process(const struct profile_process *process)
{
	const uint64_t key[] = {
		process->start_ns,
		(uint64_t)process->pid << 32 | process->path,
		process->name,
	};

	return hash_bytes(key, sizeof(key));
}

static bool is_same_process(const struct profile_process *a, const struct profile_process *b)
{
	return a->start_ns == b->start_ns && a->pid == b->pid && a->path == b->path &&
	       a->name == b->name;
}

static bool find_process(const struct builder *builder, const struct profile_process *process,
			 uint32_t hash, uint32_t *ret_id)
{
	const struct profile *p = builder->profile;
	struct htable_iter it = htable_lookup(&builder->processes, hash);

	if (is_same_process(process, &p->processes[0])) {
		*ret_id = 0;
		return true;
	}
	for (uint32_t id; htable_next(&it, &id);) {
		if (is_same_process(process, &p->processes[id])) {
			*ret_id = id;
			return true;
		}
	}
	return false;
}

void builder_see_process(struct builder *builder, uint32_t process, uint64_t seen_ns)
{
	struct profile_process *known = &builder->profile->processes[process];

	if (process != 0 && seen_ns > known->seen_ns)
		known->seen_ns = seen_ns;
}

int builder_add_process(struct builder *builder, const struct profile_process *process,
			uint32_t *ret_id)
{
	struct profile *p = builder->profile;
	uint32_t hash = hash_process(process);

	if (find_process(builder, process, hash, ret_id)) {
		builder_see_process(builder, *ret_id, process->seen_ns);
		return 0;
	}

	int r = array_grow(p->processes, p->cap_processes, p->nr_processes + 1, ROWS_MAX);
	if (r < 0)
		return r;
	r = row_budget_book(&builder->budget, &builder->processes, hash, p->nr_processes,
			    sizeof(*process));
	if (r < 0)
		return r;
	p->processes[p->nr_processes] = *process;
	*ret_id = (uint32_t)p->nr_processes++;
	return 0;
}

int builder_add_sample(struct builder *builder, const struct profile_sample *sample)
{
	uint32_t nr_joined = sample->nr_joined > 0 ? sample->nr_joined : sample->count > 0;
	struct profile *p = builder->profile;
	uint32_t hash = hash_bytes(sample, PROFILE_SAMPLE_KEY_BYTES);

	struct htable_iter it = htable_lookup(&builder->samples, hash);
	for (uint32_t i; htable_next(&it, &i);) {
		if (memcmp(&p->samples[i], sample, PROFILE_SAMPLE_KEY_BYTES) == 0) {
			p->samples[i].count += sample->count;
			p->samples[i].nr_joined += nr_joined;
			return 0;
		}
	}

	int r = array_grow(p->samples, p->cap_samples, p->nr_samples + 1, ROWS_MAX);
	if (r == 0)
		r = row_budget_book(&builder->budget, &builder->samples, hash, p->nr_samples,
				    sizeof(*sample));
	if (r < 0)
		return r;
	p->samples[p->nr_samples] = *sample;
	p->samples[p->nr_samples++].nr_joined = nr_joined;
	return 0;
}

void builder_prefetch_sample(const struct builder *builder, const struct profile_sample *sample)
{
	htable_prefetch(&builder->samples, hash_bytes(sample, PROFILE_SAMPLE_KEY_BYTES));
}

void builder_set_build_ids(struct builder *builder, uint32_t mapping,
			   const struct profile_mapping *from)
{
	struct profile_mapping *to = &builder->profile->mappings[mapping];

	to->build_id = from->build_id;
	to->go_build_id = from->go_build_id;
	to->htlhash = from->htlhash;
}

uint64_t builder_set_resource(struct builder *builder, uint64_t cgroup_id, uint32_t resource)
{
	struct profile *p = builder->profile;
	uint64_t nr_set = 0;

	for (size_t i = 0; i < p->nr_samples; i++) {
		if (p->samples[i].cgroup_id != cgroup_id)
			continue;
		p->samples[i].resource = resource;
		nr_set += profile_sample_nr_taken(p, &p->samples[i]);
	}
	return nr_set;
}

uint64_t builder_remove_cgroup(struct builder *builder, uint64_t cgroup_id)
{
	struct profile *p = builder->profile;
	uint64_t nr_removed = 0;
	size_t nr_kept = 0;

	for (size_t i = 0; i < p->nr_samples; i++) {
		if (p->samples[i].cgroup_id == cgroup_id)
			nr_removed += profile_sample_nr_taken(p, &p->samples[i]);
		else
			p->samples[nr_kept++] = p->samples[i];
	}
	p->nr_samples = nr_kept;
	slots_remove(&p->slots, nr_removed);
	return nr_removed;
}

void builder_scale(struct builder *builder, uint64_t factor)
{
	for (size_t i = 0; i < builder->profile->nr_samples; i++)
		builder->profile->samples[i].count *= factor;
}

void builder_set_time(struct builder *builder, uint64_t time_unix_ns, uint64_t duration_ns,
		      uint64_t period)
{
	builder->has_time = true;
	builder->profile->time_unix_ns = time_unix_ns;
	builder->profile->duration_ns = duration_ns;
	builder->profile->period = period;
}

void builder_date_samples(struct builder *builder, uint64_t base_ns)
{
	struct profile *p = builder->profile;
	uint64_t last_ns = p->duration_ns ? p->duration_ns - 1 : 0;
	for (size_t i = 0; i < p->nr_samples; i++) {
		uint64_t *time_ns = &p->samples[i].time_ns;
		uint64_t after_ns = *time_ns > base_ns ? *time_ns - base_ns : 0;

		if (*time_ns > 0)
			*time_ns = p->time_unix_ns + min_u64(after_ns, last_ns);
	}
}

void builder_set_type(struct builder *builder, enum profile_type type)
{
	builder->profile->type = type;
	builder->has_type = true;
}

/* Returns whether counts of the profile and of the builder have the same meaning. */
static bool is_alike(const struct builder *builder, const struct profile *from)
{
	const struct profile *to = builder->profile;

	if ((builder->has_type || to->nr_samples > 0) && to->type != from->type)
		return false;
	return to->period == 0 || to->period == from->period;
}

static void join_times(struct builder *builder, const struct profile *from)
{
	const struct profile *to = builder->profile;
	uint64_t start = from->time_unix_ns, end = start + from->duration_ns;

	if (builder->has_time) {
		start = min_u64(start, to->time_unix_ns);
		end = max_u64(end, to->time_unix_ns + to->duration_ns);
	}
	builder_set_time(builder, start, end - start, from->period);
}

int builder_join(struct builder *builder, const struct profile *profile)
{
	if (!is_alike(builder, profile))
		return -EINVAL;
	builder_set_type(builder, profile->type);
	join_times(builder, profile);
	return 0;
}

void builder_drop_times(struct builder *builder)
{
	builder->drops_times = true;
}

bool builder_drops_times(const struct builder *builder)
{
	return builder->drops_times;
}

void builder_set_view(struct builder *builder, bool is_grouped, bool is_bottom_up)
{
	builder->profile->is_grouped = is_grouped;
	builder->profile->is_bottom_up = is_bottom_up;
}

struct slots *builder_slots(struct builder *builder)
{
	return &builder->profile->slots;
}

struct profile *builder_seal(struct builder *builder)
{
	struct profile *profile = take_ptr(builder->profile);

	/* Locations without a name get the empty line. */
	for (size_t i = 0; i < profile->nr_locations; i++)
		if (profile->locations[i].nr_lines == 0)
			profile->locations[i].nr_lines = 1;
	profile->nr_bytes = builder->budget.nr_bytes;
	builder_free(builder);
	return profile;
}
