/* SPDX-License-Identifier: Apache-2.0 */
/* Tests where the local unwinder differs from the kernel's: it has a copy of the stack, and
 * keeps bindings itself. */
#include "unwind/local_unwinder.h"

#include "base/clock.h"
#include "base/thread.h"
#include "local_bpf.h"
#include "scene.h"
#include "unwind/tables/unwind_arena.h"
#include "unwind/tables/unwind_memory_local.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "unit.h"

#define OTHER_PID 78
#define CODE_SLOT (SCENE_SLOT + 1)

static int begin_scene(void **state)
{
	(void)state;
	scene_begin();
	return 0;
}

/* By CFI, by frame pointer (of code without a file), and by CFI again. */
static const uint64_t six_frames[] = { IN_FUNCTION(1), IN_FUNCTION(2), SCENE_JIT + 16,
				       SCENE_JIT + 32, IN_FUNCTION(3), IN_ROOT };
/* Number of bytes of the stack that each of them needs. */
static const size_t six_ends[] = { 0, 8, 40, 56, 72, 88 };

static void set_six_frames(size_t nr_words)
{
	static const uint64_t words[] = { IN_FUNCTION(2),
					  1,
					  2,
					  3,
					  SCENE_JIT + 16,
					  STACK_WORD(7),
					  SCENE_JIT + 32,
					  STACK_WORD(9),
					  IN_FUNCTION(3),
					  4,
					  IN_ROOT };
	struct cfi_rule with_record = scene_rule(CFA_REGISTER, CFI_SP, 16);

	scene_set_rule(2, scene_rule(CFA_REGISTER, CFI_SP, 32));
	with_record.saved[0] = -2;
	scene_set_rule(3, with_record);
	fake_state()->regs[CFI_FP] = STACK_WORD(5);
	scene_set_stack(words, nr_words < array_len(words) ? nr_words : array_len(words));
}

static size_t frames_within(size_t len)
{
	size_t nr = 0;

	while (nr < array_len(six_ends) && six_ends[nr] <= len)
		nr++;
	return nr;
}

static void a_truncated_copy_ends_the_stack_wherever_it_ends(void **state)
{
	(void)state;
	set_six_frames(SIZE_MAX);
	for (size_t len = 0; len <= six_ends[5]; len++) {
		local_bpf_cut(len);
		scene_check(len < six_ends[5] ? UNWIND_TRUNCATED : UNWIND_COMPLETE, six_frames,
			    frames_within(len));
	}
}

static void a_stack_that_leaves_its_whole_copy_is_wrong(void **state)
{
	static const int results[] = {
		[1] = UNWIND_UNREADABLE_STACK,	[2] = UNWIND_UNREADABLE_STACK,
		[3] = UNWIND_BAD_FRAME_POINTER, [4] = UNWIND_BAD_FRAME_POINTER,
		[5] = UNWIND_UNREADABLE_STACK,	[6] = UNWIND_COMPLETE,
	};

	(void)state;
	for (size_t nr_words = 0; nr_words <= 11; nr_words++) {
		size_t nr_frames = frames_within(8 * nr_words);

		scene_begin();
		set_six_frames(nr_words);
		scene_check(results[nr_frames], six_frames, nr_frames);
	}
}

static void what_is_far_from_a_cut_copy_is_no_part_of_its_stack(void **state)
{
	static const struct {
		uint64_t fp;
		int result_by_cfi;
		int result_by_fp;
	} cases[] = {
		{ SCENE_STACK + 4096, UNWIND_TRUNCATED, UNWIND_TRUNCATED },
		{ SCENE_STACK + (4 << 20), UNWIND_TRUNCATED, UNWIND_TRUNCATED },
		{ SCENE_STACK + (64 << 20), UNWIND_UNREADABLE_STACK, UNWIND_BAD_FRAME_POINTER },
		{ SCENE_STACK - 4096, UNWIND_NOT_ASCENDING, UNWIND_BAD_FRAME_POINTER },
		{ SCENE_JIT, UNWIND_NOT_ASCENDING, UNWIND_BAD_FRAME_POINTER },
		{ 0xffffffff81000000, UNWIND_UNREADABLE_STACK, UNWIND_BAD_FRAME_POINTER },
	};

	(void)state;
	for (size_t i = 0; i < array_len(cases); i++) {
		scene_begin();
		set_six_frames(SIZE_MAX);
		local_bpf_cut(64);
		fake_state()->regs[CFI_FP] = cases[i].fp;
		scene_set_rule(1, scene_rule(CFA_REGISTER, CFI_FP, 16));
		assert_unwinds(cases[i].result_by_cfi, IN_FUNCTION(1));
		local_bpf_forget_rules();
		scene_set_rule(1, scene_rule(CFA_NONE, CFI_FP, 0));
		assert_unwinds(cases[i].result_by_fp, IN_FUNCTION(1));
	}
}

