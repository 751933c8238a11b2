/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/builder.h"

#include "unit.h"

#define PLENTY_BYTES (1 << 20)

static const struct profile_line main_at_5[] = { { .function = 1, .line = 5 } };
static const struct profile_line inlined[] = { { 2, 7 }, { 1, 6 } };

static struct builder *new_builder(void)
{
	struct builder *builder = NULL;

	assert_int_equal(builder_new(PLENTY_BYTES, &builder), 0);
	return builder;
}

static void a_frame_at_address_0_is_not_the_empty_location(void **state)
{
	(void)state;
	_cleanup_(builder_freep) struct builder *builder = new_builder();
	const struct profile_location at_0 = { .kind = FRAME_NATIVE };
	uint32_t first, second;

	assert_int_equal(builder_add_location(builder, &at_0, &first), 0);
	assert_int_equal(builder_add_location(builder, &at_0, &second), 0);
	assert_int_not_equal(first, 0);
	assert_int_equal(second, first);
}

static void a_location_is_its_mapping_address_and_kind(void **state)
{
	(void)state;
	_cleanup_(builder_freep) struct builder *builder = new_builder();
	const struct profile_location locations[] = {
		{ .mapping = 1, .address = 16, .kind = FRAME_NATIVE },
		{ .mapping = 2, .address = 16, .kind = FRAME_NATIVE },
		{ .mapping = 1, .address = 17, .kind = FRAME_NATIVE },
		{ .mapping = 1, .address = 16, .kind = FRAME_KERNEL },
		{ .mapping = 1, .address = 16, .kind = FRAME_STOP },
	};
	uint32_t id;

	for (uint32_t pass = 0; pass < 2; pass++) {
		for (uint32_t i = 0; i < array_len(locations); i++) {
			assert_int_equal(builder_add_location(builder, &locations[i], &id), 0);
			assert_int_equal(id, i + 1);
		}
	}
}

static void a_location_with_lines_is_apart_from_one_with_others(void **state)
{
	(void)state;
	_cleanup_(builder_freep) struct builder *builder = new_builder();
	static const struct {
		enum frame_kind kind;
		struct profile_line lines[2];
		size_t nr;
	} cases[] = {
		{ FRAME_NATIVE, { { 1, 5 } }, 1 },
		{ FRAME_NATIVE, { { 1, 6 } }, 1 },
		{ FRAME_NATIVE, { { 2, 5 } }, 1 },
		{ FRAME_NATIVE, { { 1, 5 }, { 1, 6 } }, 2 },
		{ FRAME_NATIVE, { { 1, 6 }, { 1, 5 } }, 2 },
		{ FRAME_RUST, { { 1, 5 } }, 1 },
	};
	uint32_t id;

	for (uint32_t pass = 0; pass < 2; pass++) {
		for (uint32_t i = 0; i < array_len(cases); i++) {
			const struct profile_location location = { .mapping = 1,
								   .address = 16,
								   .kind = cases[i].kind };

			assert_int_equal(builder_add_named_location(builder, &location,
								    cases[i].lines, cases[i].nr,
								    &id),
					 0);
			assert_int_equal(id, i + 1);
		}
	}
}

static void without_lines_the_first_location_at_a_place_is_found(void **state)
{
	(void)state;
	_cleanup_(builder_freep) struct builder *builder = new_builder();
	const struct profile_location location = { .mapping = 1, .address = 16 };
	uint32_t unnamed, named, again;

	assert_int_equal(builder_add_location(builder, &location, &unnamed), 0);
	assert_int_equal(builder_add_named_location(builder, &location, main_at_5, 1, &named), 0);
	assert_int_not_equal(named, unnamed);
	assert_int_equal(builder_add_location(builder, &location, &again), 0);
	assert_int_equal(again, unnamed);

	assert_int_equal(builder_set_lines(builder, unnamed, FRAME_NATIVE, inlined, 2), 0);
	assert_int_equal(builder_add_location(builder, &location, &again), 0);
	assert_int_equal(again, unnamed);
	assert_int_equal(builder_add_named_location(builder, &location, inlined, 2, &again), 0);
	assert_int_equal(again, unnamed);
}

/* The lines of a location that is copied are another profile's. */
static void a_new_location_has_no_lines(void **state)
{
	(void)state;
	_cleanup_(builder_freep) struct builder *builder = new_builder();
	const struct profile_location copied = { .address = 1, .first_line = 9, .nr_lines = 9 };
	uint32_t id;

	assert_int_equal(builder_add_location(builder, &copied, &id), 0);
	assert_int_equal(builder_peek(builder)->locations[id].nr_lines, 0);
	assert_int_equal(builder_peek(builder)->locations[id].first_line, 0);
}

static void a_name_may_tell_more_of_the_kind_and_the_place_stays_the_same(void **state)
{
	(void)state;
	static const enum frame_kind kinds[] = { FRAME_NATIVE, FRAME_GO,      FRAME_RUST, FRAME_JVM,
						 FRAME_V8JS,   FRAME_CPYTHON, FRAME_JIT };
	_cleanup_(builder_freep) struct builder *builder = new_builder();

	for (size_t i = 0; i < array_len(kinds); i++) {
		const struct profile_location location = { .address = i, .kind = FRAME_NATIVE };
		const struct profile_location refined = { .address = i, .kind = kinds[i] };
		uint32_t id, again;

		assert_int_equal(builder_add_location(builder, &location, &id), 0);
		assert_int_equal(builder_set_lines(builder, id, kinds[i], main_at_5, 1), 0);
		assert_int_equal(builder_peek(builder)->locations[id].kind, kinds[i]);
		assert_int_equal(builder_add_location(builder, &location, &again), 0);
		assert_int_equal(again, id);
		assert_int_equal(builder_add_location(builder, &refined, &again), 0);
		assert_int_equal(again, id);
	}
}

