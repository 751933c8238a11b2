/* SPDX-License-Identifier: Apache-2.0 */
/* Names are demangled by the worker, and some keep it busy for ever or break it. */
#include "elf_cache_fixture.h"
#include "endless_names.h"
#include "elf_cache_inside.h"
#include "unit.h"

#include <stdio.h>
#include <string.h>

#define OFFSET (FUNCTION_OFFSET + 0x10)
#define GOOD_NAME "_ZN5space4goodEv"

static const struct fixture_file good = { .function = GOOD_NAME };

static uint32_t add_named(struct elf_cache_fixture *fixture, enum fixture_root root,
			  const char *path, const char *function)
{
	const struct fixture_file file = { .function = function };

	return add_file(fixture, root, path, &file);
}

static void a_name_that_takes_for_ever_stays_as_it_is(void **state)
{
	static const char *const names[] = { HOSTILE_RUST_NAME, HOSTILE_CPLUS_NAME,
					     HOSTILE_D_NAME };
	struct elf_cache_fixture *fixture = *state;

	SKIP_WITHOUT_SIGNALS();

	for (size_t i = 0; i < array_len(names); i++) {
		elf_cache_fixture_start(fixture);
		uint32_t bad = add_named(fixture, IN_ONE, "bin/bad", names[i]);
		uint32_t id = add_file(fixture, IN_OTHER, "bin/good", &good);
		assert_string_equal(outer_name(fixture, bad, OFFSET), names[i]);
		assert_string_equal(outer_name(fixture, id, OFFSET), "space::good");
		assert_int_equal(stats_of(fixture).names.nr_given_up, 1);
		assert_int_equal(stats_of(fixture).names.nr_left, 0);
		assert_int_equal(stats_of(fixture).files.nr_bad_files, 0);
	}
}

/* The worker is short of time or of memory then, whichever is first. */
static void a_name_of_gigabytes_stays_as_it_is(void **state)
{
	struct elf_cache_fixture *fixture = *state;

	SKIP_WITHOUT_SIGNALS();
	elf_cache_fixture_start(fixture);
	uint32_t bad = add_named(fixture, IN_ONE, "bin/bad", LARGE_D_NAME);
	uint32_t id = add_file(fixture, IN_OTHER, "bin/good", &good);
	assert_string_equal(outer_name(fixture, bad, OFFSET), LARGE_D_NAME);
	assert_string_equal(outer_name(fixture, id, OFFSET), "space::good");
	assert_int_equal(stats_of(fixture).names.nr_given_up + stats_of(fixture).names.nr_left, 1);
	assert_int_equal(stats_of(fixture).files.nr_bad_files, 0);
}

static void it_is_not_asked_for_again(void **state)
{
	struct elf_cache_fixture *fixture = *state;

	SKIP_WITHOUT_SIGNALS();
	elf_cache_fixture_start(fixture);
	uint32_t id = add_named(fixture, IN_ONE, "bin/bad", HOSTILE_RUST_NAME);
	assert_string_equal(outer_name(fixture, id, OFFSET), HOSTILE_RUST_NAME);
	uint64_t nr_requests = worker_lanes_get_stats(inside_lanes(fixture->cache)).nr_requests;
	assert_string_equal(outer_name(fixture, id, OFFSET + 1), HOSTILE_RUST_NAME);
	assert_int_equal(worker_lanes_get_stats(inside_lanes(fixture->cache)).nr_requests,
			 nr_requests);
	assert_int_equal(stats_of(fixture).names.nr_given_up, 1);
}

enum { NR_FUNCTIONS = 16 };

/* A file of functions whose first `nr_bad` names are hostile ones, all different. */
static uint32_t add_many(struct elf_cache_fixture *fixture, unsigned int nr_bad)
{
	_cleanup_(elf_maker_done) struct elf_maker maker;
	struct maker_symbol functions[NR_FUNCTIONS + 1] = { 0 };
	char names[NR_FUNCTIONS][64];
	uint32_t id = 0;

	for (unsigned int i = 0; i < NR_FUNCTIONS; i++) {
		snprintf(names[i], sizeof(names[i]),
			 i < nr_bad ? "_RC1aIC1aFGzzzzzzzzz%c_EuE" : "_ZN5space1%cEv",
			 'a' + (char)i);
		functions[i] = (struct maker_symbol){ names[i], (uint64_t)i * 16, 16 };
	}
	elf_maker_init(&maker);
	elf_maker_add_symbols(&maker, SHT_SYMTAB, functions);
	elf_maker_finish(&maker);
	write_file(fixture, IN_ONE, "bin/many", maker.bytes.data, maker.bytes.len);
	assert_int_equal(open_mapped(fixture, IN_ONE, "bin/many", &id), 0);
	return id;
}