/* All of the stack is there, in this process, where it goes on and may be another one by now. */
static void the_process_is_not_asked_for_its_stack(void **state)
{
	const uint64_t live[] = { IN_FUNCTION(2), IN_FUNCTION(3), IN_ROOT };

	(void)state;
	fake_state()->pid = (uint32_t)getpid();
	fake_state()->regs[CFI_SP] = (uintptr_t)live;
	fake_bind((uint32_t)getpid(), MAPPING_BINDING(SCENE_LIST, SCENE_LIST_ID));
	fake_add_memory((uintptr_t)live, live, sizeof(live));
	local_bpf_cut(8);
	assert_unwinds(UNWIND_TRUNCATED, IN_FUNCTION(1), IN_FUNCTION(2));
	local_bpf_cut(16);
	assert_unwinds(UNWIND_TRUNCATED, IN_FUNCTION(1), IN_FUNCTION(2), IN_FUNCTION(3));
	local_bpf_cut(24);
	assert_unwinds(UNWIND_COMPLETE, IN_FUNCTION(1), IN_FUNCTION(2), IN_FUNCTION(3), IN_ROOT);
}

/* Code of a C library without CFI, in this process. It ends a signal handler (mov $15, %rax;
 * syscall; on arm64 mov x8, #139; svc #0), and what it interrupted is in the copy. */
static const uint64_t library[] = { 0, CFI_IS_ARM64 ? 0xd4000001d2801168 : 0x0f0000000fc0c748, 0, 0,
				    0 };
#define IN_SIGRETURN ((uintptr_t)&library[1])

static void the_process_is_not_asked_for_its_code(void **state)
{
	const uint64_t starts[] = { SCENE_CODE, SCENE_CODE_END, (uintptr_t)library,
				    (uintptr_t)(library + array_len(library)) };
	static const uint32_t slots[] = { SCENE_SLOT, HOLE, CODE_SLOT, HOLE };
	static const uint64_t biases[] = { SCENE_CODE - SCENE_FILE_OFFSET, 0, 0, 0 };
	const uint64_t words[23] = { [0] = IN_SIGRETURN, [22] = IN_ROOT };

	(void)state;
	scene_put_list(starts, slots, biases, array_len(starts));
	fake_set_table(CODE_SLOT, TABLE_WITHOUT_CFI);
	fake_state()->pid = (uint32_t)getpid();
	fake_bind((uint32_t)getpid(), MAPPING_BINDING(SCENE_LIST, SCENE_LIST_ID));
	fake_state()->regs[CFI_FP] = 1;
	scene_set_stack(words, array_len(words));
	assert_unwinds(UNWIND_BAD_FRAME_POINTER, IN_FUNCTION(1), IN_SIGRETURN);
}

/* A function of Go: its frame record is right below its CFA, at sp + 16, and no other register
 * is kept for its caller. */
static struct cfi_rule go_rule(void)
{
	struct cfi_rule rule = scene_rule(CFA_REGISTER, CFI_SP, 16);

	for (size_t i = 0; i < NR_SAVED_REGS; i++)
		rule.saved[i] = CFI_LOST;
	rule.saved[0] = (cfi_slot)(rule.return_address - 1);
	if (CFI_IS_ARM64)
		rule.flags = CFI_SAVED_BELOW_SP;
	return rule;
}

#define OTHER_STACK 0xc000001000ULL /* not copied */
#define IN_SYSTEMSTACK IN_FUNCTION(3)

/* Go's runtime has called function 1 by systemstack(), on its own stack. Its caller is
 * in function 4. */
