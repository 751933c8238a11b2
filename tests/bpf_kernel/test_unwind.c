/* SPDX-License-Identifier: Apache-2.0 */
/* Whole stacks in the running kernel, from a program that has no frame pointers (subject.h). A
 * stack is told as text, leaf first, with what follows itself only once:
 * "spin;inner;middle;outer;…". */
#include "base/clock.h"
#include "base/strbuf.h"
#include "bpf/shared/frames.h"
#include "process/process_set.h"
#include "rows_worker_main.h"
#include "small_agent.h"
#include "tested_backend.h"
#include "subject.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit.h"

#define ROOT "inner;middle;outer;become_subject;main;libc;_start"
#define SPINNING "spin;" ROOT
#define NR_SAMPLES 50
#define MAX_TEXT 4096
#define START_BYTES 64 /* of _start(), at least */

#define X(name) extern const char __start_subject_##name[], __stop_subject_##name[];
SUBJECT_FUNCTIONS(X)
#undef X

void _start(void);

static const struct {
	const char *name;
	const char *start;
	const char *end;
} functions[] = {
#define X(name) { #name, __start_subject_##name, __stop_subject_##name },
	SUBJECT_FUNCTIONS(X)
#undef X
};

struct fixture {
	struct small_agent agent;
	pid_t subject;
};

/* A run: what was expected, and what was seen. */
struct watch {
	struct fixture *fixture;
	const char *expected; /* NULL: any stack with that result */
	enum unwind_result result;
	uint64_t nr_wanted; /* samples; the run ends then */
	pid_t other_than; /* samples of this process are left out; 0: none */
	bool in_kernel; /* samples of user space are left out */
	bool until_expected; /* the run ends with the first stack as expected */

	uint64_t nr_seen;
	uint64_t nr_expected;
	uint64_t nr_of[UNWIND_NR_RESULTS];
	uint16_t min_frames; /* of user space */
	uint16_t max_frames;
	uint8_t first_broken; /* enum unwind_result; 0: all were complete */
	char odd[MAX_TEXT]; /* the last one that was not as expected */
};

static void start(struct fixture *fixture, const char *mode, const char *argument)
{
	fixture->subject = subject_start(mode, argument);
	assert_true(fixture->subject > 0);
	small_agent_start(&fixture->agent, (uint32_t)fixture->subject);
}

static int set_up(void **state)
{
	*state = test_calloc(1, sizeof(struct fixture));
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	subject_stop(fixture->subject);
	small_agent_stop(&fixture->agent);
	test_free(fixture);
	return 0;
}

static uint64_t offset_in(const struct mapping *mapping, uint64_t address)
{
	return address - mapping->start + mapping->file_offset;
}

/* The function of this program, or of another process that runs it. */
static const char *function_at(const struct mapping *own, uint64_t offset)
{
	for (size_t i = 0; i < array_len(functions); i++)
		if (offset >= offset_in(own, (uintptr_t)functions[i].start) &&
		    offset < offset_in(own, (uintptr_t)functions[i].end))
			return functions[i].name;
	uint64_t root = offset_in(own, (uintptr_t)_start);
	return offset >= root && offset < root + START_BYTES ? "_start" : "?";
}

static const char *name_of(struct fixture *fixture, const struct process *process, uint64_t address)
{
	const struct process *self = small_agent_process(&fixture->agent, (uint32_t)getpid());
	const struct mapping *own = mapping_list_find(self->mappings, (uintptr_t)_start);
	const struct mapping *mapping = mapping_list_find(process->mappings, address);

	assert_non_null(own);
	if (!mapping)
		return "?";
	if (mapping->file->inode == own->file->inode)
		return function_at(own, offset_in(mapping, address));
	const char *slash = strrchr(mapping->file->path, '/');
	const char *base = slash ? slash + 1 : mapping->file->path;
	return strncmp(base, "libc.", 5) == 0 || strncmp(base, "libc-", 5) == 0 ? "libc" : base;
}

static void describe(struct fixture *fixture, const struct process *process,
		     const struct sample_event *event, struct strbuf *text)
{
	const char *last = "";

	for (size_t i = 0; i < event->nr_user; i++) {
		uint64_t frame = event->frames[event->nr_kernel + i];
		bool is_call = i > 0 && frame == FRAME_ADDRESS(frame);
		const char *name = name_of(fixture, process, FRAME_ADDRESS(frame) - is_call);

		if (is_call && strcmp(name, last) == 0)
			continue;
		strbuf_appendf(text, "%s%s%s", i > 0 ? ";" : "",
			       frame & FRAME_INTERRUPTED ? "!" : "", name);
		last = name;
	}
}

