/* SPDX-License-Identifier: Apache-2.0 */
/* Both kinds of memory: BPF maps, which need the privilege, and plain memory. */
#include "unwind/tables/unwind_memory.h"

#include "arena_fixture.h"
#include "base/clock.h"
#include "base/thread.h"
#include "torture.h"
#include "unwind/tables/unwind_memory_local.h"

#include <string.h>

#include "unit.h"

#define PID 4711

struct fixture {
	struct arena_fixture maps;
	struct unwind_memory *memory;
};

static int set_up_bpf(void **state)
{
	struct fixture *fixture = test_calloc(1, sizeof(*fixture));

	*state = fixture;
	if (!arena_fixture_is_possible())
		return 0;
	assert_int_equal(arena_fixture_open(&fixture->maps), 0);
	fixture->memory = fixture->maps.memory;
	return 0;
}

static int set_up_local(void **state)
{
	struct fixture *fixture = test_calloc(1, sizeof(*fixture));

	*state = fixture;
	return unwind_memory_local_new(3 * ARENA_CHUNK_BYTES, &fixture->memory);
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	if (fixture->maps.memory)
		arena_fixture_close(&fixture->maps);
	else
		unwind_memory_free(fixture->memory);
	test_free(fixture);
	return 0;
}

static struct unwind_memory *memory_of(void **state)
{
	struct unwind_memory *memory = ((struct fixture *)*state)->memory;

	if (!memory)
		skip();
	return memory;
}

static struct unwind_window map(struct unwind_memory *memory, uint64_t address, size_t len)
{
	struct unwind_window window;

	assert_int_equal(unwind_memory_map(memory, address, len, &window), 0);
	return window;
}

static void what_is_written_stays_there(void **state)
{
	static const struct {
		uint64_t address;
		size_t len;
	} pieces[] = {
		{ 0, 1 },
		{ 4095, 2 },
		{ 64000, 4096 },
		{ ARENA_CHUNK_BYTES - 64, 64 },
		{ ARENA_CHUNK_BYTES, 128 },
		{ 2 * ARENA_CHUNK_BYTES - 5000, 5000 },
	};
	struct unwind_memory *memory = memory_of(state);

	assert_int_equal(unwind_memory_add_chunk(memory, 0), 0);
	assert_int_equal(unwind_memory_add_chunk(memory, 1), 0);
	for (size_t i = 0; i < array_len(pieces); i++) {
		struct unwind_window window = map(memory, pieces[i].address, pieces[i].len);

		memset(window.place, (int)i + 1, pieces[i].len);
		unwind_memory_unmap(&window);
	}
	for (size_t i = 0; i < array_len(pieces); i++) {
		struct unwind_window window = map(memory, pieces[i].address, pieces[i].len);
		const uint8_t *bytes = window.place;

		for (size_t k = 0; k < pieces[i].len; k++)
			assert_int_equal(bytes[k], i + 1);
		unwind_memory_unmap(&window);
	}
}

static void a_chunk_that_is_there_stays_as_it_is(void **state)
{
	struct unwind_memory *memory = memory_of(state);

	assert_int_equal(unwind_memory_add_chunk(memory, 0), 0);
	struct unwind_window window = map(memory, 100, 4);
	assert_int_equal(*(uint32_t *)window.place, 0);
	memset(window.place, 7, 4);
	unwind_memory_unmap(&window);
	assert_int_equal(unwind_memory_add_chunk(memory, 0), 0);
	window = map(memory, 100, 4);
	assert_int_equal(*(uint32_t *)window.place, 0x07070707);
	unwind_memory_unmap(&window);
}

static void tables_are_empty_and_can_be_written(void **state)
{
	struct unwind_memory *memory = memory_of(state);

	for (uint32_t i = 0; i < MAX_TABLE_SLOTS; i += 1111)
		assert_int_equal(memory->tables[i].unit | memory->tables[i].used, 0);
	memory->tables[MAX_TABLE_SLOTS - 1].used = 5;
	assert_int_equal(memory->tables[MAX_TABLE_SLOTS - 1].used, 5);
}

static void waiting_needs_no_chunk(void **state)
{
	struct unwind_memory *memory = memory_of(state);

	assert_int_equal(unwind_memory_wait(memory), 0);
	assert_int_equal(unwind_memory_add_chunk(memory, 0), 0);
	assert_int_equal(unwind_memory_wait(memory), 0);
}

static void only_a_process_that_was_asked_for_is_bound(void **state)
{
	struct unwind_memory *memory = memory_of(state);
	struct fixture *fixture = *state;

	assert_int_equal(unwind_memory_bind(memory, PID, 1), -ENOENT);
	if (fixture->maps.memory)
		arena_fixture_set_binding(&fixture->maps, PID, 0);
	else
		assert_int_equal(
			bound_processes_set(&((struct local_memory *)memory)->processes, PID, 0),
			0);
	assert_int_equal(unwind_memory_bind(memory, PID, 77), 0);
	assert_int_equal(unwind_memory_bind(memory, PID + 1, 1), -ENOENT);
}