static const uint64_t switched[] = { IN_FUNCTION(1), IN_FUNCTION(2), IN_SYSTEMSTACK,
				     IN_FUNCTION(4), IN_FUNCTION(5), IN_ROOT };
#define NR_ON_COPY 3

static void switch_stacks(void)
{
	scene_begin();
	scene_set_rule(1, go_rule());
	scene_set_rule(2, go_rule());
	scene_set_rule(3, scene_rule(CFA_STACK_SWITCH, CFI_SP, 0));
	scene_set_rule(4, go_rule());
	scene_set_rule(5, go_rule());
	scene_stack(STACK_WORD(2), IN_FUNCTION(2), OTHER_STACK, IN_SYSTEMSTACK);
	fake_state()->regs[CFI_FP] = STACK_WORD(0);
	local_bpf_set_chain(switched, array_len(switched));
}

static void behind_a_change_of_stacks_the_kernels_chain_goes_on(void **state)
{
	(void)state;
	switch_stacks();
	scene_check(UNWIND_COMPLETE, switched, array_len(switched));
	local_bpf_cut(4 * 8);
	scene_check(UNWIND_COMPLETE, switched, array_len(switched));
}

static void a_chain_that_ends_early_leaves_a_stack_without_root(void **state)
{
	(void)state;
	for (size_t nr = 0; nr < array_len(switched); nr++) {
		switch_stacks();
		local_bpf_set_chain(switched, nr);
		scene_check(UNWIND_UNREADABLE_STACK, switched, nr < NR_ON_COPY ? NR_ON_COPY : nr);
	}
}

/* The kernel went another way to where the copy ends, or what it found is of another instant. */
static void a_chain_that_is_not_the_copys_is_not_followed(void **state)
{
	(void)state;
	for (size_t i = 0; i < NR_ON_COPY; i++) {
		uint64_t other[array_len(switched)];

		switch_stacks();
		memcpy(other, switched, sizeof(other));
		other[i] += 8;
		local_bpf_set_chain(other, array_len(other));
		scene_check(UNWIND_UNREADABLE_STACK, switched, NR_ON_COPY);
	}
	switch_stacks();
	fake_state()->regs[CFI_FP] = STACK_WORD(
		2); /* it begins one frame later: one address less */
	scene_check(UNWIND_UNREADABLE_STACK, switched, NR_ON_COPY);
}

/* Code that is not Go's may have anything in the frame pointer. */
static void a_chain_is_followed_through_go_code_alone(void **state)
{
	struct cfi_rule others[] = {
		scene_rule(CFA_REGISTER, CFI_SP, 16),
		scene_rule(CFA_NONE, CFI_SP, 0),
		scene_rule(CFA_STACK_SWITCH, CFI_SP, 0),
		go_rule(),
		go_rule(),
		go_rule(),
	};

	(void)state;
	others[0].saved[0] = (cfi_slot)(others[0].return_address - 1); /* C that pushes it first */
	others[3].reg = CFI_FP;
	others[4].saved[0] = CFI_NOT_SAVED; /* it has no frame yet */
	others[5].offset = 8; /* or none any more */
	for (size_t i = 0; i < array_len(others) - CFI_IS_ARM64; i++) {
		switch_stacks();
		scene_set_rule(4, others[i]);
		scene_check(UNWIND_UNREADABLE_STACK, switched, NR_ON_COPY + 1);
	}
}

static void a_chain_is_for_nothing_but_changes_of_stacks(void **state)
{
	(void)state;
	switch_stacks();
	scene_set_rule(3, scene_rule(CFA_NONE, CFI_SP, 0));
	scene_check(UNWIND_BAD_FRAME_POINTER, switched, NR_ON_COPY);
	switch_stacks();
	scene_set_rule(3, go_rule());
	scene_check(UNWIND_UNREADABLE_STACK, switched, NR_ON_COPY);
}

/* User space writes its frame records itself. */
static void a_chain_of_no_code_ends_the_stack(void **state)
{
	uint64_t bad[array_len(switched)];

	(void)state;
	memcpy(bad, switched, sizeof(bad));
	bad[4] = 0xffffffff81000000;
	switch_stacks();
	local_bpf_set_chain(bad, array_len(bad));
	scene_check(UNWIND_BAD_RETURN_ADDRESS, bad, 4);
	bad[4] = 0;
	switch_stacks();
	local_bpf_set_chain(bad, array_len(bad));
	scene_check(UNWIND_COMPLETE, bad, 4);
}

