/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/merge.h"

#include "torture.h"
#include "unit.h"

#include <stdio.h>
#include <string.h>

#define PLENTY_BYTES (1 << 20)
#define PERIOD_NS 10101010
#define NR_SAMPLES 300

static struct builder *new_builder(size_t max_bytes)
{
	struct builder *builder = NULL;

	assert_int_equal(builder_new(max_bytes, &builder), 0);
	return builder;
}

static const enum frame_kind kinds[] = { FRAME_KERNEL, FRAME_NATIVE, FRAME_GO, FRAME_RUST,
					 FRAME_JIT };

/* A line of one of 20 functions. */
static struct profile_line add_line(struct builder *builder, uint32_t i)
{
	struct profile_function function = { .start_line = i };
	struct profile_line line = { .line = i + 10 };
	char name[32];

	snprintf(name, sizeof(name), "function_%u", i % 20);
	assert_int_equal(builder_add_string(builder, name, &function.name), 0);
	snprintf(name, sizeof(name), "source_%u.c", i % 2);
	assert_int_equal(builder_add_string(builder, name, &function.filename), 0);
	assert_int_equal(builder_add_function(builder, &function, &line.function), 0);
	return line;
}

/* A location in one of three files, with one to three lines. */
static uint32_t add_location(struct builder *builder, uint32_t i)
{
	struct profile_mapping mapping = { .limit = 4096 * (i % 3) };
	struct profile_location location = { .address = i, .kind = kinds[i % 5] };
	struct profile_line lines[3];
	uint32_t nr_lines = 1 + i % 3, id;
	char name[32];

	for (uint32_t m = 1; m < builder_peek(builder)->nr_mappings && !location.mapping; m++)
		if (builder_peek(builder)->mappings[m].limit == mapping.limit)
			location.mapping = m;
	if (!location.mapping) {
		snprintf(name, sizeof(name), "lib%u.so", i % 3);
		assert_int_equal(builder_add_string(builder, name, &mapping.filename), 0);
		assert_int_equal(builder_add_mapping(builder, &mapping, &location.mapping), 0);
	}
	for (uint32_t k = 0; k < nr_lines; k++)
		lines[k] = add_line(builder, i + k);
	assert_int_equal(builder_add_named_location(builder, &location, lines, nr_lines, &id), 0);
	return id;
}

/* Samples number `first`, first + step, … of a fixed series. */
static void add_series(struct builder *builder, uint32_t first, uint32_t step)
{
	for (uint32_t i = first; i < NR_SAMPLES; i += step) {
		struct profile_sample sample = { .cgroup_id = i % 4,
						 .pid = i % 7,
						 .count = 1 + i % 3 };
		const uint32_t locations[] = { add_location(builder, i % 20),
					       add_location(builder, i % 3) };
		char pod[32], comm[16];

		snprintf(pod, sizeof(pod), "pod-%u", i % 4);
		snprintf(comm, sizeof(comm), "comm-%u", i % 7);
		const struct attribute attributes[] = { { "k8s.pod.name", pod } };
		assert_int_equal(builder_add_stack(builder, locations, 2, &sample.stack), 0);
		assert_int_equal(builder_add_string(builder, comm, &sample.process_comm), 0);
		assert_int_equal(
			builder_add_resource(builder, attributes, i % 4 != 0, &sample.resource), 0);
		assert_int_equal(builder_add_sample(builder, &sample), 0);
	}
}

static struct profile *series(uint32_t first, uint32_t step)
{
	struct builder *builder = new_builder(PLENTY_BYTES);

	add_series(builder, first, step);
	builder_set_time(builder, 1000 + first, 100, PERIOD_NS);
	return builder_seal(builder);
}

static const char *pod_of(const struct profile *p, const struct profile_sample *sample)
{
	const char *pod = profile_resource_get(p, sample->resource, "k8s.pod.name");

	return pod ? pod : "";
}

static bool has_equal_lines(const struct profile *p, const struct profile_location *p_location,
			    const struct profile *q, const struct profile_location *q_location)
{
	if (p_location->nr_lines != q_location->nr_lines)
		return false;
	for (uint32_t i = 0; i < p_location->nr_lines; i++) {
		const struct profile_line *a = &profile_location_lines(p, p_location)[i];
		const struct profile_line *b = &profile_location_lines(q, q_location)[i];
		const struct profile_function *f = &p->functions[a->function];
		const struct profile_function *g = &q->functions[b->function];

		if (a->line != b->line || f->start_line != g->start_line ||
		    strcmp(profile_string(p, f->name), profile_string(q, g->name)) != 0 ||
		    strcmp(profile_string(p, f->filename), profile_string(q, g->filename)) != 0)
			return false;
	}
	return true;
}

