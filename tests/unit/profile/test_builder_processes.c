/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/builder.h"
#include "profile/merge.h"
#include "unit.h"

#define PLENTY_BYTES (1 << 20)

static uint32_t add(struct builder *builder, const char *name, uint32_t pid, uint64_t start_ns,
		    uint64_t seen_ns)
{
	struct profile_process process = { .pid = pid, .start_ns = start_ns, .seen_ns = seen_ns };
	uint32_t id = UINT32_MAX;

	assert_int_equal(builder_add_string(builder, name, &process.name), 0);
	assert_int_equal(builder_add_process(builder, &process, &id), 0);
	return id;
}

static struct builder *new_builder(size_t max_bytes)
{
	struct builder *builder = NULL;

	assert_int_equal(builder_new(max_bytes, &builder), 0);
	return builder;
}

static void equal_processes_are_one_that_was_seen_last(void **state)
{
	(void)state;
	_cleanup_(builder_freep) struct builder *builder = new_builder(PLENTY_BYTES);

	assert_int_equal(add(builder, "", 0, 0, 9), 0);
	assert_int_equal(add(builder, "web", 1, 10, 20), 1);
	assert_int_equal(add(builder, "web", 1, 11, 20), 2);
	assert_int_equal(add(builder, "sh", 1, 10, 20), 3);
	assert_int_equal(add(builder, "web", 1, 10, 30), 1);
	assert_int_equal(add(builder, "web", 1, 10, 25), 1);
	builder_see_process(builder, 2, 40);
	builder_see_process(builder, 0, 40);

	const struct profile *p = builder_peek(builder);
	assert_int_equal(p->nr_processes, 4);
	assert_int_equal(p->processes[0].seen_ns, 0);
	assert_int_equal(p->processes[1].seen_ns, 30);
	assert_int_equal(p->processes[2].seen_ns, 40);
	assert_int_equal(p->processes[3].seen_ns, 20);
}

static void a_merge_takes_those_of_samples_with_them(void **state)
{
	(void)state;
	_cleanup_(builder_freep) struct builder *to = new_builder(PLENTY_BYTES);
	struct builder *from = new_builder(PLENTY_BYTES);

	assert_int_equal(add(to, "web", 1, 10, 50), 1);
	(void)add(from, "never sampled", 9, 10, 20);
	for (uint32_t pid = 1; pid <= 2; pid++) {
		const struct profile_sample sample = {
			.process = add(from, "web", pid, 10, 20 * pid),
			.count = 1,
		};

		assert_int_equal(builder_add_sample(from, &sample), 0);
	}
	_cleanup_(profile_unrefp) struct profile *profile = builder_seal(from);
	assert_int_equal(merge_profile(to, profile, NULL), 0);

	const struct profile *p = builder_peek(to);
	assert_int_equal(p->nr_processes, 3);
	assert_int_equal(p->nr_samples, 2);
	assert_int_equal(p->samples[0].process, 1);
	assert_int_equal(p->processes[1].seen_ns, 50);
	assert_int_equal(p->samples[1].process, 2);
	assert_int_equal(p->processes[2].pid, 2);
	assert_int_equal(p->processes[2].seen_ns, 40);
	assert_string_equal(profile_string(p, p->processes[2].name), "web");
}

static void the_room_for_them_is_bounded(void **state)
{
	(void)state;
	_cleanup_(builder_freep) struct builder *builder = new_builder(200);
	uint32_t id, pid = 1;
	int r;

	do
		r = builder_add_process(builder, &(struct profile_process){ .pid = pid++ }, &id);
	while (r == 0 && pid < 100);
	assert_int_equal(r, -ENOSPC);
	assert_int_equal(builder_add_process(builder, &(struct profile_process){ .pid = 1 }, &id),
			 0);
	assert_int_equal(id, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_processes_are_one_that_was_seen_last),
		cmocka_unit_test(a_merge_takes_those_of_samples_with_them),
		cmocka_unit_test(the_room_for_them_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