/* Whatever is in its place. */
static void a_missing_register_ends_a_stack_that_needs_it(void **state)
{
	(void)state;
	scene_stack(0, IN_ROOT);
	scene_set_rule(1, scene_rule(CFA_REGISTER, CFI_FP, 16));
	fake_state()->regs[CFI_FP] = STACK_WORD(0);
	fake_state()->missing = ALL_REGISTERS & ~REGISTER_BIT(CFI_FP);
	assert_unwinds(UNWIND_COMPLETE, IN_FUNCTION(1), IN_ROOT);
	fake_state()->missing = REGISTER_BIT(CFI_FP);
	assert_unwinds(UNWIND_LOST_REGISTER, IN_FUNCTION(1));
	scene_set_rule(1, scene_rule(CFA_NONE, CFI_FP, 0));
	assert_unwinds(UNWIND_LOST_REGISTER, IN_FUNCTION(1));
}

static void a_missing_register_is_known_where_it_was_saved(void **state)
{
	struct cfi_rule saves = scene_rule(CFA_REGISTER, CFI_SP, 16);

	(void)state;
	saves.saved[0] = (cfi_slot)-2;
	scene_set_rule(1, saves);
	scene_set_rule(2, scene_rule(CFA_REGISTER, CFI_FP, 16));
	scene_stack(STACK_WORD(2), IN_FUNCTION(2), 0, IN_ROOT);
	fake_state()->missing = REGISTER_BIT(CFI_FP);
	assert_unwinds(UNWIND_COMPLETE, IN_FUNCTION(1), IN_FUNCTION(2), IN_ROOT);
}

static void follow(enum proc_event_kind kind, uint32_t pid, uint32_t parent_pid)
{
	const struct proc_event event = { .kind = kind, .pid = pid, .parent_pid = parent_pid };

	local_unwinder_follow(local_bpf_unwinder(), &event);
}

static void expect_known(uint32_t pid, bool is_known)
{
	fake_state()->pid = pid;
	assert_int_equal(scene_unwind(), is_known ? UNWIND_COMPLETE : UNWIND_NEW_PROCESS);
	assert_int_equal(fake_event()->nr_user, is_known ? 2 : 1);
}

static void an_unknown_process_is_asked_for_once(void **state)
{
	uint64_t binding = MAPPING_BINDING(SCENE_LIST, SCENE_LIST_ID);

	(void)state;
	scene_stack(IN_ROOT);
	assert_int_equal(unwind_memory_bind(local_bpf_memory(), OTHER_PID, binding), -ENOENT);
	expect_known(OTHER_PID, false);
	assert_true(local_bpf_asks);
	expect_known(OTHER_PID, false);
	assert_false(local_bpf_asks);
	assert_int_equal(unwind_memory_bind(local_bpf_memory(), OTHER_PID, binding), 0);
	expect_known(OTHER_PID, true);
	assert_false(local_bpf_asks);
}

static void a_binding_to_another_list_is_none(void **state)
{
	(void)state;
	scene_stack(IN_ROOT);
	fake_bind(SCENE_PID, MAPPING_BINDING(SCENE_LIST, SCENE_LIST_ID + 1));
	expect_known(SCENE_PID, false);
	assert_true(local_bpf_asks);
}

static void bindings_follow_processes(void **state)
{
	(void)state;
	scene_stack(IN_ROOT);
	follow(PROC_FORK, OTHER_PID, SCENE_PID);
	expect_known(OTHER_PID, true);
	follow(PROC_EXEC, OTHER_PID, 0);
	expect_known(OTHER_PID, false);
	follow(PROC_MMAP, SCENE_PID, 0);
	follow(PROC_KERNEL_CODE, 0, 0);
	expect_known(SCENE_PID, true);
	follow(PROC_EXEC, SCENE_PID, 0);
	/* A parent that has nothing leaves nothing, not even what the pid had before. */
	fake_bind(OTHER_PID, MAPPING_BINDING(SCENE_LIST, SCENE_LIST_ID));
	follow(PROC_FORK, OTHER_PID, SCENE_PID);
	expect_known(OTHER_PID, false);
	assert_true(local_bpf_asks);
}

