/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/window.h"

#include "torture.h"
#include "unit.h"

#define START_NS (1000 * WINDOW_NS + 7)
#define START_UNIX_NS (UINT64_C(1795528800) * WINDOW_NS + 300000000)
#define NR_MANY 3000

static struct window *new_window(void)
{
	struct window *window = NULL;

	assert_int_equal(window_new(START_NS, START_UNIX_NS, PROFILE_CPU, &window), 0);
	return window;
}

static struct window_code elf_code(uint32_t id)
{
	return (struct window_code){ id ? CODE_ELF : CODE_NAMELESS, id };
}

static uint32_t add_mapping(struct window *window, uint32_t elf_id, const char *filename)
{
	uint32_t mapping = 0;

	assert_int_equal(window_add_mapping(window, elf_code(elf_id), filename, 4096, &mapping), 0);
	assert_int_not_equal(mapping, 0);
	return mapping;
}

static void a_window_ends_with_its_second_and_is_empty(void **state)
{
	(void)state;
	_cleanup_(window_freep) struct window *window = new_window();

	assert_int_equal(window->start_ns, START_NS);
	assert_int_equal(window->start_unix_ns, START_UNIX_NS);
	assert_int_equal(window->end_ns, START_NS + 700000000);
	assert_int_equal(window->nr_samples, 0);
	assert_int_equal(window->nr_cgroups, 0);
	assert_int_equal(window->nr_mappings, 0);
	assert_int_equal(builder_peek(window->builder)->nr_samples, 0);
	window_free(NULL);
}

static void samples_are_counted_by_their_time(void **state)
{
	(void)state;
	_cleanup_(window_freep) struct window *window = new_window();
	const struct slots *slots = &builder_peek(window->builder)->slots;

	window_count_time(window, START_NS + 49999999);
	window_count_time(window, START_NS + 50000000);
	window_count_time(window, START_NS + 699999999);
	window_count_time(window, START_NS - 5); /* it is late */
	assert_int_equal(slots->counts[6], 2);
	assert_int_equal(slots->counts[7], 1);
	assert_int_equal(slots->counts[19], 1);
	assert_int_equal(slots_total(slots), 4);
}

static void an_elf_file_has_one_mapping_whatever_its_name(void **state)
{
	(void)state;
	_cleanup_(window_freep) struct window *window = new_window();
	uint32_t a = add_mapping(window, 1, "/lib/a.so");

	assert_int_equal(add_mapping(window, 1, "/lib/a.so"), a);
	assert_int_equal(add_mapping(window, 1, "/overlay/lib/a.so"), a);
	assert_int_not_equal(add_mapping(window, 2, "/lib/a.so"), a);
}

static void code_without_an_elf_file_is_told_apart_by_name(void **state)
{
	(void)state;
	_cleanup_(window_freep) struct window *window = new_window();
	uint32_t anon = add_mapping(window, 0, "[anon]");

	assert_int_equal(add_mapping(window, 0, "[anon]"), anon);
	assert_int_not_equal(add_mapping(window, 0, "[vdso]"), anon);
	assert_int_not_equal(add_mapping(window, 1, "[anon]"), anon);
}

/* symbolizer.c relies on it: mapping n of the builder is element n - 1 of the window. */
static void mappings_are_numbered_in_the_order_they_were_added(void **state)
{
	(void)state;
	_cleanup_(window_freep) struct window *window = new_window();

	for (uint32_t n = 1; n <= NR_MANY; n++) {
		assert_int_equal(add_mapping(window, n, "/x"), n);
		assert_int_equal(window_code_of(window, n).id, n);
		assert_int_equal(window_code_of(window, n).kind, CODE_ELF);
	}
	assert_int_equal(window_code_of(window, 0).kind, CODE_NAMELESS);
	assert_int_equal(add_mapping(window, NR_MANY / 2, "/x"), NR_MANY / 2);
	assert_int_equal(window->nr_mappings, NR_MANY);
}

static void code_of_processes_and_of_files_is_told_apart(void **state)
{
	(void)state;
	_cleanup_(window_freep) struct window *window = new_window();
	const struct window_code jit = { CODE_JIT, 1 };
	uint32_t elf = add_mapping(window, 1, "/lib/a.so");
	uint32_t other = 0;

	assert_false(window_find_code(window, jit, &other));
	assert_int_equal(window_add_mapping(window, jit, "[anon]", 0, &other), 0);
	assert_int_not_equal(other, elf);
	assert_true(window_find_code(window, jit, &other));
	assert_true(window_find_code(window, elf_code(1), &elf));
	assert_int_not_equal(other, elf);
}

static void a_mapping_has_its_files_name_and_size(void **state)
{
	(void)state;
	_cleanup_(window_freep) struct window *window = new_window();
	uint32_t id = add_mapping(window, 9, "/lib/a.so");
	const struct profile *profile = builder_peek(window->builder);

	assert_string_equal(profile_string(profile, profile->mappings[id].filename), "/lib/a.so");
	assert_int_equal(profile->mappings[id].limit, 4096);
	assert_int_equal(profile->mappings[id].build_id, 0);
}