static void lines_that_end_the_last_ones_take_no_room(void **state)
{
	(void)state;
	_cleanup_(builder_freep) struct builder *builder = new_builder();
	const struct profile *p = builder_peek(builder);
	uint32_t ids[4];

	for (uint32_t i = 0; i < array_len(ids); i++)
		assert_int_equal(builder_add_location(builder,
						      &(struct profile_location){ .address = i },
						      &ids[i]),
				 0);
	size_t bytes = builder_bytes(builder);

	assert_int_equal(builder_set_lines(builder, ids[0], FRAME_NATIVE, inlined, 2), 0);
	assert_int_equal(builder_bytes(builder), bytes + sizeof(inlined));
	builder_set_room(builder, 0);
	assert_int_equal(builder_set_lines(builder, ids[1], FRAME_NATIVE, inlined, 2), 0);
	assert_int_equal(builder_set_lines(builder, ids[2], FRAME_NATIVE, inlined + 1, 1), 0);
	assert_int_equal(builder_set_lines(builder, ids[3], FRAME_GO, main_at_5, 1), -ENOSPC);
	assert_int_equal(p->locations[ids[3]].nr_lines, 0);
	assert_int_equal(p->locations[ids[3]].kind, FRAME_NATIVE);
	builder_set_room(builder, sizeof(main_at_5));
	assert_int_equal(builder_set_lines(builder, ids[3], FRAME_GO, main_at_5, 1), 0);

	for (size_t i = 0; i < 2; i++)
		assert_memory_equal(profile_location_lines(p, &p->locations[ids[i]]), inlined,
				    sizeof(inlined));
	assert_memory_equal(profile_location_lines(p, &p->locations[ids[2]]), inlined + 1,
			    sizeof(*inlined));
	assert_memory_equal(profile_location_lines(p, &p->locations[ids[3]]), main_at_5,
			    sizeof(main_at_5));
}

static void a_named_location_without_room_leaves_nothing_behind(void **state)
{
	(void)state;
	_cleanup_(builder_freep) struct builder *builder = new_builder();
	const struct profile_location location = { .address = 1 };
	size_t bytes = builder_bytes(builder), room = 0;
	uint32_t id = 12345;

	for (int r = -ENOSPC; r < 0; room++) {
		builder_set_room(builder, room);
		r = builder_add_named_location(builder, &location, inlined, 2, &id);
		assert_true(r == 0 || r == -ENOSPC);
		if (r == 0)
			break;
		assert_int_equal(id, 12345);
		assert_int_equal(builder_bytes(builder), bytes);
		assert_int_equal(builder_peek(builder)->nr_lines, 1);
		assert_int_equal(builder_peek(builder)->nr_locations, 1);
	}
	assert_int_equal(builder_bytes(builder), bytes + room);
	assert_int_equal(builder_peek(builder)->nr_lines, 3);
}

static void an_unnamed_location_has_an_empty_name(void **state)
{
	(void)state;
	struct builder *builder = new_builder();
	struct profile_function function = { 0 };
	struct profile_line line = { .line = 3 };
	uint32_t unnamed, named;

	assert_int_equal(
		builder_add_location(builder, &(struct profile_location){ .address = 1 }, &unnamed),
		0);
	assert_int_equal(
		builder_add_location(builder, &(struct profile_location){ .address = 2 }, &named),
		0);
	assert_string_equal(profile_location_name(builder_peek(builder), unnamed), "");

	assert_int_equal(builder_add_string(builder, "main", &function.name), 0);
	assert_int_equal(builder_add_function(builder, &function, &line.function), 0);
	assert_int_equal(builder_set_lines(builder, named, FRAME_NATIVE, &line, 1), 0);
	assert_string_equal(profile_location_name(builder_peek(builder), named), "main");

	_cleanup_(profile_unrefp) struct profile *profile = builder_seal(builder);
	assert_string_equal(profile_location_name(profile, unnamed), "");
	assert_string_equal(profile_location_name(profile, named), "main");
	for (size_t i = 0; i < profile->nr_locations; i++)
		assert_int_equal(profile->locations[i].nr_lines, 1);
}

static void a_location_is_named_by_its_innermost_function(void **state)
{
	(void)state;
	static const char *const names[] = { "push", "fill", "main" };
	_cleanup_(builder_freep) struct builder *builder = new_builder();
	struct profile_line lines[array_len(names)] = { 0 };
	uint32_t id;

	for (size_t i = 0; i < array_len(names); i++) {
		struct profile_function function = { 0 };

		assert_int_equal(builder_add_string(builder, names[i], &function.name), 0);
		assert_int_equal(builder_add_function(builder, &function, &lines[i].function), 0);
	}
	assert_int_equal(builder_add_named_location(builder, &(struct profile_location){ 0 }, lines,
						    array_len(lines), &id),
			 0);
	assert_string_equal(profile_location_name(builder_peek(builder), id), "push");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_frame_at_address_0_is_not_the_empty_location),
		cmocka_unit_test(a_location_is_its_mapping_address_and_kind),
		cmocka_unit_test(a_location_with_lines_is_apart_from_one_with_others),
		cmocka_unit_test(without_lines_the_first_location_at_a_place_is_found),
		cmocka_unit_test(a_new_location_has_no_lines),
		cmocka_unit_test(a_name_may_tell_more_of_the_kind_and_the_place_stays_the_same),
		cmocka_unit_test(lines_that_end_the_last_ones_take_no_room),
		cmocka_unit_test(a_named_location_without_room_leaves_nothing_behind),
		cmocka_unit_test(an_unnamed_location_has_an_empty_name),
		cmocka_unit_test(a_location_is_named_by_its_innermost_function),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