/* Its first thread may be over, by pthread_exit(), long before the others. */
static void a_process_is_known_when_its_first_thread_is_over(void **state)
{
	(void)state;
	scene_stack(IN_ROOT);
	follow(PROC_EXIT, SCENE_PID, 0);
	expect_known(SCENE_PID, true);
}

static void without_all_events_no_binding_is_true(void **state)
{
	(void)state;
	scene_stack(IN_ROOT);
	follow(PROC_FORK, OTHER_PID, SCENE_PID);
	local_unwinder_lose_events(local_bpf_unwinder());
	expect_known(SCENE_PID, false);
	expect_known(OTHER_PID, false);
}

static void code_in_no_mapping_is_news_once(void **state)
{
	(void)state;
	scene_stack(SCENE_JIT_END + 64);
	fake_state()->regs[CFI_FP] = 0;
	assert_unwinds(UNWIND_COMPLETE, IN_FUNCTION(1), SCENE_JIT_END + 64);
	assert_true(local_bpf_asks);
	assert_unwinds(UNWIND_COMPLETE, IN_FUNCTION(1), SCENE_JIT_END + 64);
	assert_false(local_bpf_asks);
}

static void user_frames_come_behind_those_of_the_kernel(void **state)
{
	struct sample_event *event = fake_event();

	(void)state;
	scene_stack(IN_ROOT);
	event->nr_kernel = MAX_KERNEL_FRAMES;
	event->frames[0] = 1;
	event->frames[MAX_KERNEL_FRAMES - 1] = 2;
	assert_int_equal(scene_unwind(), UNWIND_COMPLETE);
	assert_int_equal(event->nr_kernel, MAX_KERNEL_FRAMES);
	assert_int_equal(event->nr_user, 2);
	assert_int_equal(event->frames[0], 1);
	assert_int_equal(event->frames[MAX_KERNEL_FRAMES - 1], 2);
	assert_int_equal(event->frames[MAX_KERNEL_FRAMES], IN_FUNCTION(1));
	assert_int_equal(event->frames[MAX_KERNEL_FRAMES + 1], IN_ROOT);
}

static void a_stack_that_is_too_deep_keeps_its_leaf_end(void **state)
{
	uint64_t words[MAX_USER_FRAMES + 1];

	(void)state;
	for (size_t i = 0; i < array_len(words); i++)
		words[i] = IN_FUNCTION(2);
	scene_set_stack(words, array_len(words));
	fake_event()->nr_kernel = MAX_KERNEL_FRAMES;
	assert_int_equal(scene_unwind(), UNWIND_TOO_DEEP);
	assert_int_equal(fake_event()->nr_user, MAX_USER_FRAMES);
	assert_int_equal(fake_event()->frames[MAX_KERNEL_FRAMES + MAX_USER_FRAMES - 1],
			 IN_FUNCTION(2));
}

struct changer {
	struct unwind_memory *memory;
	struct unwind_arena *arena;
	const uint8_t *table;
	uint8_t *garbage;
	size_t len;
	bool is_over;
};

static void set_slot(const struct changer *changer, uint32_t unit)
{
	__atomic_store_n(&changer->memory->tables[SCENE_SLOT].unit, unit, __ATOMIC_RELEASE);
}

/* The table comes and goes, and its place has something else in between. */
static void *change_tables(void *data)
{
	struct changer *changer = data;
	uint32_t unit;

	while (!__atomic_load_n(&changer->is_over, __ATOMIC_RELAXED)) {
		if (unwind_arena_put(changer->arena, changer->table, changer->len, &unit) < 0)
			abort();
		set_slot(changer, unit);
		sched_yield();
		set_slot(changer, TABLE_NOT_LOADED);
		unwind_arena_free(changer->arena, unit, changer->len);
		if (unwind_arena_wait(changer->arena) < 0 ||
		    unwind_arena_put(changer->arena, changer->garbage, changer->len, &unit) < 0)
			abort();
		unwind_arena_free(changer->arena, unit, changer->len);
		unwind_arena_reclaim(changer->arena);
	}
	return NULL;
}