/* Asks for all of them at once; returns how many are demangled. */
static size_t count_demangled(struct elf_cache_fixture *fixture, uint32_t id)
{
	struct symbol_frames frames;
	size_t nr = 0;

	read_all(fixture);
	for (uint64_t i = 0; i < NR_FUNCTIONS; i++)
		(void)elf_cache_ask(fixture->cache, id, FUNCTION_OFFSET + i * 16);
	read_all(fixture);
	for (uint64_t i = 0; i < NR_FUNCTIONS; i++) {
		assert_true(elf_cache_ask(fixture->cache, id, FUNCTION_OFFSET + i * 16));
		assert_int_equal(
			elf_cache_symbolize(fixture->cache, id, FUNCTION_OFFSET + i * 16, &frames),
			0);
		nr += strncmp(frames.lines[0].name, "space::", 7) == 0;
	}
	return nr;
}

static void two_such_names_of_a_file_cost_its_other_names_nothing(void **state)
{
	struct elf_cache_fixture *fixture = *state;

	SKIP_WITHOUT_SIGNALS();
	elf_cache_fixture_start(fixture);
	uint32_t id = add_many(fixture, 2);
	assert_int_equal(count_demangled(fixture, id), NR_FUNCTIONS - 2);
	assert_int_equal(stats_of(fixture).names.nr_given_up, 2);
	assert_int_equal(stats_of(fixture).names.nr_left, 0);
}

/* Also those that it asks for later. */
static void three_such_names_of_a_file_cost_it_the_others_for_a_while(void **state)
{
	struct elf_cache_fixture *fixture = *state;

	SKIP_WITHOUT_SIGNALS();
	elf_cache_fixture_start(fixture);
	uint32_t id = add_many(fixture, NR_FUNCTIONS - 1);
	assert_int_equal(count_demangled(fixture, id), 0);
	assert_int_equal(stats_of(fixture).names.nr_given_up, 3);
	assert_int_equal(stats_of(fixture).names.nr_left, NR_FUNCTIONS - 3);
	assert_int_equal(count_demangled(fixture, id), 0);
	assert_int_equal(stats_of(fixture).names.nr_left, NR_FUNCTIONS - 3);

	inside_table(fixture->cache, id)->raw_until_ns = 1;
	(void)count_demangled(fixture, id);
	assert_int_equal(stats_of(fixture).names.nr_given_up, 6);
}

static enum worker_lane lane_of(const struct elf_cache_fixture *fixture, enum fixture_root root)
{
	return worker_lanes_choose(inside_lanes(fixture->cache), (uint64_t)root, clock_mono_ns());
}

static void names_that_break_the_worker_cost_their_file_alone(void **state)
{
	static const char *const names[] = { FIXTURE_DYING_NAME, FIXTURE_NONSENSE_NAME };
	struct elf_cache_fixture *fixture = *state;

	for (size_t i = 0; i < array_len(names); i++) {
		elf_cache_fixture_start(fixture);
		uint32_t bad = add_named(fixture, IN_ONE, "bin/bad", names[i]);
		uint32_t id = add_file(fixture, IN_OTHER, "bin/good", &good);
		assert_string_equal(outer_name(fixture, bad, OFFSET), names[i]);
		assert_string_equal(outer_name(fixture, id, OFFSET), "space::good");
		assert_int_equal(stats_of(fixture).names.nr_left, 1);
		assert_int_equal(stats_of(fixture).names.nr_given_up, 0);
		assert_int_equal(lane_of(fixture, IN_ONE), WORKER_LANE_SLOW);
		assert_int_equal(lane_of(fixture, IN_OTHER), WORKER_LANE_FAST);
	}
}