static bool has_equal_stack(const struct profile *p, uint32_t p_stack, const struct profile *q,
			    uint32_t q_stack)
{
	const struct profile_stack *a = &p->stacks[p_stack];
	const struct profile_stack *b = &q->stacks[q_stack];

	if (a->nr != b->nr)
		return false;
	for (size_t i = 0; i < a->nr; i++) {
		uint32_t at_a = p->stack_locations[a->first + i];
		uint32_t at_b = q->stack_locations[b->first + i];
		const struct profile_location *la = &p->locations[at_a];
		const struct profile_location *lb = &q->locations[at_b];

		if (la->address != lb->address || la->kind != lb->kind ||
		    !has_equal_lines(p, la, q, lb) ||
		    p->mappings[la->mapping].limit != q->mappings[lb->mapping].limit ||
		    strcmp(profile_string(p, p->mappings[la->mapping].filename),
			   profile_string(q, q->mappings[lb->mapping].filename)) != 0)
			return false;
	}
	return true;
}

/* The count of the sample in `q` that says what `sample` of `p` says. */
static uint32_t count_in(const struct profile *q, const struct profile *p,
			 const struct profile_sample *sample)
{
	for (size_t i = 0; i < q->nr_samples; i++) {
		const struct profile_sample *other = &q->samples[i];

		if (other->cgroup_id == sample->cgroup_id && other->pid == sample->pid &&
		    strcmp(profile_string(q, other->process_comm),
			   profile_string(p, sample->process_comm)) == 0 &&
		    strcmp(pod_of(q, other), pod_of(p, sample)) == 0 &&
		    has_equal_stack(q, other->stack, p, sample->stack))
			return other->count;
	}
	return 0;
}

static void merged_parts_equal_the_whole_built_at_once(void **state)
{
	(void)state;
	_cleanup_(profile_unrefp) struct profile *whole = series(0, 1);
	struct builder *builder = new_builder(PLENTY_BYTES);
	uint64_t lost = 99;

	for (uint32_t part = 3; part-- > 0;) {
		_cleanup_(profile_unrefp) struct profile *profile = series(part, 3);

		assert_int_equal(merge_profile(builder, profile, &lost), 0);
		assert_int_equal(lost, 0);
	}

	_cleanup_(profile_unrefp) struct profile *merged = builder_seal(builder);
	assert_int_equal(merged->nr_samples, whole->nr_samples);
	assert_int_equal(merged->nr_stacks, whole->nr_stacks);
	assert_int_equal(merged->nr_locations, whole->nr_locations);
	assert_int_equal(merged->nr_mappings, whole->nr_mappings);
	assert_int_equal(merged->nr_functions, whole->nr_functions);
	assert_int_equal(merged->nr_resources, whole->nr_resources);
	assert_int_equal(merged->strings.nr_strings, whole->strings.nr_strings);
	for (size_t i = 0; i < whole->nr_samples; i++)
		assert_int_equal(count_in(merged, whole, &whole->samples[i]),
				 whole->samples[i].count);
}

static void merging_the_same_profile_twice_doubles_the_counts_only(void **state)
{
	(void)state;
	_cleanup_(profile_unrefp) struct profile *part = series(0, 1);
	_cleanup_(builder_freep) struct builder *builder = new_builder(PLENTY_BYTES);

	assert_int_equal(merge_profile(builder, part, NULL), 0);
	assert_int_equal(merge_profile(builder, part, NULL), 0);
	assert_int_equal(builder_peek(builder)->nr_samples, part->nr_samples);
	assert_int_equal(builder_peek(builder)->nr_mappings, part->nr_mappings);
	assert_int_equal(profile_total(builder_peek(builder)), 2 * profile_total(part));
}

static struct profile *profile_of_time(uint64_t start_ns, uint64_t duration_ns, uint64_t period)
{
	struct builder *builder = new_builder(PLENTY_BYTES);

	assert_int_equal(builder_add_sample(builder, &(struct profile_sample){ .count = 5 }), 0);
	builder_set_time(builder, start_ns, duration_ns, period);
	return builder_seal(builder);
}