static void count(struct watch *watch, const struct sample_event *event, bool is_expected)
{
	if (watch->nr_seen++ == 0 || event->nr_user < watch->min_frames)
		watch->min_frames = event->nr_user;
	if (event->nr_user > watch->max_frames)
		watch->max_frames = event->nr_user;
	watch->nr_expected += is_expected;
	watch->nr_of[event->unwind_result]++;
	/* Within execve(2) the old program's registers meet the new one's memory. */
	if (watch->first_broken == UNWIND_COMPLETE &&
	    (event->in_user || event->unwind_result == UNWIND_NEW_PROCESS))
		watch->first_broken = event->unwind_result;
}

static bool look_at(const struct sample_event *event, struct process *process, void *data)
{
	_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max(MAX_TEXT);
	struct watch *watch = data;

	if (event->pid == (uint32_t)watch->other_than || (watch->in_kernel && event->in_user))
		return false;
	describe(watch->fixture, process, event, &text);
	bool is_expected = event->unwind_result == watch->result &&
			   (!watch->expected || strcmp(strbuf_str(&text), watch->expected) == 0);
	if (!is_expected)
		snprintf(watch->odd, sizeof(watch->odd), "%u %s", event->unwind_result,
			 strbuf_str(&text));
	count(watch, event, is_expected);
	if (watch->until_expected)
		return is_expected;
	return watch->nr_seen >= watch->nr_wanted;
}

static void run(struct watch *watch)
{
	bool is_done = small_agent_run(&watch->fixture->agent, look_at, watch);

	if (!is_done && watch->expected)
		assert_string_equal(watch->odd, watch->expected);
	assert_true(is_done);
}

/* Waits until a stack is as expected. What that took is in the result. */
static struct watch await(struct fixture *fixture, const char *expected, enum unwind_result result)
{
	struct watch watch = {
		.fixture = fixture,
		.expected = expected,
		.result = result,
		.until_expected = true,
	};

	run(&watch);
	return watch;
}

/* From now on every stack is as expected. */
static struct watch expect(struct fixture *fixture, const char *expected, enum unwind_result result)
{
	struct watch watch = {
		.fixture = fixture,
		.expected = expected,
		.result = result,
		.nr_wanted = NR_SAMPLES,
	};

	run(&watch);
	if (watch.nr_expected < watch.nr_seen)
		assert_string_equal(watch.odd, expected);
	return watch;
}

/* Returns the first result of a process that is not known yet. With perf, a process is looked at
 * before it is unwound, and what is missing are its tables. */
static enum unwind_result first_result(void)
{
	return tested_backend == CAPTURE_PERF ? UNWIND_NOT_LOADED : UNWIND_NEW_PROCESS;
}

static void a_stack_without_frame_pointers_is_whole(void **state)
{
	struct fixture *fixture = *state;

	start(fixture, "spin", "");
	struct watch watch = await(fixture, SPINNING, UNWIND_COMPLETE);
	assert_int_equal(watch.first_broken, first_result());
	expect(fixture, SPINNING, UNWIND_COMPLETE);
}

static void a_deep_stack_is_whole(void **state)
{
	struct fixture *fixture = *state;

	start(fixture, "deep", "600");
	await(fixture, "spin;recurse;descend;" ROOT, UNWIND_COMPLETE);
	struct watch watch = expect(fixture, "spin;recurse;descend;" ROOT, UNWIND_COMPLETE);
	assert_in_range(watch.min_frames, 600 + 8, 600 + 16);
	assert_int_equal(watch.max_frames, watch.min_frames);
}

static void a_stack_that_is_too_deep_keeps_its_leaf_end(void **state)
{
	struct fixture *fixture = *state;

	start(fixture, "deep", "3000");
	await(fixture, "spin;recurse", UNWIND_TOO_DEEP);
	struct watch watch = expect(fixture, "spin;recurse", UNWIND_TOO_DEEP);
	assert_int_equal(watch.min_frames, MAX_USER_FRAMES);
	assert_int_equal(watch.max_frames, MAX_USER_FRAMES);
}