static void mappings_over_the_limit_are_refused(void **state)
{
	(void)state;
	_cleanup_(window_freep) struct window *window = new_window();
	uint32_t mapping = 77;

	for (uint32_t n = 1; n <= WINDOW_MAX_MAPPINGS; n++)
		add_mapping(window, n, "/x");
	assert_int_equal(
		window_add_mapping(window, elf_code(WINDOW_MAX_MAPPINGS + 1), "/x", 0, &mapping),
		-ENOSPC);
	assert_int_equal(mapping, 77);
	assert_int_equal(add_mapping(window, WINDOW_MAX_MAPPINGS, "/x"), WINDOW_MAX_MAPPINGS);
}

static void a_place_is_kept_as_long_as_nothing_about_it_changes(void **state)
{
	(void)state;
	_cleanup_(window_freep) struct window *window = new_window();
	const struct window_place place = { .address = 0x401000, .version = 3, .pid = 7 };
	struct window_place others[] = { place, place, place };
	uint32_t location = 0;

	others[0].address++;
	others[1].version++;
	others[2].pid++;
	assert_false(window_find_location(window, &place, &location));
	window_keep_location(window, &place, 5);
	assert_true(window_find_location(window, &place, &location));
	assert_int_equal(location, 5);
	for (size_t i = 0; i < array_len(others); i++)
		assert_false(window_find_location(window, &others[i], &location));
	window_forget_locations(window);
	assert_false(window_find_location(window, &place, &location));
}

static void a_cgroup_is_new_once(void **state)
{
	static const uint64_t ids[] = { 0, 1, 1 + (UINT64_C(1) << 32), UINT64_MAX };
	(void)state;
	_cleanup_(window_freep) struct window *window = new_window();

	for (size_t i = 0; i < array_len(ids); i++)
		assert_int_equal(window_add_cgroup(window, ids[i]), 1);
	for (size_t i = 0; i < array_len(ids); i++) {
		assert_int_equal(window_add_cgroup(window, ids[i]), 0);
		assert_int_equal(window->cgroups[i], ids[i]);
	}
	assert_int_equal(window->nr_cgroups, array_len(ids));
}

static void cgroups_over_the_limit_are_refused(void **state)
{
	(void)state;
	_cleanup_(window_freep) struct window *window = new_window();

	for (uint64_t id = 0; id < WINDOW_MAX_CGROUPS; id++)
		assert_int_equal(window_add_cgroup(window, id), 1);
	assert_int_equal(window_add_cgroup(window, WINDOW_MAX_CGROUPS), -ENOSPC);
	assert_int_equal(window_add_cgroup(window, 0), 0);
	assert_int_equal(window->nr_cgroups, WINDOW_MAX_CGROUPS);
}

/* Whatever fails, the window's mappings and the builder's stay in step. */
static int fill_window(void)
{
	_cleanup_(window_freep) struct window *window = NULL;
	uint32_t mapping = UINT32_MAX;

	int r = window_new(START_NS, START_UNIX_NS, PROFILE_CPU, &window);
	for (uint32_t n = 1; r == 0 && n < 40; n++) {
		r = window_add_mapping(window, elf_code(n % 2 ? n : 0), n % 2 ? "/x" : "[y]", n,
				       &mapping);
		if (r == 0)
			r = window_add_cgroup(window, n) < 0 ? -ENOMEM : 0;
	}
	if (window)
		assert_int_equal(builder_peek(window->builder)->nr_mappings,
				 window->nr_mappings + 1);
	if (window && r == 0)
		assert_int_equal(window->nr_mappings, 21);
	return r;
}

static void every_failed_allocation_is_an_error_and_leaves_the_window_whole(void **state)
{
	unsigned int nr_failures = 0;
	(void)state;

	for (unsigned int n = 1;; n++) {
		torture_begin(n);
		int r = fill_window();
		if (!torture_end()) {
			assert_int_equal(r, 0);
			break;
		}
		assert_int_equal(r, -ENOMEM);
		nr_failures++;
	}
	assert_true(nr_failures > 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_window_ends_with_its_second_and_is_empty),
		cmocka_unit_test(samples_are_counted_by_their_time),
		cmocka_unit_test(an_elf_file_has_one_mapping_whatever_its_name),
		cmocka_unit_test(code_without_an_elf_file_is_told_apart_by_name),
		cmocka_unit_test(mappings_are_numbered_in_the_order_they_were_added),
		cmocka_unit_test(code_of_processes_and_of_files_is_told_apart),
		cmocka_unit_test(a_mapping_has_its_files_name_and_size),
		cmocka_unit_test(mappings_over_the_limit_are_refused),
		cmocka_unit_test(a_place_is_kept_as_long_as_nothing_about_it_changes),
		cmocka_unit_test(a_cgroup_is_new_once),
		cmocka_unit_test(cgroups_over_the_limit_are_refused),
		cmocka_unit_test(every_failed_allocation_is_an_error_and_leaves_the_window_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