static void the_time_range_spans_all_parts_in_any_order(void **state)
{
	(void)state;
	static const struct {
		uint64_t first_ns, second_ns;
	} cases[] = { { 1000, 3000 }, { 3000, 1000 } };

	for (size_t i = 0; i < array_len(cases); i++) {
		_cleanup_(builder_freep) struct builder *builder = new_builder(PLENTY_BYTES);
		_cleanup_(profile_unrefp) struct profile *first = profile_of_time(cases[i].first_ns,
										  500, PERIOD_NS);
		_cleanup_(profile_unrefp) struct profile *second = profile_of_time(
			cases[i].second_ns, 500, PERIOD_NS);

		assert_int_equal(merge_profile(builder, first, NULL), 0);
		assert_int_equal(merge_profile(builder, second, NULL), 0);
		assert_int_equal(builder_peek(builder)->time_unix_ns, 1000);
		assert_int_equal(builder_peek(builder)->duration_ns, 2500);
		assert_int_equal(builder_peek(builder)->period, PERIOD_NS);
	}
}

static void counts_of_another_period_are_not_added(void **state)
{
	(void)state;
	_cleanup_(builder_freep) struct builder *builder = new_builder(PLENTY_BYTES);
	_cleanup_(profile_unrefp) struct profile *slow = profile_of_time(0, 1, PERIOD_NS * 5);
	_cleanup_(profile_unrefp) struct profile *fast = profile_of_time(0, 1, PERIOD_NS);
	uint64_t lost = 0;

	assert_int_equal(merge_profile(builder, fast, NULL), 0);
	assert_int_equal(merge_profile(builder, slow, &lost), -EINVAL);
	assert_int_equal(lost, 5);
	assert_int_equal(profile_total(builder_peek(builder)), 5);
}

/* A profile of a type without a period, or with one. */
static struct profile *profile_of_type(enum profile_type type, uint64_t start_ns, uint64_t period)
{
	struct builder *builder = new_builder(PLENTY_BYTES);

	assert_int_equal(builder_add_sample(builder, &(struct profile_sample){ .count = 5 }), 0);
	builder_set_time(builder, start_ns, 500, period);
	builder_set_type(builder, type);
	return builder_seal(builder);
}

static void an_empty_builder_gets_the_type_of_what_is_merged(void **state)
{
	(void)state;
	_cleanup_(builder_freep) struct builder *builder = new_builder(PLENTY_BYTES);
	_cleanup_(profile_unrefp) struct profile *space = profile_of_type(PROFILE_INUSE_SPACE, 1000,
									  512);

	assert_int_equal(builder_peek(builder)->type, PROFILE_CPU);
	assert_int_equal(merge_profile(builder, space, NULL), 0);
	assert_int_equal(merge_profile(builder, space, NULL), 0);
	assert_int_equal(builder_peek(builder)->type, PROFILE_INUSE_SPACE);
	assert_int_equal(profile_total(builder_peek(builder)), 10);
}

static void values_of_another_type_are_not_added(void **state)
{
	(void)state;
	_cleanup_(profile_unrefp) struct profile *cpu = profile_of_type(PROFILE_CPU, 0, PERIOD_NS);
	_cleanup_(profile_unrefp) struct profile *wall = profile_of_type(PROFILE_WALL, 0,
									 PERIOD_NS);
	_cleanup_(builder_freep) struct builder *merged = new_builder(PLENTY_BYTES);
	_cleanup_(builder_freep) struct builder *sampled = new_builder(PLENTY_BYTES);
	_cleanup_(builder_freep) struct builder *declared = new_builder(PLENTY_BYTES);
	uint64_t lost = 0;

	assert_int_equal(merge_profile(merged, cpu, NULL), 0);
	assert_int_equal(merge_profile(merged, wall, &lost), -EINVAL);
	assert_int_equal(lost, 1);
	assert_int_equal(profile_total(builder_peek(merged)), 5);

	assert_int_equal(builder_add_sample(sampled, &(struct profile_sample){ .count = 1 }), 0);
	assert_int_equal(merge_profile(sampled, wall, NULL), -EINVAL);

	builder_set_type(declared, PROFILE_WALL);
	assert_int_equal(merge_profile(declared, cpu, NULL), -EINVAL);
	assert_int_equal(merge_profile(declared, wall, NULL), 0);
}