static void a_signal_handler_stands_on_what_it_interrupted(void **state)
{
	struct fixture *fixture = *state;

	start(fixture, "signal", "");
	if (tested_backend == CAPTURE_PERF)
		skip(); /* what is copied is the handler's stack, not the one that it interrupted */
	await(fixture, "burn_in_handler;handle_alarm;libc;!spin;" ROOT, UNWIND_COMPLETE);
	expect(fixture, "burn_in_handler;handle_alarm;libc;!spin;" ROOT, UNWIND_COMPLETE);
}

static void a_system_call_has_both_stacks(void **state)
{
	struct fixture *fixture = *state;
	struct watch watch = {
		.fixture = fixture,
		.expected = "libc;read_zeros;" ROOT,
		.nr_wanted = NR_SAMPLES,
		.in_kernel = true,
	};

	start(fixture, "calls", "");
	await(fixture, watch.expected, UNWIND_COMPLETE);
	run(&watch);
	assert_int_equal(watch.nr_of[UNWIND_COMPLETE], watch.nr_seen);
	/* An interrupt may come to user space, too. */
	assert_true(watch.nr_expected * 10 >= watch.nr_seen * 8);
}

static void a_forked_child_is_unwound_at_once(void **state)
{
	struct fixture *fixture = *state;
	struct watch watch = {
		.fixture = fixture,
		.expected = SPINNING,
		.nr_wanted = NR_SAMPLES,
	};

	start(fixture, "spin", "");
	watch.other_than = fixture->subject;
	await(fixture, SPINNING, UNWIND_COMPLETE);
	expect(fixture, SPINNING, UNWIND_COMPLETE);
	kill(fixture->subject, SIGUSR1);
	run(&watch);
	assert_int_equal(watch.nr_of[UNWIND_COMPLETE], watch.nr_seen);
	assert_true(watch.nr_expected * 10 >= watch.nr_seen * 8);
}

/* Its files are those of the process before. */
static void exec_makes_a_new_process_that_is_unwound_at_once(void **state)
{
	struct fixture *fixture = *state;
	struct watch watch = { .fixture = fixture, .nr_wanted = 4 * NR_SAMPLES };

	start(fixture, "spin", "");
	await(fixture, SPINNING, UNWIND_COMPLETE);
	expect(fixture, SPINNING, UNWIND_COMPLETE);
	kill(fixture->subject, SIGUSR2);
	run(&watch);
	assert_int_equal(watch.nr_of[UNWIND_NEW_PROCESS], 0);
	await(fixture, SPINNING, UNWIND_COMPLETE);
	expect(fixture, SPINNING, UNWIND_COMPLETE);
}

static void a_library_that_is_loaded_later_is_unwound(void **state)
{
	struct fixture *fixture = *state;

	start(fixture, "plugin", PLUGIN_PATH);
	await(fixture, SPINNING, UNWIND_COMPLETE);
	expect(fixture, SPINNING, UNWIND_COMPLETE);
	kill(fixture->subject, SIGUSR1);
	struct watch watch = await(fixture, PLUGIN_NAME ";load_plugin;obey;" ROOT, UNWIND_COMPLETE);
	assert_int_equal(watch.nr_of[UNWIND_NEW_PROCESS], 0);
	expect(fixture, PLUGIN_NAME ";load_plugin;obey;" ROOT, UNWIND_COMPLETE);
}

#define UNWIND_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

SUBJECT(main) int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		UNWIND_TEST(a_stack_without_frame_pointers_is_whole),
		UNWIND_TEST(a_deep_stack_is_whole),
		UNWIND_TEST(a_stack_that_is_too_deep_keeps_its_leaf_end),
		UNWIND_TEST(a_signal_handler_stands_on_what_it_interrupted),
		UNWIND_TEST(a_system_call_has_both_stacks),
		UNWIND_TEST(a_forked_child_is_unwound_at_once),
		UNWIND_TEST(exec_makes_a_new_process_that_is_unwound_at_once),
		UNWIND_TEST(a_library_that_is_loaded_later_is_unwound),
	};

	if (is_rows_worker(argc, argv))
		return rows_worker_main();
	become_subject(argc, argv);
	tested_backend_choose(argc, argv);
	if (geteuid() != 0) {
		fputs("SKIP: loading BPF programs needs root\n", stderr);
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