static void a_name_that_two_files_have_is_not_lost_with_one_of_them(void **state)
{
	struct elf_cache_fixture *fixture = *state;
	struct symbol_frames frames;

	elf_cache_fixture_start(fixture);
	uint32_t id = add_named(fixture, IN_ONE, "bin/a", GOOD_NAME);
	read_all(fixture);
	assert_false(elf_cache_ask(fixture->cache, id, OFFSET));
	uint32_t other = add_file(fixture, IN_OTHER, "bin/b",
				  &(struct fixture_file){ .function = GOOD_NAME, .number = 1 });
	place_names_drop(name_store_places(inside_store(fixture->cache)),
			 inside_table(fixture->cache, id));
	assert_int_equal(name_fully(fixture, other, OFFSET, &frames), 0);
	assert_string_equal(frames.lines[0].name, "space::good");
}

/* The slow lane has the one that hangs by then. */
static void a_file_that_holds_a_worker_up_does_not_hold_up_others(void **state)
{
	const struct fixture_file bad = { .function = "bad", .fingerprint = HANGS, .number = 1 };
	struct elf_cache_fixture *fixture = *state;
	const struct worker_limits limits = { .timeout_ns = FIXTURE_WAIT_NS };
	struct symbol_frames frames;

	elf_cache_fixture_start(fixture);
	inside_set_table_limits(inside_jobs(inside_client(fixture->cache)), &limits);
	uint32_t hanging = add_file(fixture, IN_ONE, "bin/bad", &bad);
	uint32_t id = add_file(fixture, IN_OTHER, "bin/good", &good);
	while (elf_cache_symbolize(fixture->cache, id, OFFSET, &frames) < 0 ||
	       !elf_cache_ask(fixture->cache, id, OFFSET))
		(void)elf_cache_wait(fixture->cache, clock_mono_ns() + NSEC_PER_SEC / 10);
	assert_int_equal(elf_cache_symbolize(fixture->cache, id, OFFSET, &frames), 0);
	assert_string_equal(frames.lines[0].name, "space::good");
	while (!worker_lanes_is_busy(inside_lanes(fixture->cache), WORKER_LANE_SLOW))
		(void)elf_cache_wait(fixture->cache, clock_mono_ns() + NSEC_PER_SEC / 10);
	assert_false(elf_cache_ask(fixture->cache, hanging, OFFSET));

	/* What its owner brings waits for it, others' does not. */
	uint32_t later = add_file(fixture, IN_ONE, "bin/later",
				  &(struct fixture_file){ .function = "f", .number = 2 });
	uint32_t others = add_file(fixture, IN_OTHER, "bin/others",
				   &(struct fixture_file){ .function = "f", .number = 3 });
	assert_false(elf_cache_wait(fixture->cache, clock_mono_ns() + NSEC_PER_SEC));
	assert_int_equal(elf_cache_symbolize(fixture->cache, others, OFFSET, &frames), 0);
	assert_int_equal(elf_cache_symbolize(fixture->cache, later, OFFSET, &frames), -ENOENT);
}

static void the_slow_lane_reads_what_the_fast_one_cannot(void **state)
{
	struct elf_cache_fixture *fixture = *state;

	elf_cache_fixture_start(fixture);
	uint32_t id = add_file(
		fixture, IN_ONE, "bin/a",
		&(struct fixture_file){ .function = GOOD_NAME, .fingerprint = NEEDS_TIME });
	assert_string_equal(outer_name(fixture, id, OFFSET), "space::good");
	assert_int_equal(worker_lanes_get_stats(inside_lanes(fixture->cache)).nr_timeouts, 1);
	assert_int_equal(stats_of(fixture).files.nr_bad_files, 0);
}

#define TEST(name)                                                                                 \
	cmocka_unit_test_setup_teardown(name, elf_cache_fixture_set_up, elf_cache_fixture_tear_down)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		TEST(a_name_that_takes_for_ever_stays_as_it_is),
		TEST(a_name_of_gigabytes_stays_as_it_is),
		TEST(it_is_not_asked_for_again),
		TEST(two_such_names_of_a_file_cost_its_other_names_nothing),
		TEST(three_such_names_of_a_file_cost_it_the_others_for_a_while),
		TEST(names_that_break_the_worker_cost_their_file_alone),
		TEST(a_name_that_two_files_have_is_not_lost_with_one_of_them),
		TEST(a_file_that_holds_a_worker_up_does_not_hold_up_others),
		TEST(the_slow_lane_reads_what_the_fast_one_cannot),
	};

	if (is_symbol_worker(argc, argv))
		return elf_cache_fixture_worker();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