static void times_span_parts_that_have_no_period(void **state)
{
	(void)state;
	_cleanup_(builder_freep) struct builder *builder = new_builder(PLENTY_BYTES);
	_cleanup_(profile_unrefp) struct profile *late = profile_of_type(PROFILE_OFF_CPU, 3000, 0);
	_cleanup_(profile_unrefp) struct profile *early = profile_of_type(PROFILE_OFF_CPU, 1000, 0);

	assert_int_equal(merge_profile(builder, early, NULL), 0);
	assert_int_equal(merge_profile(builder, late, NULL), 0);
	assert_int_equal(builder_peek(builder)->time_unix_ns, 1000);
	assert_int_equal(builder_peek(builder)->duration_ns, 2500);
}

static void samples_of_different_times_join_where_times_are_dropped(void **state)
{
	(void)state;
	_cleanup_(builder_freep) struct builder *source = new_builder(PLENTY_BYTES);
	_cleanup_(builder_freep) struct builder *keeping = new_builder(PLENTY_BYTES);
	_cleanup_(builder_freep) struct builder *dropping = new_builder(PLENTY_BYTES);
	const struct profile *dropped = builder_peek(dropping);

	for (uint64_t time_ns = 1; time_ns <= 3; time_ns++)
		assert_int_equal(
			builder_add_sample(
				source, &(struct profile_sample){ .time_ns = time_ns, .count = 2 }),
			0);
	_cleanup_(profile_unrefp) struct profile *part = builder_seal(take_ptr(source));
	builder_drop_times(dropping);
	assert_int_equal(merge_profile(keeping, part, NULL), 0);
	assert_int_equal(merge_profile(dropping, part, NULL), 0);
	assert_int_equal(builder_peek(keeping)->nr_samples, 3);
	assert_int_equal(dropped->nr_samples, 1);
	assert_int_equal(dropped->samples[0].count, 6);
	assert_int_equal(dropped->samples[0].time_ns, 0);
}

static void code_that_changed_its_name_becomes_a_second_location(void **state)
{
	(void)state;
	_cleanup_(builder_freep) struct builder *builder = new_builder(PLENTY_BYTES);
	static const char *const names[] = { "interpreted", "compiled" };

	for (size_t i = 0; i < array_len(names); i++) {
		struct builder *window = new_builder(PLENTY_BYTES);
		struct profile_function function = { 0 };
		struct profile_location location = { .address = 4096 };
		struct profile_line line = { 0 };
		struct profile_sample sample = { .count = 1 };
		uint32_t id;

		assert_int_equal(builder_add_string(window, names[i], &function.name), 0);
		assert_int_equal(builder_add_function(window, &function, &line.function), 0);
		assert_int_equal(builder_add_location(window, &location, &id), 0);
		assert_int_equal(builder_set_lines(window, id, FRAME_JIT, &line, 1), 0);
		assert_int_equal(builder_add_stack(window, &id, 1, &sample.stack), 0);
		assert_int_equal(builder_add_sample(window, &sample), 0);

		_cleanup_(profile_unrefp) struct profile *profile = builder_seal(window);
		assert_int_equal(merge_profile(builder, profile, NULL), 0);
	}
	assert_int_equal(builder_peek(builder)->nr_samples, 2);
	assert_string_equal(profile_location_name(builder_peek(builder), 1), "interpreted");
	assert_string_equal(profile_location_name(builder_peek(builder), 2), "compiled");
}

/* A window with one sample, whose frame has these lines of the functions "a", "b" and "c". */
static struct profile *window_of(const struct profile_line *lines, size_t nr, enum frame_kind kind)
{
	struct builder *window = new_builder(PLENTY_BYTES);
	struct profile_sample sample = { .count = 1 };
	uint32_t id;

	for (const char *name = "c\0b\0a\0"; *name; name += 2) {
		struct profile_function function = { 0 };

		assert_int_equal(builder_add_string(window, name, &function.name), 0);
		assert_int_equal(builder_add_function(window, &function, &id), 0);
	}
	assert_int_equal(
		builder_add_location(window, &(struct profile_location){ .address = 64 }, &id), 0);
	if (nr > 0)
		assert_int_equal(builder_set_lines(window, id, kind, lines, nr), 0);
	assert_int_equal(builder_add_stack(window, &id, 1, &sample.stack), 0);
	assert_int_equal(builder_add_sample(window, &sample), 0);
	return builder_seal(window);
}

