/* SPDX-License-Identifier: Apache-2.0 */
#include "dump/dump.h"

#include "base/cleanup.h"
#include "stacks.h"
#include "unit.h"

#include <string.h>

#define PLENTY_BYTES (1 << 20)

static char *const futex = (char[]){ "futex_wait\ndo_syscall_64\n" };

/* The samples of profile_of_stacks() have thread 0 in common, so each dump has one stack. */
static struct dump dump_of(const struct profile *profile, const struct thread_list *threads)
{
	return (struct dump){
		.pid = 12,
		.command_line = "sh -c x",
		.threads = threads,
		.profile = profile,
		.stopped_ns = 1500000,
	};
}

static struct profile *one_stack(void)
{
	return profile_of_stacks(&(struct stack_line){ "sh", "main;fill_[i];run_[p]", 1 }, 1);
}

static void frames_are_shown_innermost_first(void **state)
{
	_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(PLENTY_BYTES);
	_cleanup_(profile_unrefp) struct profile *profile = one_stack();
	struct thread_info items[] = { { 0, 'S', "sh", futex } };
	const struct thread_list threads = { items, 1, 1 };
	const struct dump dump = dump_of(profile, &threads);
	(void)state;

	assert_int_equal(dump_append_text(&dump, &out), 0);
	assert_string_equal(strbuf_str(&out), "pid 12: sh -c x\n"
					      "1 thread, stopped for 1.5 ms\n"
					      "\n"
					      "thread 0 \"sh\": sleeping\n"
					      "    futex_wait [kernel]\n"
					      "    do_syscall_64 [kernel]\n"
					      "    run\n"
					      "    fill [inlined]\n"
					      "    main\n");
}

static void a_running_thread_has_no_kernel_stack(void **state)
{
	const struct thread_info thread = { 0, 'R', "sh", futex };
	(void)state;

	assert_string_equal(dump_kernel_stack(&thread), "");
}

static void a_thread_without_a_sample_is_shown(void **state)
{
	_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(PLENTY_BYTES);
	_cleanup_(profile_unrefp) struct profile *profile = one_stack();
	struct thread_info items[] = { { 13, 'D', "sh", futex } };
	const struct thread_list threads = { items, 1, 1 };
	const struct dump dump = dump_of(profile, &threads);
	(void)state;

	assert_int_equal(dump_append_text(&dump, &out), 0);
	assert_non_null(strstr(strbuf_str(&out), "thread 13 \"sh\": sleeping, uninterruptible\n"
						 "    futex_wait [kernel]\n"
						 "    do_syscall_64 [kernel]\n"
						 "    [no user stack: the thread did not stop in "
						 "time]\n"));
}

static void names_are_printable(void **state)
{
	_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max(PLENTY_BYTES);
	_cleanup_(strbuf_done) struct strbuf json = strbuf_with_max(PLENTY_BYTES);
	_cleanup_(profile_unrefp) struct profile *profile = one_stack();
	struct thread_info items[] = { { 0, 'S', "\x1b[2J\"\n", NULL } };
	const struct thread_list threads = { items, 1, 1 };
	struct dump dump = dump_of(profile, &threads);
	(void)state;

	dump.command_line = "a\x1b]0;x\x07";
	assert_int_equal(dump_append_text(&dump, &text), 0);
	assert_int_equal(dump_append_json(&dump, &json), 0);
	assert_null(strchr(strbuf_str(&text), '\x1b'));
	assert_null(strchr(strbuf_str(&json), '\x1b'));
	assert_non_null(strstr(strbuf_str(&json), "\"name\":\"\\\\x1b[2J\\\"\\\\x0a\""));
}

static void json_has_threads_and_frames(void **state)
{
	_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(PLENTY_BYTES);
	_cleanup_(profile_unrefp) struct profile *profile = one_stack();
	struct thread_info items[] = { { 0, 'S', "sh", futex }, { 13, 'D', "sh", NULL } };
	const struct thread_list threads = { items, 2, 2 };
	const struct dump dump = dump_of(profile, &threads);
	(void)state;

	assert_int_equal(dump_append_json(&dump, &out), 0);
	assert_non_null(strstr(strbuf_str(&out),
			       "\"kernel\":[\"futex_wait\",\"do_syscall_64\"],"
			       "\"stopped\":true,\"stack\":[{\"kind\":\"cpython\","
			       "\"function\":\"run\""));
	assert_non_null(
		strstr(strbuf_str(&out), "\"kernel\":[],\"stopped\":false,\"stack\":[]}]}"));
}

static void too_little_room_is_an_error(void **state)
{
	_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(20);
	_cleanup_(profile_unrefp) struct profile *profile = one_stack();
	struct thread_info items[] = { { 0, 'S', "sh", futex } };
	const struct thread_list threads = { items, 1, 1 };
	const struct dump dump = dump_of(profile, &threads);
	(void)state;

	assert_int_equal(dump_append_text(&dump, &out), -ENOSPC);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_are_shown_innermost_first),
		cmocka_unit_test(a_running_thread_has_no_kernel_stack),
		cmocka_unit_test(a_thread_without_a_sample_is_shown),
		cmocka_unit_test(names_are_printable),
		cmocka_unit_test(json_has_threads_and_frames),
		cmocka_unit_test(too_little_room_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