static void a_binding_is_found_once_it_is_set(void **state)
{
	struct unwind_memory *memory = memory_of(state);
	uint64_t binding = 0;

	assert_int_equal(unwind_memory_find_binding(memory, PID, &binding), -ENOENT);
	assert_int_equal(unwind_memory_set_binding(memory, PID, 77), 0);
	assert_int_equal(unwind_memory_find_binding(memory, PID, &binding), 0);
	assert_int_equal(binding, 77);
}

static void a_view_has_all_chunks_in_one_piece(void **state)
{
	struct unwind_memory *memory = memory_of(state);
	uint64_t address = ARENA_CHUNK_BYTES + 4096;
	struct unwind_view view;

	for (uint32_t i = 0; i < 2; i++)
		assert_int_equal(unwind_memory_add_chunk(memory, i), 0);
	struct unwind_window window = map(memory, address, 1);
	*(uint8_t *)window.place = 42;
	unwind_memory_unmap(&window);
	assert_int_equal(unwind_memory_open_view(memory, &view), 0);
	assert_true(view.max_bytes >= 2 * ARENA_CHUNK_BYTES);
	assert_int_equal(view.arena[address], 42);
	unwind_memory_close_view(memory, &view);
}

static void maps_that_are_none_are_errors(void **state)
{
	struct unwind_memory *memory = memory_of(state), *other = NULL;
	struct fixture *fixture = *state;

	(void)memory;
	assert_int_equal(unwind_memory_bpf_new(fixture->maps.arena_fd, -EBADF,
					       fixture->maps.processes_fd, &other),
			 -EBADF);
	assert_null(other);
	assert_int_equal(unwind_memory_bpf_new(-EBADF, fixture->maps.tables_fd, -EBADF, &other), 0);
	assert_int_equal(unwind_memory_add_chunk(other, 0), -EBADF);
	assert_int_equal(unwind_memory_bind(other, PID, 1), -EBADF);
	unwind_memory_free(other);
}

static void local_memory_is_bounded(void **state)
{
	struct unwind_memory *memory = memory_of(state), *smallest;

	assert_int_equal(unwind_memory_add_chunk(memory, 2), 0);
	assert_int_equal(unwind_memory_add_chunk(memory, 3), -ENOSPC);
	assert_int_equal(unwind_memory_local_new(0, &smallest), 0);
	assert_int_equal(unwind_memory_add_chunk(smallest, 0), 0);
	assert_int_equal(unwind_memory_add_chunk(smallest, 1), -ENOSPC);
	unwind_memory_free(smallest);
}

struct stack {
	struct local_memory *local;
	bool has_begun;
	bool is_done;
};

static void *unwind_slowly(void *data)
{
	const struct timespec moment = clock_timespec(50 * NSEC_PER_MSEC);
	struct stack *stack = data;

	pthread_mutex_lock(&stack->local->unwinding);
	__atomic_store_n(&stack->has_begun, true, __ATOMIC_RELEASE);
	nanosleep(&moment, NULL);
	__atomic_store_n(&stack->is_done, true, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&stack->local->unwinding);
	return NULL;
}

static void local_memory_is_waited_for_until_the_stack_is_done(void **state)
{
	struct stack stack = { .local = (struct local_memory *)memory_of(state) };
	pthread_t thread;

	assert_int_equal(thread_start("unwind", UINT64_MAX, unwind_slowly, &stack, &thread), 0);
	while (!__atomic_load_n(&stack.has_begun, __ATOMIC_ACQUIRE))
		sched_yield();
	assert_int_equal(unwind_memory_wait(&stack.local->memory), 0);
	assert_true(__atomic_load_n(&stack.is_done, __ATOMIC_ACQUIRE));
	assert_int_equal(pthread_join(thread, NULL), 0);
}

static void without_memory_there_is_none(void **state)
{
	struct unwind_memory *memory = NULL;
	bool has_failed = true;
	(void)state;

	for (unsigned int n = 1; has_failed; n++) {
		torture_begin(n);
		int r = unwind_memory_local_new(ARENA_CHUNK_BYTES, &memory);
		has_failed = torture_end();
		assert_int_equal(r, has_failed ? -ENOMEM : 0);
	}
	unwind_memory_free(memory);
	unwind_memory_free(NULL);
}

#define BPF(name) cmocka_unit_test_setup_teardown(name, set_up_bpf, tear_down)
#define LOCAL(name) cmocka_unit_test_setup_teardown(name, set_up_local, tear_down)
#define BOTH(name) BPF(name), LOCAL(name)

int main(void)
{
	const struct CMUnitTest tests[] = {
		BOTH(what_is_written_stays_there),
		BOTH(a_chunk_that_is_there_stays_as_it_is),
		BOTH(tables_are_empty_and_can_be_written),
		BOTH(waiting_needs_no_chunk),
		BOTH(only_a_process_that_was_asked_for_is_bound),
		BOTH(a_binding_is_found_once_it_is_set),
		BOTH(a_view_has_all_chunks_in_one_piece),
		BPF(maps_that_are_none_are_errors),
		LOCAL(local_memory_is_bounded),
		LOCAL(local_memory_is_waited_for_until_the_stack_is_done),
		cmocka_unit_test(without_memory_there_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