static void a_place_with_other_lines_becomes_a_location_of_its_own(void **state)
{
	(void)state;
	static const struct {
		struct profile_line lines[3];
		size_t nr;
		enum frame_kind kind;
		uint32_t location; /* it becomes */
	} cases[] = {
		{ { { 3, 5 } }, 1, FRAME_NATIVE, 1 },
		{ { { 2, 9 }, { 3, 5 } }, 2, FRAME_NATIVE, 2 },
		{ { { 1, 0 }, { 2, 9 }, { 3, 5 } }, 3, FRAME_NATIVE, 3 },
		{ { { 3, 6 } }, 1, FRAME_NATIVE, 4 },
		{ { { 3, 5 } }, 1, FRAME_GO, 5 },
		{ { { 0 } }, 0, FRAME_NATIVE, 6 },
		{ { { 2, 9 }, { 3, 5 } }, 2, FRAME_NATIVE, 2 },
		{ { { 3, 5 } }, 1, FRAME_GO, 5 },
		{ { { 0 } }, 0, FRAME_NATIVE, 6 },
	};
	_cleanup_(builder_freep) struct builder *builder = new_builder(PLENTY_BYTES);
	const struct profile *p = builder_peek(builder);

	for (size_t i = 0; i < array_len(cases); i++) {
		_cleanup_(profile_unrefp) struct profile *window = window_of(
			cases[i].lines, cases[i].nr, cases[i].kind);
		uint32_t location = cases[i].location;

		assert_int_equal(merge_profile(builder, window, NULL), 0);
		assert_int_equal(p->samples[location - 1].stack, location);
		assert_int_equal(p->stack_locations[p->stacks[location].first], location);
		assert_true(
			has_equal_lines(window, &window->locations[1], p, &p->locations[location]));
		assert_int_equal(p->locations[location].kind, cases[i].kind);
	}
	assert_int_equal(p->nr_locations, 7);
	assert_int_equal(p->nr_samples, 6);
}

static void what_does_not_fit_is_counted_as_lost(void **state)
{
	(void)state;
	_cleanup_(profile_unrefp) struct profile *part = series(0, 1);
	uint64_t total = profile_total(part);
	bool has_partial = false;

	for (size_t max_bytes = 0; max_bytes < 8192; max_bytes += 256) {
		_cleanup_(builder_freep) struct builder *builder = new_builder(max_bytes);
		uint64_t lost = 0;

		assert_int_equal(merge_profile(builder, part, &lost), -ENOSPC);
		assert_int_equal(profile_total(builder_peek(builder)) + lost, total);
		has_partial |= lost > 0 && lost < total;
	}
	assert_true(has_partial);
}

static void a_failed_allocation_loses_counted_samples_only(void **state)
{
	(void)state;
	_cleanup_(profile_unrefp) struct profile *part = series(0, 1);

	for (unsigned int n = 1;; n++) {
		_cleanup_(builder_freep) struct builder *builder = new_builder(PLENTY_BYTES);
		uint64_t lost = 0;

		torture_begin(n);
		int r = merge_profile(builder, part, &lost);
		bool has_failed = torture_end();

		assert_int_equal(r, has_failed ? -ENOMEM : 0);
		assert_int_equal(profile_total(builder_peek(builder)) + lost, profile_total(part));
		if (!has_failed)
			return;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(merged_parts_equal_the_whole_built_at_once),
		cmocka_unit_test(merging_the_same_profile_twice_doubles_the_counts_only),
		cmocka_unit_test(the_time_range_spans_all_parts_in_any_order),
		cmocka_unit_test(counts_of_another_period_are_not_added),
		cmocka_unit_test(an_empty_builder_gets_the_type_of_what_is_merged),
		cmocka_unit_test(values_of_another_type_are_not_added),
		cmocka_unit_test(times_span_parts_that_have_no_period),
		cmocka_unit_test(samples_of_different_times_join_where_times_are_dropped),
		cmocka_unit_test(code_that_changed_its_name_becomes_a_second_location),
		cmocka_unit_test(a_place_with_other_lines_becomes_a_location_of_its_own),
		cmocka_unit_test(what_does_not_fit_is_counted_as_lost),
		cmocka_unit_test(a_failed_allocation_loses_counted_samples_only),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