/* To the arena, which did not give it out, the scene's own list and table are one piece. */
static void start_changer(struct changer *changer)
{
	static uint8_t scene[15000 * ARENA_UNIT];
	struct row_table head;
	uint32_t unit;

	set_six_frames(SIZE_MAX);
	scene_check(UNWIND_COMPLETE, six_frames, array_len(six_frames));
	changer->memory = local_bpf_memory();
	const uint8_t *bytes = ((struct local_memory *)changer->memory)->arena;
	memcpy(scene, bytes + (TABLE_WITHOUT_CFI + 1) * ARENA_UNIT, sizeof(scene));
	assert_int_equal(unwind_arena_new(changer->memory, 2 * ARENA_CHUNK_BYTES, &changer->arena),
			 0);
	assert_int_equal(unwind_arena_put(changer->arena, scene, sizeof(scene), &unit), 0);
	assert_int_equal(unit, TABLE_WITHOUT_CFI + 1);
	changer->table = bytes + SCENE_TABLE * ARENA_UNIT;
	memcpy(&head, changer->table, sizeof(head));
	changer->len = head.bytes;
	changer->garbage = malloc(changer->len);
	assert_non_null(changer->garbage);
	memset(changer->garbage, 0x33, changer->len);
}

static void tables_may_go_while_stacks_are_unwound(void **state)
{
	uint64_t deadline_ns = clock_mono_ns() + 300 * NSEC_PER_MSEC;
	size_t nr_complete = 0, nr_missing = 0;
	struct changer changer = { 0 };
	pthread_t thread;

	(void)state;
	start_changer(&changer);
	assert_int_equal(thread_start("change", UINT64_MAX, change_tables, &changer, &thread), 0);
	while (clock_mono_ns() < deadline_ns || nr_complete == 0 || nr_missing == 0) {
		local_bpf_forget_rules();
		int result = unwind_native();

		sched_yield();
		if (result != UNWIND_NOT_LOADED)
			assert_int_equal(result, UNWIND_COMPLETE);
		if (result == UNWIND_COMPLETE)
			assert_memory_equal(fake_event()->frames, six_frames, sizeof(six_frames));
		nr_complete += result == UNWIND_COMPLETE;
		nr_missing += result == UNWIND_NOT_LOADED;
	}
	__atomic_store_n(&changer.is_over, true, __ATOMIC_RELAXED);
	assert_int_equal(pthread_join(thread, NULL), 0);
	unwind_arena_close(changer.arena);
	free(changer.garbage);
}

#define SCENE_TEST(name) cmocka_unit_test_setup(name, begin_scene)

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCENE_TEST(a_truncated_copy_ends_the_stack_wherever_it_ends),
		SCENE_TEST(a_stack_that_leaves_its_whole_copy_is_wrong),
		SCENE_TEST(what_is_far_from_a_cut_copy_is_no_part_of_its_stack),
		SCENE_TEST(the_process_is_not_asked_for_its_stack),
		SCENE_TEST(the_process_is_not_asked_for_its_code),
		SCENE_TEST(behind_a_change_of_stacks_the_kernels_chain_goes_on),
		SCENE_TEST(a_chain_that_ends_early_leaves_a_stack_without_root),
		SCENE_TEST(a_chain_that_is_not_the_copys_is_not_followed),
		SCENE_TEST(a_chain_is_followed_through_go_code_alone),
		SCENE_TEST(a_chain_is_for_nothing_but_changes_of_stacks),
		SCENE_TEST(a_chain_of_no_code_ends_the_stack),
		SCENE_TEST(a_missing_register_ends_a_stack_that_needs_it),
		SCENE_TEST(a_missing_register_is_known_where_it_was_saved),
		SCENE_TEST(an_unknown_process_is_asked_for_once),
		SCENE_TEST(a_binding_to_another_list_is_none),
		SCENE_TEST(bindings_follow_processes),
		SCENE_TEST(a_process_is_known_when_its_first_thread_is_over),
		SCENE_TEST(without_all_events_no_binding_is_true),
		SCENE_TEST(code_in_no_mapping_is_news_once),
		SCENE_TEST(user_frames_come_behind_those_of_the_kernel),
		SCENE_TEST(a_stack_that_is_too_deep_keeps_its_leaf_end),
		SCENE_TEST(tables_may_go_while_stacks_are_unwound),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
